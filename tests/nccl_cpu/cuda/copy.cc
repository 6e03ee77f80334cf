// Copies and fills. Rules kept from CUDA: the synchronous forms run on the NULL stream; an async
// copy from pageable memory leaves the source free for reuse at return (it is staged), and an async
// copy to pageable memory returns only when it is done.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "tests/nccl_cpu/cuda/context.h"
#include "tests/nccl_cpu/cuda/memory.h"

namespace c4::cuda_cpu {
namespace {

// Empty copies may come with null pointers, which memmove() forbids.
void Copy(void* destination, const void* source, size_t bytes) {
  if (bytes > 0) std::memmove(destination, source, bytes);
}

CUresult CopyLater(CUstream stream, void* destination, const void* source, size_t bytes) {
  return EnqueueOn(stream, [=] { Copy(destination, source, bytes); });
}

CUresult CopyNow(void* destination, const void* source, size_t bytes) {
  return RunOn(nullptr, [=] { Copy(destination, source, bytes); });
}

// Word stores are atomic because c4_stuck may watch the word from another stream's thread.
void FillWords(void* destination, unsigned int value, size_t count) {
  auto* words = static_cast<unsigned int*>(destination);
  for (size_t i = 0; i < count; ++i) {
    std::atomic_ref(words[i]).store(value, std::memory_order_relaxed);
  }
}

}  // namespace
}  // namespace c4::cuda_cpu

using c4::cuda_cpu::CopyLater;
using c4::cuda_cpu::CopyNow;
using c4::cuda_cpu::ToPointer;

C4_CUDA_API CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return CopyNow(ToPointer(destination), source, bytes);
}

C4_CUDA_API CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return CopyNow(destination, ToPointer(source), bytes);
}

C4_CUDA_API CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return CopyNow(ToPointer(destination), ToPointer(source), bytes);
}

C4_CUDA_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, size_t bytes,
                                          CUstream stream) {
  if (c4::cuda_cpu::IsDeviceAccessible(source)) {
    return CopyLater(stream, ToPointer(destination), source, bytes);
  }
  const auto* begin = static_cast<const char*>(source);
  std::vector<char> staged(begin, begin + bytes);
  return c4::cuda_cpu::EnqueueOn(stream, [destination, staged = std::move(staged)] {
    c4::cuda_cpu::Copy(ToPointer(destination), staged.data(), staged.size());
  });
}

C4_CUDA_API CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes,
                                          CUstream stream) {
  if (c4::cuda_cpu::IsDeviceAccessible(destination)) {
    return CopyLater(stream, destination, ToPointer(source), bytes);
  }
  return c4::cuda_cpu::RunOn(stream,
                             [=] { c4::cuda_cpu::Copy(destination, ToPointer(source), bytes); });
}

C4_CUDA_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                          CUstream stream) {
  return CopyLater(stream, ToPointer(destination), ToPointer(source), bytes);
}

C4_CUDA_API CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                   CUstream stream) {
  return CopyLater(stream, ToPointer(destination), ToPointer(source), bytes);
}

C4_CUDA_API CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count,
                                     CUstream stream) {
  return c4::cuda_cpu::EnqueueOn(stream, [=] {
    std::fill_n(static_cast<unsigned char*>(ToPointer(destination)), count, value);
  });
}

C4_CUDA_API CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t count,
                                      CUstream stream) {
  if (destination % sizeof(value) != 0) return CUDA_ERROR_INVALID_VALUE;
  return c4::cuda_cpu::EnqueueOn(
      stream, [=] { c4::cuda_cpu::FillWords(ToPointer(destination), value, count); });
}

C4_CUDA_API CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) {
  return cuMemsetD8Async(destination, value, count, nullptr);
}

C4_CUDA_API CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t count) {
  return cuMemsetD32Async(destination, value, count, nullptr);
}
