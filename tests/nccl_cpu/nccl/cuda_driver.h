// The driver functions NCCL needs, found like NCCL finds them: by dlopen("libcuda.so.1"). Only
// public entry points: this libnccl and its libcuda know nothing else of each other. Thread: any;
// loaded once.
#pragma once

#include "tests/nccl_cpu/include/c4_cuda_abi.h"

namespace c4::nccl_cpu {

struct CudaDriver {
  decltype(&cuInit) init;
  decltype(&cuCtxGetCurrent) ctx_get_current;
  decltype(&cuCtxSetCurrent) ctx_set_current;
  decltype(&cuCtxGetDevice) ctx_get_device;
  decltype(&cuDeviceGetPCIBusId) device_get_pci_bus_id;
  decltype(&cuDevicePrimaryCtxRetain) primary_ctx_retain;
  decltype(&cuLaunchHostFunc) launch_host_func;
  decltype(&cuMemAlloc) mem_alloc;
  decltype(&cuMemFree) mem_free;

  // Null when there is no libcuda.so.1 or it lacks a function.
  static const CudaDriver* Get();
};

// The calling thread's device, as the CUDA runtime would say: device 0 becomes current where the
// thread has no context yet. False when there is no driver or no device.
bool CurrentDevice(int* device);

}  // namespace c4::nccl_cpu
