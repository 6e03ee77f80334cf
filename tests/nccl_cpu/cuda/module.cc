// Modules, functions and kernel launches. A module is what its PTX text declares as `.entry NAME`;
// cubins and fat binaries are refused, as no CPU can run them.
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/nccl_cpu/cuda/context.h"
#include "tests/nccl_cpu/cuda/kernel_table.h"

// Functions belong to their module, as in CUDA: unloading it invalidates them.
struct CUfunc_st {
  const c4::cuda_cpu::Kernel* kernel;
};

struct CUmod_st {
  std::vector<std::string> entries;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

std::vector<std::string> EntriesOf(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry";
  std::vector<std::string> entries;
  for (size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
    at = ptx.find_first_not_of(" \t\r\n", at + kEntry.size());
    if (at == std::string_view::npos) break;
    size_t end = at;
    while (end < ptx.size() && IsNameCharacter(ptx[end])) ++end;
    if (end > at) entries.emplace_back(ptx.substr(at, end - at));
    at = end;
  }
  return entries;
}

}  // namespace

C4_CUDA_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  CUcontext context;
  const CUresult result = c4::cuda_cpu::RequireContext(&context);
  if (result != CUDA_SUCCESS) return result;
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::string_view text(static_cast<const char*>(image));
  if (text.find(".version") == std::string_view::npos) return CUDA_ERROR_INVALID_IMAGE;
  *module = new CUmod_st{EntriesOf(text), {}};
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, int*,
                                        void**) {
  return cuModuleLoadData(module, image);  // the options steer a JIT compiler
}

C4_CUDA_API CUresult cuModuleUnload(CUmodule module) {
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  delete module;
  return CUDA_SUCCESS;
}

C4_CUDA_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const std::string& entry : module->entries) {
    if (entry != name) continue;
    const c4::cuda_cpu::Kernel* kernel = c4::cuda_cpu::FindKernel(name);
    if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
    module->functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{kernel}));
    *function = module->functions.back().get();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

C4_CUDA_API CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                    unsigned int block_z, unsigned int, CUstream stream,
                                    void** parameters, void** extra) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y == 0 || block_z == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // The packed-buffer form of parameters has no user here.
  if (extra != nullptr || parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const c4::cuda_cpu::Kernel* kernel = function->kernel;
  c4::cuda_cpu::KernelArguments arguments{};
  for (size_t i = 0; i < kernel->parameter_count; ++i) {
    std::memcpy(&arguments[i], parameters[i], kernel->parameter_bytes[i]);
  }
  return c4::cuda_cpu::EnqueueOn(stream, [kernel, arguments] { kernel->run(arguments); });
}
