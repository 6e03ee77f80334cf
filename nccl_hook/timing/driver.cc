#include "nccl_hook/timing/driver.h"

#include <dlfcn.h>

#include "nccl_hook/glibc_compat.h"
#include "nccl_hook/real_dlsym.h"

namespace c4::hook {

bool LoadDriver(Driver* driver) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return false;
  }
  const DlsymFunction look_up = RealDlsym();
#define C4_HOOK_DRIVER_LOAD(member, symbol, ...)                                          \
  driver->member = reinterpret_cast<decltype(driver->member)>(look_up(library, #symbol)); \
  if (driver->member == nullptr) {                                                        \
    return false;                                                                         \
  }
  C4_HOOK_DRIVER_FUNCTIONS(C4_HOOK_DRIVER_LOAD)
#undef C4_HOOK_DRIVER_LOAD
  return true;
}

}  // namespace c4::hook
