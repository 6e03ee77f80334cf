// Names and texts of error codes.
#include "tests/nccl_cpu/cuda/driver.h"

namespace {

struct ErrorText {
  CUresult code;
  const char* name;
  const char* text;
};

#define C4_ERROR(code, text) \
  { code, #code, text }
constexpr ErrorText kErrors[] = {
    C4_ERROR(CUDA_SUCCESS, "no error"),
    C4_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    C4_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    C4_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    C4_ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    C4_ERROR(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    C4_ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    C4_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    C4_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    C4_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    C4_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
             "no kernel image is available for execution on the device"),
    C4_ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    C4_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    C4_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    C4_ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    C4_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    C4_ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    C4_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    C4_ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    C4_ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
             "operation would make the legacy stream depend on a capturing blocking stream"),
    C4_ERROR(CUDA_ERROR_CAPTURED_EVENT,
             "operation not permitted on an event last recorded in a "
             "capturing stream"),
    C4_ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef C4_ERROR

const ErrorText* Find(CUresult code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

}  // namespace

C4_CUDA_API CUresult cuGetErrorName(CUresult code, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ErrorText* error = Find(code);
  *name = error == nullptr ? nullptr : error->name;
  return error == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuGetErrorString(CUresult code, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ErrorText* error = Find(code);
  *text = error == nullptr ? nullptr : error->text;
  return error == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
