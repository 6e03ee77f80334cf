// Implementation of gpu.h.
#include "tests/unit/nccl_cpu/gpu.h"

#include <atomic>

namespace c4::testing {
namespace {

// Declares what the native kernels are bound to; a real driver would need their bodies.
constexpr char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry c4_compute(.param .u64 duration_ns) { ret; }\n"
    ".visible .entry c4_fill(.param .u64 p, .param .f32 value, .param .u64 n) { ret; }\n"
    ".visible .entry c4_scale(.param .u64 p, .param .f32 factor, .param .u64 n) { ret; }\n"
    ".visible .entry c4_stuck(.param .u64 flag) { ret; }\n"
    ".visible .entry not_a_native_kernel() { ret; }\n";

}  // namespace

void UseDevice(int ordinal) {
  CUcontext context = nullptr;
  C4_CHECK(cuInit(0) == CUDA_SUCCESS);
  C4_CHECK(cuDevicePrimaryCtxRetain(&context, ordinal) == CUDA_SUCCESS);
  C4_CHECK(cuCtxSetCurrent(context) == CUDA_SUCCESS);
}

Gpu::Gpu(int device) {
  UseDevice(device);
  C4_CHECK(cuModuleLoadData(&module_, kPtx) == CUDA_SUCCESS);
  stream_ = NewStream();
}

Gpu::Gpu(Rank& rank) : Gpu(rank.rank()) {
  C4_CHECK(ncclCommInitRank(&comm_, rank.nranks(), rank.UniqueId(), rank.rank()) == ncclSuccess);
}

Gpu::~Gpu() {
  if (comm_ != nullptr) C4_CHECK(ncclCommDestroy(comm_) == ncclSuccess);
  C4_CHECK(cuModuleUnload(module_) == CUDA_SUCCESS);
  for (CUevent event : events_) C4_CHECK(cuEventDestroy(event) == CUDA_SUCCESS);
  for (CUstream stream : streams_) C4_CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
}

CUstream Gpu::NewStream(unsigned flags) {
  CUstream stream = nullptr;
  C4_CHECK(cuStreamCreate(&stream, flags) == CUDA_SUCCESS);
  streams_.push_back(stream);
  return stream;
}

CUevent Gpu::NewEvent(unsigned flags) {
  CUevent event = nullptr;
  C4_CHECK(cuEventCreate(&event, flags) == CUDA_SUCCESS);
  events_.push_back(event);
  return event;
}

CUevent Gpu::Record(CUstream stream) {
  CUevent event = NewEvent();
  C4_CHECK(cuEventRecord(event, stream) == CUDA_SUCCESS);
  return event;
}

Gpu::Buffer Gpu::Allocate(size_t bytes) {
  if (bytes == 0) return {};
  CUdeviceptr pointer = 0;
  C4_CHECK(cuMemAlloc(&pointer, bytes) == CUDA_SUCCESS);
  auto* memory = reinterpret_cast<char*>(static_cast<uintptr_t>(pointer));
  return {std::shared_ptr<char>(memory, [](char* p) { cuMemFree(reinterpret_cast<uintptr_t>(p)); }),
          bytes};
}

Gpu::Buffer Gpu::Upload(const Bytes& bytes) {
  Buffer buffer = Allocate(bytes.size());
  C4_CHECK(cuMemcpyHtoDAsync(buffer.device(), bytes.data(), bytes.size(), stream_) == CUDA_SUCCESS);
  return buffer;
}

Bytes Gpu::Download(const Buffer& buffer) {
  Bytes bytes(buffer.bytes);
  C4_CHECK(cuMemcpyDtoHAsync(bytes.data(), buffer.device(), buffer.bytes, stream_) == CUDA_SUCCESS);
  C4_CHECK(cuStreamSynchronize(stream_) == CUDA_SUCCESS);
  return bytes;
}

void Gpu::Fill(const Buffer& buffer, char value) {
  C4_CHECK(cuMemsetD8Async(buffer.device(), static_cast<unsigned char>(value), buffer.bytes,
                           stream_) == CUDA_SUCCESS);
}

void Gpu::CopyOnStream(char* destination, const char* source, size_t bytes) {
  C4_CHECK(cuMemcpyDtoDAsync(reinterpret_cast<uintptr_t>(destination),
                             reinterpret_cast<uintptr_t>(source), bytes, stream_) == CUDA_SUCCESS);
}

CUfunction Gpu::Kernel(const char* name) {
  CUfunction function = nullptr;
  C4_CHECK(cuModuleGetFunction(&function, module_, name) == CUDA_SUCCESS);
  return function;
}

void Gpu::LaunchCompute(CUstream stream, uint64_t duration_ns) {
  void* parameters[] = {&duration_ns};
  C4_CHECK(cuLaunchKernel(Kernel("c4_compute"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr) ==
           CUDA_SUCCESS);
}

Gpu::Stuck Gpu::LaunchStuck(CUstream stream) {
  void* memory = nullptr;
  C4_CHECK(cuMemHostAlloc(&memory, sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS);
  Stuck stuck{static_cast<uint32_t*>(memory)};
  *stuck.flag = 0;
  CUdeviceptr flag = 0;
  C4_CHECK(cuMemHostGetDevicePointer(&flag, memory, 0) == CUDA_SUCCESS);
  void* parameters[] = {&flag};
  C4_CHECK(cuLaunchKernel(Kernel("c4_stuck"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr) ==
           CUDA_SUCCESS);
  return stuck;
}

void Gpu::Stuck::Release() const { std::atomic_ref(*flag).store(1, std::memory_order_release); }

}  // namespace c4::testing
