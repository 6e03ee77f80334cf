#include "nccl_hook/wrap/communicator_config.h"

namespace c4::hook {

int CurrentDevice() {
  cuda::Device device = -1;
  if (!EnsureDriver() || g_hook.driver.context_get_device(&device) != cuda::kSuccess) {
    return -1;
  }
  return device;
}

DeviceScope::DeviceScope(int ordinal) {
  if (!EnsureDriver() || g_hook.driver.context_get_current(&previous_) != cuda::kSuccess) {
    return;
  }
  cuda::Device device = -1;
  cuda::Context context = nullptr;
  // Retained for good: NCCL holds it as well while the communicator lives, and a pool of events
  // then depends on it.
  if (g_hook.driver.device_get(&device, ordinal) == cuda::kSuccess &&
      g_hook.driver.primary_context_retain(&context, device) == cuda::kSuccess) {
    is_switched_ = g_hook.driver.context_set_current(context) == cuda::kSuccess;
  }
}

DeviceScope::~DeviceScope() {
  if (is_switched_) {
    g_hook.driver.context_set_current(previous_);
  }
}

}  // namespace c4::hook
