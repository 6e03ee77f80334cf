// Allocation entry points; the contract is in memory.h. As on a real device, freeing waits for the
// work of the context that allocated, so that no task touches freed memory.
#include "tests/nccl_cpu/cuda/memory.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "tests/nccl_cpu/cuda/context.h"

namespace c4::cuda_cpu {
namespace {

constexpr size_t kAlignment = 512;  // what cuMemAlloc gives in practice
constexpr size_t kDeviceMemory = size_t{80} << 30;

struct Allocation {
  size_t bytes;
  bool on_device;
  CUcontext context;
};

struct Table {
  std::mutex mutex;
  std::map<uintptr_t, Allocation> by_address;
  size_t device_bytes = 0;
};

// Leaked on purpose: stream workers may still run while the process exits.
Table& TheTable() {
  static Table& table = *new Table;
  return table;
}

CUresult Allocate(size_t bytes, bool on_device, void** pointer) {
  CUcontext context;
  const CUresult result = RequireContext(&context);
  if (result != CUDA_SUCCESS) return result;
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Table& table = TheTable();
  std::lock_guard lock(table.mutex);
  if (on_device && (bytes > kDeviceMemory || table.device_bytes > kDeviceMemory - bytes)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  *pointer = std::aligned_alloc(kAlignment, rounded);
  if (*pointer == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  table.by_address[reinterpret_cast<uintptr_t>(*pointer)] = {bytes, on_device, context};
  if (on_device) table.device_bytes += bytes;
  return CUDA_SUCCESS;
}

CUresult Release(void* pointer, bool on_device) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (pointer == nullptr) return CUDA_SUCCESS;
  Table& table = TheTable();
  CUcontext context;
  {
    std::lock_guard lock(table.mutex);
    const auto found = table.by_address.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == table.by_address.end() || found->second.on_device != on_device) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    context = found->second.context;
    if (on_device) table.device_bytes -= found->second.bytes;
    table.by_address.erase(found);
  }
  context->Synchronize();
  std::free(pointer);
  return CUDA_SUCCESS;
}

}  // namespace

bool IsDeviceAccessible(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Table& table = TheTable();
  std::lock_guard lock(table.mutex);
  auto after = table.by_address.upper_bound(address);
  if (after == table.by_address.begin()) return false;
  --after;
  return address < after->first + after->second.bytes;
}

}  // namespace c4::cuda_cpu

using c4::cuda_cpu::Allocate;
using c4::cuda_cpu::Release;
using c4::cuda_cpu::ToPointer;

C4_CUDA_API CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  void* memory = nullptr;
  const CUresult result = Allocate(bytes, /*on_device=*/true, &memory);
  if (result == CUDA_SUCCESS) *pointer = reinterpret_cast<uintptr_t>(memory);
  return result;
}

C4_CUDA_API CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return Release(ToPointer(pointer), /*on_device=*/true);
}

C4_CUDA_API CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return Allocate(bytes, /*on_device=*/false, pointer);
}

C4_CUDA_API CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int) {
  return Allocate(bytes, /*on_device=*/false, pointer);
}

C4_CUDA_API CUresult cuMemFreeHost(void* pointer) { return Release(pointer, /*on_device=*/false); }

C4_CUDA_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned int) {
  if (device == nullptr || !c4::cuda_cpu::IsDeviceAccessible(host)) return CUDA_ERROR_INVALID_VALUE;
  *device = reinterpret_cast<uintptr_t>(host);
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  CUcontext context;
  const CUresult result = c4::cuda_cpu::RequireContext(&context);
  if (result != CUDA_SUCCESS) return result;
  auto& table = c4::cuda_cpu::TheTable();
  std::lock_guard lock(table.mutex);
  *free_bytes = c4::cuda_cpu::kDeviceMemory - table.device_bytes;
  *total_bytes = c4::cuda_cpu::kDeviceMemory;
  return CUDA_SUCCESS;
}
