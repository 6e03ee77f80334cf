// The hook's dlsym: users who open libnccl.so.2 and ask for its functions by handle (vLLM, JAX,
// Paddle, ctypes) never pass the global symbol scope where a preload sits. They get the wrapper.
//
// Everything else is passed on as a tail call, a jump: dlsym looks at its return address to decide
// what RTLD_NEXT and RTLD_DEFAULT mean, and must see the original caller. This file is compiled
// with -O2 -foptimize-sibling-calls in every build type for that reason. C4_HOOK_DLSYM=0 switches
// the substitution off.
//
// Thread: any, also before our constructor has run.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "nccl_hook/export.h"
#include "nccl_hook/glibc_compat.h"
#include "nccl_hook/real_dlsym.h"
#include "nccl_hook/real_functions.h"

namespace c4::hook {
namespace {

constinit std::atomic<DlsymFunction> g_dlsym{nullptr};

bool IsSubstitutionOff() {
  const char* value = std::getenv("C4_HOOK_DLSYM");
  const char* hook = std::getenv("C4_HOOK");
  return (value != nullptr && value[0] == '0') || (hook != nullptr && hook[0] == '0');
}

// A lookup by handle. Not on any hot path, and not a tail call: a handle needs no return address.
__attribute__((noinline)) void* LookUpNccl(DlsymFunction real, void* handle, const char* name) {
  void* address = real(handle, name);
  const WrappedFunction* wrapped = FindWrapped(name);
  // NULL stays NULL: callers probe for functions that their NCCL does not have.
  if (address == nullptr || wrapped == nullptr || IsSubstitutionOff()) {
    return address;
  }
  if (address == wrapped->wrapper) {  // dlopen(NULL): the global scope
    return IsMissingInNccl(wrapped->function) ? nullptr : address;
  }
  // A second NCCL in the process keeps its own functions, unrecorded: one wrapper cannot serve
  // both.
  return AdoptRealFunction(wrapped->function, address) ? wrapped->wrapper : address;
}

// The global scope has a wrapper for everything that any NCCL has ever had. To whoever asks it what
// this NCCL has, we must not lie.
__attribute__((noinline)) bool IsMissing(const char* name) {
  const WrappedFunction* wrapped = FindWrapped(name);
  return wrapped != nullptr && IsMissingInNccl(wrapped->function);
}

}  // namespace

DlsymFunction RealDlsym() {
  DlsymFunction real = g_dlsym.load(std::memory_order_relaxed);
  if (real == nullptr) {
    // By version: a plain reference to dlsym would find ourselves.
    real = reinterpret_cast<DlsymFunction>(dlvsym(RTLD_NEXT, "dlsym", C4_GLIBC_BASE));
    g_dlsym.store(real, std::memory_order_relaxed);
  }
  return real;
}

}  // namespace c4::hook

extern "C" C4_HOOK_EXPORT void* dlsym(void* __restrict handle,
                                      const char* __restrict name) noexcept {
  const c4::hook::DlsymFunction real = c4::hook::RealDlsym();
  if (name[0] == 'n' && name[1] == 'c' && name[2] == 'c' && name[3] == 'l') {
    if (handle != RTLD_DEFAULT && handle != RTLD_NEXT) {
      return c4::hook::LookUpNccl(real, handle, name);
    }
    if (handle == RTLD_DEFAULT && c4::hook::IsMissing(name)) {
      return nullptr;
    }
  }
  return real(handle, name);
}
