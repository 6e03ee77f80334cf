// Implementation of gpu.h.
#include "tests/train/gpu.h"

#include <algorithm>

#include "tests/train/check.h"
#include "tests/train/kernels.h"

namespace c4::train {
namespace {

// Arrays of a few hundred KiB: more blocks than this only cost launch time.
constexpr size_t kBlocksMax = 64;
constexpr unsigned kThreadsPerBlock = 256;

CUfunction FunctionOf(CUmodule module, const char* name) {
  CUfunction function = nullptr;
  C4_TRAIN_CUDA(cuModuleGetFunction(&function, module, name));
  return function;
}

void Launch(CUfunction function, unsigned blocks, unsigned threads, CUstream stream,
            void** parameters) {
  C4_TRAIN_CUDA(
      cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr));
}

void LaunchOver(CUfunction function, size_t count, CUstream stream, void** parameters) {
  const size_t blocks = (count + kThreadsPerBlock - 1) / kThreadsPerBlock;
  Launch(function, static_cast<unsigned>(std::clamp(blocks, size_t{1}, kBlocksMax)),
         kThreadsPerBlock, stream, parameters);
}

CUdeviceptr AddressOf(const float* values) { return reinterpret_cast<CUdeviceptr>(values); }

}  // namespace

Gpu::Gpu(int ordinal) {
  C4_TRAIN_CUDA(cuInit(0));
  int count = 0;
  C4_TRAIN_CUDA(cuDeviceGetCount(&count));
  CUdevice device = 0;
  C4_TRAIN_CUDA(cuDeviceGet(&device, count == 1 ? 0 : ordinal));
  C4_TRAIN_CUDA(cuDevicePrimaryCtxRetain(&context_, device));
  UseOnThisThread();

  CUmodule module = nullptr;
  C4_TRAIN_CUDA(cuModuleLoadData(&module, kKernelsPtx));
  compute_ = FunctionOf(module, kComputeKernel);
  fill_ = FunctionOf(module, kFillKernel);
  scale_ = FunctionOf(module, kScaleKernel);
  stuck_ = FunctionOf(module, kStuckKernel);
  C4_TRAIN_CUDA(cuMemAlloc(&never_set_flag_, sizeof(uint32_t)));
  C4_TRAIN_CUDA(cuMemsetD32(never_set_flag_, 0, 1));
}

void Gpu::UseOnThisThread() const { C4_TRAIN_CUDA(cuCtxSetCurrent(context_)); }

CUstream Gpu::NewStream() const {
  CUstream stream = nullptr;
  C4_TRAIN_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

CUevent Gpu::NewEvent() const {
  CUevent event = nullptr;
  C4_TRAIN_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  return event;
}

CUevent Gpu::NewBlockingEvent() const {
  CUevent event = nullptr;
  C4_TRAIN_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
  return event;
}

float* Gpu::NewFloats(size_t count) const {
  CUdeviceptr pointer = 0;
  C4_TRAIN_CUDA(cuMemAlloc(&pointer, count * sizeof(float)));
  return reinterpret_cast<float*>(pointer);
}

float* Gpu::NewPinnedFloats(size_t count) const {
  void* pointer = nullptr;
  C4_TRAIN_CUDA(cuMemHostAlloc(&pointer, count * sizeof(float), 0));
  return static_cast<float*>(pointer);
}

void Gpu::Compute(CUstream stream, int64_t duration_ns) const {
  auto duration = static_cast<uint64_t>(std::max<int64_t>(duration_ns, 0));
  void* parameters[] = {&duration};
  Launch(compute_, 1, 1, stream, parameters);
}

void Gpu::Fill(CUstream stream, float* values, float value, size_t count) const {
  uint64_t count64 = count;
  void* parameters[] = {&values, &value, &count64};
  LaunchOver(fill_, count, stream, parameters);
}

void Gpu::Scale(CUstream stream, float* values, float factor, size_t count) const {
  uint64_t count64 = count;
  void* parameters[] = {&values, &factor, &count64};
  LaunchOver(scale_, count, stream, parameters);
}

void Gpu::Stick(CUstream stream) const {
  CUdeviceptr flag = never_set_flag_;
  void* parameters[] = {&flag};
  Launch(stuck_, 1, 1, stream, parameters);
}

void Gpu::CopyToHost(CUstream stream, float* pinned, const float* values, size_t count) const {
  C4_TRAIN_CUDA(cuMemcpyDtoHAsync(pinned, AddressOf(values), count * sizeof(float), stream));
}

void Order(CUevent event, CUstream stream, CUstream after) {
  C4_TRAIN_CUDA(cuEventRecord(event, stream));
  C4_TRAIN_CUDA(cuStreamWaitEvent(after, event, 0));
}

}  // namespace c4::train
