// Declarations of the exported wrappers, from the list in functions.h.
#pragma once

#include "nccl_hook/export.h"
#include "nccl_hook/functions.h"

#define C4_HOOK_DECLARE(name, ...) \
  extern "C" C4_HOOK_EXPORT c4::hook::Result nccl##name(__VA_ARGS__);
namespace c4::hook {
C4_HOOK_FUNCTIONS(C4_HOOK_DECLARE)
}  // namespace c4::hook
#undef C4_HOOK_DECLARE
