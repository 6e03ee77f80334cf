// The CUDA driver functions that the hook calls, found in the libcuda that the application has
// loaded. A struct of pointers, so that tests bring a driver of their own. The hook never loads
// libcuda.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl_hook/cuda_abi.h"

namespace c4::hook {

// clang-format off
// X(member, exported symbol, parameters…). The plain symbols, not their _ptsz variants: NCCL itself is
// compiled for the legacy default stream, so stream 0 must mean the same here.
#define C4_HOOK_DRIVER_FUNCTIONS(X)                                            \
  X(driver_get_version, cuDriverGetVersion, int*)                              \
  X(context_get_current, cuCtxGetCurrent, cuda::Context*)                      \
  X(context_set_current, cuCtxSetCurrent, cuda::Context)                       \
  X(context_get_device, cuCtxGetDevice, cuda::Device*)                         \
  X(device_get, cuDeviceGet, cuda::Device*, int)                               \
  X(device_get_uuid, cuDeviceGetUuid, cuda::Uuid*, cuda::Device)               \
  X(device_get_pci_bus_id, cuDeviceGetPCIBusId, char*, int, cuda::Device)      \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, cuda::Context*, cuda::Device) \
  X(stream_create, cuStreamCreate, cuda::Stream*, unsigned int)                \
  X(stream_is_capturing, cuStreamIsCapturing, cuda::Stream, int*)              \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, int*)            \
  X(event_create, cuEventCreate, cuda::Event*, unsigned int)                   \
  X(event_record, cuEventRecord, cuda::Event, cuda::Stream)                    \
  X(event_query, cuEventQuery, cuda::Event)                                    \
  X(event_elapsed_time, cuEventElapsedTime, float*, cuda::Event, cuda::Event)
// clang-format on

struct Driver {
#define C4_HOOK_DRIVER_MEMBER(member, symbol, ...) cuda::Status (*member)(__VA_ARGS__) = nullptr;
  C4_HOOK_DRIVER_FUNCTIONS(C4_HOOK_DRIVER_MEMBER)
#undef C4_HOOK_DRIVER_MEMBER
};

// False when libcuda is not loaded in this process or lacks a function: then nothing is timed.
bool LoadDriver(Driver* driver);

// For its scope, CUDA calls of this thread may run while another thread captures a stream in GLOBAL
// mode, without breaking that capture.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) {
    driver_.exchange_capture_mode(&mode_);
  }
  ~RelaxedCapture() { driver_.exchange_capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const Driver& driver_;
  int mode_ = cuda::kCaptureModeRelaxed;
};

}  // namespace c4::hook
