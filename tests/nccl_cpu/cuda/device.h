// The devices this process sees: how many, and what tells them apart.
//
// C4_CPU_DEVICES (default 8) physical devices per node, filtered and renumbered by
// CUDA_VISIBLE_DEVICES (ordinals or GPU-<uuid>, up to the first entry that names none). The UUID
// depends on node and physical ordinal; the PCI address on the ordinal alone, as on real machines
// of one model: whoever takes it for unique across nodes is wrong there too. Thread: read-only
// after cuInit().
#pragma once

#include <string>
#include <vector>

#include "tests/nccl_cpu/cuda/driver.h"

namespace c4::cuda_cpu {

struct Device {
  int physical_ordinal;
  CUuuid uuid;
  int pci_bus;
  CUcontext primary_context;
};

bool IsDevice(CUdevice device);
const Device& GetDevice(CUdevice device);  // requires IsDevice(device)

}  // namespace c4::cuda_cpu
