// Implementation of cuda_driver.h.
#include "tests/nccl_cpu/nccl/cuda_driver.h"

#include <dlfcn.h>

namespace c4::nccl_cpu {
namespace {

template <typename Function>
bool Load(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool LoadAll(CudaDriver* driver) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && Load(library, "cuInit", &driver->init) &&
         Load(library, "cuCtxGetCurrent", &driver->ctx_get_current) &&
         Load(library, "cuCtxSetCurrent", &driver->ctx_set_current) &&
         Load(library, "cuCtxGetDevice", &driver->ctx_get_device) &&
         Load(library, "cuDeviceGetPCIBusId", &driver->device_get_pci_bus_id) &&
         Load(library, "cuDevicePrimaryCtxRetain", &driver->primary_ctx_retain) &&
         Load(library, "cuLaunchHostFunc", &driver->launch_host_func) &&
         Load(library, "cuMemAlloc_v2", &driver->mem_alloc) &&
         Load(library, "cuMemFree_v2", &driver->mem_free) && driver->init(0) == CUDA_SUCCESS;
}

}  // namespace

const CudaDriver* CudaDriver::Get() {
  static CudaDriver driver;
  static const bool loaded = LoadAll(&driver);
  return loaded ? &driver : nullptr;
}

bool CurrentDevice(int* device) {
  const CudaDriver* driver = CudaDriver::Get();
  CUcontext context = nullptr;
  if (driver == nullptr || driver->ctx_get_current(&context) != CUDA_SUCCESS) return false;
  if (context == nullptr && (driver->primary_ctx_retain(&context, 0) != CUDA_SUCCESS ||
                             driver->ctx_set_current(context) != CUDA_SUCCESS)) {
    return false;
  }
  return driver->ctx_get_device(device) == CUDA_SUCCESS;
}

}  // namespace c4::nccl_cpu
