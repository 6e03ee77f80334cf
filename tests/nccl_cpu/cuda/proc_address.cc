// cuGetProcAddress: the driver's own symbol lookup, by base name and wanted CUDA version.
#include <dlfcn.h>

#include <string>

#include "tests/nccl_cpu/cuda/driver.h"

namespace {

// Looks in this library only, whatever else in the process exports the same name (a preloaded
// wrapper, say): cuGetProcAddress is not subject to interposition.
void* OwnSymbol(const std::string& name) {
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&cuInit), &info);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return self == nullptr ? nullptr : dlsym(self, name.c_str());
}

// Later versions of a function, and the CUDA version that made each the meaning of the base name.
struct Version {
  const char* suffix;
  int since;
};
constexpr Version kNewestFirst[] = {{"_v4", 12050}, {"_v3", 12030}, {"_v2", 3020}};

}  // namespace

C4_CUDA_API CUresult cuGetProcAddress_v2(const char* symbol, void** function, int cuda_version,
                                         cuuint64_t, CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  for (const Version& version : kNewestFirst) {
    if (cuda_version < version.since || *function != nullptr) continue;
    *function = OwnSymbol(std::string(symbol) + version.suffix);
  }
  if (*function == nullptr) *function = OwnSymbol(symbol);
  const bool found = *function != nullptr;
  if (status != nullptr) {
    *status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return found || status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
C4_CUDA_API CUresult cuGetProcAddress(const char* symbol, void** function, int cuda_version,
                                      cuuint64_t flags) {
  CUdriverProcAddressQueryResult status;
  const CUresult result = cuGetProcAddress_v2(symbol, function, cuda_version, flags, &status);
  if (result != CUDA_SUCCESS) return result;
  return status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
