// The wrappers of groups. The depth is followed whether or not the hook records: the first
// communicator may be created inside a group.
#include "nccl_hook/export.h"
#include "nccl_hook/recorder.h"
#include "nccl_hook/wrap/child_communicators.h"
#include "nccl_hook/wrap/wrappers.h"

namespace c4::hook {
namespace {

// A group call of the application, not one that NCCL makes inside another function.
bool IsApplications(const void* caller) { return t_state.call_depth == 0 && !IsInsideNccl(caller); }

template <typename Real, typename... Arguments>
Result CallReal(Real real, Arguments... arguments) {
  ++t_state.call_depth;
  const Result result = real(arguments...);
  --t_state.call_depth;
  return result;
}

}  // namespace

extern "C" {

C4_HOOK_EXPORT Result ncclGroupStart() {
  const auto real = Real<Function::kGroupStart>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!IsApplications(C4_HOOK_CALLER)) {
    return real();
  }
  const Result result = CallReal(real);
  t_state.group_depth += result == kSuccess ? 1 : 0;
  return result;
}

C4_HOOK_EXPORT Result ncclGroupEnd() {
  const auto real = Real<Function::kGroupEnd>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!IsApplications(C4_HOOK_CALLER)) {
    return real();
  }
  if (t_state.group_depth != 1) {
    t_state.group_depth -= t_state.group_depth > 0 ? 1 : 0;
    return CallReal(real);
  }
  const bool is_recorded = ShouldRecord(C4_HOOK_CALLER);
  const std::uint32_t group = t_state.group_number;
  if (is_recorded) {
    BeginGroupEnd();
  }
  const Result result = CallReal(real);
  t_state.group_depth = 0;
  if (is_recorded) {
    FinishGroupEnd(result);
    ResolveGroupChildren(group, result);
  }
  return result;
}

C4_HOOK_EXPORT Result ncclGroupSimulateEnd(SimInfo* info) {
  const auto real = Real<Function::kGroupSimulateEnd>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (!IsApplications(C4_HOOK_CALLER)) {
    return real(info);
  }
  const Result result = CallReal(real, info);
  t_state.group_depth -= t_state.group_depth > 0 ? 1 : 0;
  if (t_state.group_depth == 0 && ShouldRecord(C4_HOOK_CALLER)) {
    DiscardGroup(result);
  }
  return result;
}

}  // extern "C"

}  // namespace c4::hook
