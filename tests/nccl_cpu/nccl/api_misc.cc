// The API functions that are about neither a communicator's life nor data: versions, texts, memory,
// registration (nothing to register here) and user-defined reductions (refused).
#include "tests/nccl_cpu/nccl/api.h"
#include "tests/nccl_cpu/nccl/cuda_driver.h"
#include "tests/nccl_cpu/nccl/log.h"

C4_NCCL_API(ncclResult_t, ncclGetVersion, int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

C4_NCCL_API(const char*, ncclGetErrorString, ncclResult_t code) {
  switch (code) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

C4_NCCL_API(const char*, ncclGetLastError, ncclComm_t) { return c4::nccl_cpu::LastWarning(); }

C4_NCCL_API(ncclResult_t, ncclMemAlloc, void** pointer, size_t size) {
  const auto* driver = c4::nccl_cpu::CudaDriver::Get();
  if (pointer == nullptr || size == 0) return ncclInvalidArgument;
  int device = 0;
  CUdeviceptr memory = 0;
  if (driver == nullptr || !c4::nccl_cpu::CurrentDevice(&device) ||
      driver->mem_alloc(&memory, size) != CUDA_SUCCESS) {
    return ncclUnhandledCudaError;
  }
  *pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(memory));
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclMemFree, void* pointer) {
  const auto* driver = c4::nccl_cpu::CudaDriver::Get();
  if (driver == nullptr) return ncclUnhandledCudaError;
  const CUresult result = driver->mem_free(reinterpret_cast<uintptr_t>(pointer));
  return result == CUDA_SUCCESS ? ncclSuccess : ncclInvalidArgument;
}

C4_NCCL_API(ncclResult_t, ncclCommRegister, const ncclComm_t comm, void* buffer, size_t,
            void** handle) {
  if (const auto result = c4::nccl_cpu::CheckHandle(comm, "CommRegister"); result != ncclSuccess) {
    return result;
  }
  if (handle == nullptr) return ncclInvalidArgument;
  *handle = buffer;
  return ncclSuccess;
}

C4_NCCL_API(ncclResult_t, ncclCommDeregister, const ncclComm_t comm, void*) {
  return c4::nccl_cpu::CheckHandle(comm, "CommDeregister");
}

C4_NCCL_API(ncclResult_t, ncclRedOpCreatePreMulSum, ncclRedOp_t*, void*, ncclDataType_t,
            ncclScalarResidence_t, ncclComm_t) {
  c4::nccl_cpu::LogWarn("ncclRedOpCreatePreMulSum: not supported by this library");
  return ncclInvalidUsage;
}

C4_NCCL_API(ncclResult_t, ncclRedOpDestroy, ncclRedOp_t, ncclComm_t) { return ncclInvalidUsage; }
