// The libcuda stand-in: devices, contexts, memory, kernels, error codes, and its environment.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "tests/unit/nccl_cpu/gpu.h"

extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);

namespace c4::testing {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(CudaDevices, AreDistinctAndStable) {
  UseDevice(0);
  int count = 0;
  ASSERT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  ASSERT_EQ(count, 8);
  std::set<std::string> uuids;
  std::set<std::string> buses;
  for (int i = 0; i < count; ++i) {
    CUdevice device = -1;
    CUuuid uuid;
    char bus[16];
    ASSERT_EQ(cuDeviceGet(&device, i), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGetUuid(&uuid, device), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGetPCIBusId(bus, sizeof(bus), device), CUDA_SUCCESS);
    uuids.insert(std::string(uuid.bytes, sizeof(uuid.bytes)));
    buses.insert(bus);
    int bus_number = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&bus_number, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device),
              CUDA_SUCCESS);
    EXPECT_EQ(std::stoi(std::string(bus).substr(5, 2), nullptr, 16), bus_number);
  }
  EXPECT_EQ(uuids.size(), 8u);
  EXPECT_EQ(buses.size(), 8u);
  CUdevice none = 0;
  EXPECT_EQ(cuDeviceGet(&none, count), CUDA_ERROR_INVALID_DEVICE);
}

TEST(CudaContexts, StackIsPerThread) {
  UseDevice(1);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  std::thread([] {
    CUcontext current = nullptr;
    CUdevice none = -1;
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(cuCtxGetDevice(&none), CUDA_ERROR_INVALID_CONTEXT);
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  CUcontext primary = nullptr;
  CUcontext popped = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 2);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, primary);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(2), CUDA_SUCCESS);
}

TEST(CudaContexts, DestroyedContextRefusesWork) {
  UseDevice(0);
  CUcontext own = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&own, 0, 3), CUDA_SUCCESS);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(own), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST(CudaMemory, PageableSourcesMayBeReusedAtOnce) {
  Gpu gpu(0);
  const auto buffer = gpu.Allocate(4);
  Bytes source = {1, 2, 3, 4};
  const auto stuck = gpu.LaunchStuck(gpu.stream());
  ASSERT_EQ(cuMemcpyHtoDAsync(buffer.device(), source.data(), 4, gpu.stream()), CUDA_SUCCESS);
  source.assign(4, 0);
  stuck.Release();
  EXPECT_EQ(gpu.Download(buffer), (Bytes{1, 2, 3, 4}));
}

TEST(CudaMemory, CopiesAndFills) {
  Gpu gpu(0);
  const auto a = gpu.Allocate(8);
  const auto b = gpu.Allocate(8);
  ASSERT_EQ(cuMemsetD32(a.device(), 0x01020304, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoD(b.device(), a.device(), 8), CUDA_SUCCESS);
  Bytes bytes(8);
  ASSERT_EQ(cuMemcpyDtoH(bytes.data(), b.device(), 8), CUDA_SUCCESS);
  EXPECT_EQ(bytes, (Bytes{4, 3, 2, 1, 4, 3, 2, 1}));
  gpu.Fill(b, 7);
  ASSERT_EQ(cuMemcpyAsync(a.device(), b.device(), 8, gpu.stream()), CUDA_SUCCESS);
  EXPECT_EQ(gpu.Download(a), Bytes(8, 7));
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT_EQ(cuMemGetInfo(&free_bytes, &total_bytes), CUDA_SUCCESS);
  EXPECT_EQ(total_bytes - free_bytes, 16u);
  EXPECT_EQ(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr pointer = 0;
  EXPECT_EQ(cuMemAlloc(&pointer, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(CudaKernels, FillAndScale) {
  Gpu gpu(0);
  const auto buffer = gpu.Allocate(3 * sizeof(float));
  CUdeviceptr pointer = buffer.device();
  float value = 1.5F;
  float factor = -2;
  uint64_t count = 3;
  void* fill[] = {&pointer, &value, &count};
  void* scale[] = {&pointer, &factor, &count};
  ASSERT_EQ(
      cuLaunchKernel(gpu.Kernel("c4_fill"), 1, 1, 1, 32, 1, 1, 0, gpu.stream(), fill, nullptr),
      CUDA_SUCCESS);
  ASSERT_EQ(
      cuLaunchKernel(gpu.Kernel("c4_scale"), 1, 1, 1, 32, 1, 1, 0, gpu.stream(), scale, nullptr),
      CUDA_SUCCESS);
  // Parameters are read at the launch.
  factor = 100;
  float result[3];
  std::memcpy(result, gpu.Download(buffer).data(), sizeof(result));
  for (const float each : result) EXPECT_EQ(each, -3.0F);
}

TEST(CudaKernels, UnknownNamesAreNotFound) {
  UseDevice(0);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ".version 7.0 .entry c4_compute () {} .entry other () {}"),
            CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "c4_compute"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "other"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "c4_fill"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoadData(&module, "\177ELF"), CUDA_ERROR_INVALID_IMAGE);
}

TEST(CudaErrors, HaveNames) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_NOT_READY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_NOT_READY");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_NOT_READY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "device not ready");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
}

TEST(CudaProcAddress, FindsVersionsAndReportsAbsence) {
  UseDevice(0);
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &found, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
  EXPECT_EQ(cuGetProcAddress("cuStreamGetCaptureInfo", &found, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, dlsym(RTLD_DEFAULT, "cuStreamGetCaptureInfo_v2"));
  EXPECT_EQ(cuGetProcAddress("cuStreamGetCaptureInfo", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, dlsym(RTLD_DEFAULT, "cuStreamGetCaptureInfo_v3"));
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

// In processes of their own, because the library reads the environment once.

C4_SCENARIO(UninitialisedCallsFail) {
  static_cast<void>(rank);
  int count = 0;
  CUcontext context = nullptr;
  C4_CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  C4_CHECK(cuCtxGetCurrent(&context) == CUDA_ERROR_NOT_INITIALIZED);
  C4_CHECK(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
}

C4_SCENARIO(OneVisibleDevice) {
  UseDevice(0);
  int count = 0;
  C4_CHECK(cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 1);
  int bus = 0;
  C4_CHECK(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0) == CUDA_SUCCESS);
  C4_CHECK(bus == (rank.rank() == 0 ? 0x43 : 0x52));  // those of physical devices 1 and 2
  // The UUID also depends on the node.
  CUuuid uuid;
  C4_CHECK(cuDeviceGetUuid(&uuid, 0) == CUDA_SUCCESS);
  int64_t half = 0;
  std::memcpy(&half, uuid.bytes, sizeof(half));
  rank.Store(rank.rank(), half);
  rank.Barrier();
  C4_CHECK(rank.Load(0) != rank.Load(1));
}

C4_SCENARIO(ExitWithStuckStreams) {
  static auto& gpu = *new Gpu(rank.rank());
  gpu.LaunchStuck(gpu.stream());
  gpu.LaunchCompute(nullptr, 3600 * 1000 * kMs);
  C4_CHECK(cuStreamQuery(gpu.stream()) == CUDA_ERROR_NOT_READY);
}

C4_SCENARIO(SecondKernelIsStuck) {
  static auto& gpu = *new Gpu(rank.rank());
  gpu.LaunchCompute(gpu.stream(), 1);
  C4_CHECK(cuStreamSynchronize(gpu.stream()) == CUDA_SUCCESS);
  gpu.LaunchCompute(gpu.stream(), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  C4_CHECK(cuStreamQuery(gpu.stream()) == CUDA_ERROR_NOT_READY);
}

C4_SCENARIO(KernelsAreSlow) {
  Gpu gpu(rank.rank());
  CUevent start = gpu.Record(gpu.stream());
  gpu.LaunchCompute(gpu.stream(), 10 * kMs);
  CUevent end = gpu.Record(gpu.stream());
  C4_CHECK(cuEventSynchronize(end) == CUDA_SUCCESS);
  float ms = 0;
  C4_CHECK(cuEventElapsedTime(&ms, start, end) == CUDA_SUCCESS);
  C4_CHECK(ms >= 40);
}

TEST(CudaProcess, UninitialisedCallsFail) { EXPECT_TRUE(RunRanks("UninitialisedCallsFail", 1)); }
TEST(CudaProcess, VisibleDevices) {
  EXPECT_TRUE(RunRanks("OneVisibleDevice", 2, [](int rank) -> Environment {
    return {{"CUDA_VISIBLE_DEVICES", rank == 0 ? "1,99,2" : "2"},
            {"C4_CPU_NODE", "node" + std::to_string(rank)}};
  }));
}
TEST(CudaProcess, ExitsWithStuckStreams) { EXPECT_TRUE(RunRanks("ExitWithStuckStreams", 1)); }
TEST(CudaProcess, StuckKernelFault) {
  EXPECT_TRUE(RunRanks("SecondKernelIsStuck", 1, [](int) -> Environment {
    return {{"C4_CPU_FAULT", "stuck-kernel:after=1"}};
  }));
}
TEST(CudaProcess, SlowKernelFault) {
  EXPECT_TRUE(RunRanks("KernelsAreSlow", 1, [](int) -> Environment {
    return {{"C4_CPU_FAULT", "slow-kernel:percent=300"}};
  }));
}

}  // namespace
}  // namespace c4::testing
