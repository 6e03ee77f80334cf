// What the init wrappers read besides their arguments: the name in an ncclConfig_t, and which CUDA
// device the calling thread is on.
#pragma once

#include "nccl_hook/hook.h"
#include "nccl_hook/nccl_abi.h"

namespace c4::hook {

// The application's name for the communicator, or null. Only a config that was compiled against a
// NCCL with that field has it.
inline const char* ConfigName(const Config* config) {
  constexpr std::uint32_t kNameVersion = 22700;
  if (config == nullptr || config->size < offsetof(Config, comm_name) + sizeof(char*) ||
      config->magic != kConfigMagic || config->version < kNameVersion) {
    return nullptr;
  }
  return config->comm_name;
}

// CUDA ordinal of the calling thread's current device; -1 unknown (or libcuda not loaded yet).
int CurrentDevice();

// For its scope, the primary context of a device is current: ncclCommInitAll speaks for many
// devices from one thread. Does nothing when the driver is not known.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  cuda::Context previous_ = nullptr;
  bool is_switched_ = false;
};

}  // namespace c4::hook
