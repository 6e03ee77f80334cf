// The libcuda stand-in: what streams and events promise.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/nccl_cpu/gpu.h"

extern "C" CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status,
                                              cuuint64_t* id, CUgraph* graph,
                                              const CUgraphNode** dependencies, size_t* count);

namespace c4::testing {
namespace {

constexpr uint64_t kMs = 1'000'000;

// Runs on a stream's worker; the argument is an atomic to count up.
void CountUp(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

TEST(CudaStreams, RunInOrderApartFromTheHost) {
  Gpu gpu(0);
  std::atomic<int> counter{0};
  const auto stuck = gpu.LaunchStuck(gpu.stream());
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(cuLaunchHostFunc(gpu.stream(), &CountUp, &counter), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuStreamQuery(gpu.stream()), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(counter.load(), 0);
  stuck.Release();
  EXPECT_EQ(cuStreamSynchronize(gpu.stream()), CUDA_SUCCESS);
  EXPECT_EQ(counter.load(), 100);
  EXPECT_EQ(cuStreamQuery(gpu.stream()), CUDA_SUCCESS);
}

TEST(CudaStreams, DestroyLetsPendingWorkFinish) {
  Gpu gpu(0);
  static std::atomic<int> counter{0};
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUevent done = gpu.NewEvent();
  const auto stuck = gpu.LaunchStuck(stream);
  ASSERT_EQ(cuLaunchHostFunc(stream, &CountUp, &counter), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(done, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(done), CUDA_ERROR_NOT_READY);
  stuck.Release();
  EXPECT_EQ(cuEventSynchronize(done), CUDA_SUCCESS);
  EXPECT_EQ(counter.load(), 1);
}

TEST(CudaStreams, WaitForEventsOfOtherStreams) {
  Gpu gpu(0);
  CUstream other = gpu.NewStream();
  std::atomic<int> counter{0};
  const auto stuck = gpu.LaunchStuck(gpu.stream());
  CUevent event = gpu.Record(gpu.stream());
  ASSERT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(other, &CountUp, &counter), CUDA_SUCCESS);
  // A record after the wait does not move the wait.
  const auto stuck_again = gpu.LaunchStuck(gpu.stream());
  ASSERT_EQ(cuEventRecord(event, gpu.stream()), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  stuck.Release();
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(counter.load(), 1);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  stuck_again.Release();
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
}

TEST(CudaStreams, NullStreamOrdersBlockingStreamsOnly) {
  Gpu gpu(0);
  CUstream blocking = gpu.NewStream(CU_STREAM_DEFAULT);
  std::atomic<int> on_null{0};
  std::atomic<int> on_blocking{0};
  const auto stuck = gpu.LaunchStuck(blocking);
  ASSERT_EQ(cuLaunchHostFunc(nullptr, &CountUp, &on_null), CUDA_SUCCESS);
  CUstream late = gpu.NewStream(CU_STREAM_DEFAULT);
  ASSERT_EQ(cuLaunchHostFunc(late, &CountUp, &on_blocking), CUDA_SUCCESS);
  // The non-blocking stream takes no part.
  EXPECT_EQ(cuStreamSynchronize(gpu.stream()), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(late), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(on_null.load() + on_blocking.load(), 0);
  stuck.Release();
  EXPECT_EQ(cuStreamSynchronize(late), CUDA_SUCCESS);
  EXPECT_EQ(on_null.load(), 1);
  EXPECT_EQ(on_blocking.load(), 1);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST(CudaStreams, NeverCapture) {
  Gpu gpu(0);
  auto status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamIsCapturing(gpu.stream(), &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamGetCaptureInfo_v2(gpu.stream(), &status, nullptr, nullptr, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

TEST(CudaEvents, TimeIsWhenTheStreamReachesThem) {
  Gpu gpu(0);
  CUevent first = gpu.Record(gpu.stream());
  gpu.LaunchCompute(gpu.stream(), 20 * kMs);
  CUevent second = gpu.Record(gpu.stream());
  float ms = -1;
  ASSERT_EQ(cuEventSynchronize(second), CUDA_SUCCESS);
  ASSERT_EQ(cuEventElapsedTime(&ms, first, second), CUDA_SUCCESS);
  EXPECT_GE(ms, 20.0F);
  ASSERT_EQ(cuEventElapsedTime(&ms, second, first), CUDA_SUCCESS);
  EXPECT_LE(ms, -20.0F);
}

TEST(CudaEvents, ElapsedTimeErrors) {
  Gpu gpu(0);
  float ms = 0;
  CUevent recorded = gpu.Record(gpu.stream());
  ASSERT_EQ(cuEventSynchronize(recorded), CUDA_SUCCESS);
  CUevent fresh = gpu.NewEvent();
  EXPECT_EQ(cuEventQuery(fresh), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&ms, recorded, fresh), CUDA_ERROR_INVALID_HANDLE);
  CUevent untimed = gpu.NewEvent(CU_EVENT_DISABLE_TIMING);
  ASSERT_EQ(cuEventRecord(untimed, gpu.stream()), CUDA_SUCCESS);
  ASSERT_EQ(cuEventSynchronize(untimed), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&ms, recorded, untimed), CUDA_ERROR_INVALID_HANDLE);
  const auto stuck = gpu.LaunchStuck(gpu.stream());
  CUevent pending = gpu.Record(gpu.stream());
  EXPECT_EQ(cuEventQuery(pending), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventElapsedTime(&ms, recorded, pending), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventRecordWithFlags(pending, gpu.stream(), CU_EVENT_RECORD_EXTERNAL),
            CUDA_ERROR_INVALID_VALUE);
  stuck.Release();
  EXPECT_EQ(cuEventSynchronize(pending), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&ms, recorded, pending), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(nullptr, gpu.stream()), CUDA_ERROR_INVALID_HANDLE);
  CUevent of_device_0 = gpu.NewEvent();
  Gpu elsewhere(1);
  EXPECT_EQ(cuEventRecord(of_device_0, elsewhere.stream()), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace c4::testing
