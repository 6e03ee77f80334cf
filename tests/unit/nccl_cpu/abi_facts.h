// What a program compiled against these declarations relies on. Included after either our headers
// or the real ones: the same facts must hold for both.
#pragma once

#include <cstddef>
#include <type_traits>

#define C4_VALUE(name, value) static_assert(static_cast<long long>(name) == (value), #name)
#define C4_FIELD(type, field, offset) static_assert(offsetof(type, field) == (offset), #field)
#define C4_SIGNATURE(function, ...) \
  static_assert(std::is_same_v<decltype(function), __VA_ARGS__>, #function)

// Some real headers spell `CUDA_CB` and friends; on Linux all are plain.
using C4HostFunction = void (*)(void*);

C4_VALUE(sizeof(CUdeviceptr), 8);
C4_VALUE(sizeof(CUdevice), 4);
C4_VALUE(sizeof(CUuuid), 16);
C4_VALUE(sizeof(CUresult), 4);
C4_VALUE(CUDA_ERROR_INVALID_VALUE, 1);
C4_VALUE(CUDA_ERROR_OUT_OF_MEMORY, 2);
C4_VALUE(CUDA_ERROR_NOT_INITIALIZED, 3);
C4_VALUE(CUDA_ERROR_DEINITIALIZED, 4);
C4_VALUE(CUDA_ERROR_STUB_LIBRARY, 34);
C4_VALUE(CUDA_ERROR_NO_DEVICE, 100);
C4_VALUE(CUDA_ERROR_INVALID_DEVICE, 101);
C4_VALUE(CUDA_ERROR_INVALID_IMAGE, 200);
C4_VALUE(CUDA_ERROR_INVALID_CONTEXT, 201);
C4_VALUE(CUDA_ERROR_NO_BINARY_FOR_GPU, 209);
C4_VALUE(CUDA_ERROR_INVALID_PTX, 218);
C4_VALUE(CUDA_ERROR_INVALID_HANDLE, 400);
C4_VALUE(CUDA_ERROR_NOT_FOUND, 500);
C4_VALUE(CUDA_ERROR_NOT_READY, 600);
C4_VALUE(CUDA_ERROR_ILLEGAL_ADDRESS, 700);
C4_VALUE(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709);
C4_VALUE(CUDA_ERROR_LAUNCH_FAILED, 719);
C4_VALUE(CUDA_ERROR_NOT_SUPPORTED, 801);
C4_VALUE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906);
C4_VALUE(CUDA_ERROR_CAPTURED_EVENT, 907);
C4_VALUE(CUDA_ERROR_UNKNOWN, 999);
C4_VALUE(CU_STREAM_NON_BLOCKING, 1);
C4_VALUE(CU_EVENT_BLOCKING_SYNC, 1);
C4_VALUE(CU_EVENT_DISABLE_TIMING, 2);
C4_VALUE(CU_EVENT_INTERPROCESS, 4);
C4_VALUE(CU_EVENT_RECORD_EXTERNAL, 1);
C4_VALUE(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1);
C4_VALUE(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2);
C4_VALUE(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1);
C4_VALUE(CU_STREAM_CAPTURE_MODE_RELAXED, 2);
C4_VALUE(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1);
C4_VALUE(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2);
C4_VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1);
C4_VALUE(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10);
C4_VALUE(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13);
C4_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16);
C4_VALUE(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19);
C4_VALUE(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33);
C4_VALUE(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34);
C4_VALUE(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40);
C4_VALUE(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41);
C4_VALUE(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50);
C4_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75);
C4_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76);
C4_VALUE(CU_MEMHOSTALLOC_PORTABLE, 1);
C4_VALUE(CU_MEMHOSTALLOC_DEVICEMAP, 2);

C4_SIGNATURE(cuInit, CUresult(unsigned));
C4_SIGNATURE(cuDriverGetVersion, CUresult(int*));
C4_SIGNATURE(cuGetErrorName, CUresult(CUresult, const char**));
C4_SIGNATURE(cuGetProcAddress,
             CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*));
C4_SIGNATURE(cuDeviceGetUuid, CUresult(CUuuid*, CUdevice));
C4_SIGNATURE(cuDeviceGetPCIBusId, CUresult(char*, int, CUdevice));
C4_SIGNATURE(cuDeviceGetAttribute, CUresult(int*, CUdevice_attribute, CUdevice));
C4_SIGNATURE(cuDeviceTotalMem, CUresult(size_t*, CUdevice));
C4_SIGNATURE(cuDevicePrimaryCtxRetain, CUresult(CUcontext*, CUdevice));
C4_SIGNATURE(cuDevicePrimaryCtxRelease, CUresult(CUdevice));
C4_SIGNATURE(cuCtxSetCurrent, CUresult(CUcontext));
C4_SIGNATURE(cuCtxGetCurrent, CUresult(CUcontext*));
C4_SIGNATURE(cuCtxGetDevice, CUresult(CUdevice*));
C4_SIGNATURE(cuCtxPushCurrent, CUresult(CUcontext));
C4_SIGNATURE(cuCtxPopCurrent, CUresult(CUcontext*));
C4_SIGNATURE(cuCtxSynchronize, CUresult());
C4_SIGNATURE(cuStreamCreate, CUresult(CUstream*, unsigned));
C4_SIGNATURE(cuStreamCreateWithPriority, CUresult(CUstream*, unsigned, int));
C4_SIGNATURE(cuStreamDestroy, CUresult(CUstream));
C4_SIGNATURE(cuStreamQuery, CUresult(CUstream));
C4_SIGNATURE(cuStreamWaitEvent, CUresult(CUstream, CUevent, unsigned));
C4_SIGNATURE(cuStreamGetCtx, CUresult(CUstream, CUcontext*));
C4_SIGNATURE(cuStreamIsCapturing, CUresult(CUstream, CUstreamCaptureStatus*));
C4_SIGNATURE(cuThreadExchangeStreamCaptureMode, CUresult(CUstreamCaptureMode*));
C4_SIGNATURE(cuLaunchHostFunc, CUresult(CUstream, C4HostFunction, void*));
C4_SIGNATURE(cuEventCreate, CUresult(CUevent*, unsigned));
C4_SIGNATURE(cuEventRecord, CUresult(CUevent, CUstream));
C4_SIGNATURE(cuEventRecordWithFlags, CUresult(CUevent, CUstream, unsigned));
C4_SIGNATURE(cuEventElapsedTime, CUresult(float*, CUevent, CUevent));
C4_SIGNATURE(cuEventDestroy, CUresult(CUevent));
C4_SIGNATURE(cuMemGetInfo, CUresult(size_t*, size_t*));
C4_SIGNATURE(cuMemAlloc, CUresult(CUdeviceptr*, size_t));
C4_SIGNATURE(cuMemFree, CUresult(CUdeviceptr));
C4_SIGNATURE(cuMemHostAlloc, CUresult(void**, size_t, unsigned));
C4_SIGNATURE(cuMemHostGetDevicePointer, CUresult(CUdeviceptr*, void*, unsigned));
C4_SIGNATURE(cuMemcpyHtoD, CUresult(CUdeviceptr, const void*, size_t));
C4_SIGNATURE(cuMemcpyDtoHAsync, CUresult(void*, CUdeviceptr, size_t, CUstream));
C4_SIGNATURE(cuMemcpyAsync, CUresult(CUdeviceptr, CUdeviceptr, size_t, CUstream));
C4_SIGNATURE(cuMemsetD8Async, CUresult(CUdeviceptr, unsigned char, size_t, CUstream));
C4_SIGNATURE(cuMemsetD32Async, CUresult(CUdeviceptr, unsigned, size_t, CUstream));
C4_SIGNATURE(cuModuleLoadData, CUresult(CUmodule*, const void*));
C4_SIGNATURE(cuModuleGetFunction, CUresult(CUfunction*, CUmodule, const char*));
C4_SIGNATURE(cuLaunchKernel, CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                      unsigned, unsigned, CUstream, void**, void**));
