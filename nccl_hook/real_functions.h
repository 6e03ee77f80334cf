// The real NCCL behind the wrappers: where its functions are, and whether a call comes from inside
// it.
//
// RTLD_NEXT alone does not do: where NCCL is a dependency of a library that was opened RTLD_LOCAL
// (as Python does with PyTorch), the preloaded wrapper is called but RTLD_NEXT finds nothing. So
// the first call asks the caller's own library. From the first function found, the library that
// holds it becomes the one this process uses, and all other functions come from there.
//
// Thread: any. Found once; afterwards one relaxed load per call.
#pragma once

#include <atomic>
#include <cstdint>

#include "nccl_hook/functions.h"

namespace c4::hook {

// Null: this NCCL does not have the function (or is not loaded yet).
void* FindRealFunction(Function function, const void* caller);

// A user of dlsym(handle) was given `real`: if no library is in use yet, its library becomes it.
// True if `real` belongs to the library in use, so that the wrapper will call the right one.
bool AdoptRealFunction(Function function, void* real);

// The library in use is known and lacks the function.
bool IsMissingInNccl(Function function);

extern std::atomic<void*> g_real_functions[kFunctionCount];

template <Function kFunction>
typename FunctionTraits<kFunction>::Pointer Real(const void* caller) {
  // Relaxed: the value is an address in code that is mapped for good; nothing else hangs on it.
  void* real = g_real_functions[static_cast<int>(kFunction)].load(std::memory_order_relaxed);
  if (__builtin_expect(real == nullptr, 0)) {
    real = FindRealFunction(kFunction, caller);
  }
  return reinterpret_cast<typename FunctionTraits<kFunction>::Pointer>(real);
}

// Code of the NCCL library in use; empty where NCCL is linked into a larger library, whose own
// calls would then look like NCCL's.
extern std::atomic<std::uintptr_t> g_nccl_text_begin;
extern std::atomic<std::uintptr_t> g_nccl_text_bytes;

// NCCL calls some of its own exported functions through the PLT, where a preload sees them.
inline bool IsInsideNccl(const void* caller) {
  return reinterpret_cast<std::uintptr_t>(caller) -
             g_nccl_text_begin.load(std::memory_order_relaxed) <
         g_nccl_text_bytes.load(std::memory_order_relaxed);
}

// The wrapper of a function of this name, or null.
struct WrappedFunction {
  const char* name;
  void* wrapper;
  Function function;
};
const WrappedFunction* FindWrapped(const char* name);

}  // namespace c4::hook
