// Writes into the header which GPU this process drives: driver version, ordinal, UUID and PCI
// address of the calling thread's current device. Communicator init only.
#pragma once

#include "common/abi/file_header.h"
#include "nccl_hook/timing/driver.h"

namespace c4::hook {

void FillDeviceIdentity(const Driver& driver, abi::Header* header);

// "GPU-" and the 16 bytes in the grouping of nvidia-smi. `text` holds kUuidTextBytes.
inline constexpr int kUuidTextBytes = 4 + 36 + 1;
void FormatUuid(const cuda::Uuid& uuid, char* text);

// "0000:1B:00.0" or "00000000:1B:00.0", as CUDA and NVML write it, to sysfs's "0000:1b:00.0".
void NormalisePciAddress(char* text);

}  // namespace c4::hook
