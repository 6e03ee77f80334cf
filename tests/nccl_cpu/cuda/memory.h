// Device and pinned host memory: both are ordinary host memory here, but the library remembers
// which is which, because copies from and to pageable memory have other rules (see copy.cc).
// Thread: any; one lock guards the table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace c4::cuda_cpu {

// Whether the address lies in memory from cuMemAllocHost/cuMemHostAlloc or cuMemAlloc.
bool IsDeviceAccessible(const void* pointer);

inline void* ToPointer(unsigned long long device_pointer) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(device_pointer));
}

}  // namespace c4::cuda_cpu
