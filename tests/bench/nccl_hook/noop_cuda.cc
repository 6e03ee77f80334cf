// A libcuda.so.1 that answers at once: events are complete as soon as they are recorded, all at the
// same moment. The cost of the real driver's calls is not the hook's and is not measured here.
#include <cstring>

#include "nccl_hook/cuda_abi.h"

using namespace c4::hook::cuda;  // NOLINT(google-build-using-namespace): the ABI's own types

#define NOOP_API extern "C" __attribute__((visibility("default")))

namespace {
template <typename T>
Status Give(T* out, T value) {
  *out = value;
  return kSuccess;
}
}  // namespace

NOOP_API Status cuDriverGetVersion(int* version) { return Give(version, 13000); }
NOOP_API Status cuCtxGetCurrent(Context* context) {
  return Give(context, reinterpret_cast<Context>(0xc0));
}
NOOP_API Status cuCtxSetCurrent(Context) { return kSuccess; }
NOOP_API Status cuCtxGetDevice(Device* device) { return Give(device, 0); }
NOOP_API Status cuDeviceGet(Device* device, int ordinal) { return Give(device, ordinal); }
NOOP_API Status cuDeviceGetUuid(Uuid* uuid, Device) { return Give(uuid, Uuid{}); }
NOOP_API Status cuDeviceGetPCIBusId(char* text, int, Device) {
  std::strcpy(text, "0000:00:00.0");
  return kSuccess;
}
NOOP_API Status cuDevicePrimaryCtxRetain(Context* context, Device) {
  return Give(context, reinterpret_cast<Context>(0xc0));
}
NOOP_API Status cuStreamCreate(Stream* stream, unsigned int) {
  return Give(stream, reinterpret_cast<Stream>(0x10));
}
NOOP_API Status cuStreamIsCapturing(Stream, int* status) { return Give(status, 0); }
NOOP_API Status cuThreadExchangeStreamCaptureMode(int* mode) { return Give(mode, 0); }
NOOP_API Status cuEventCreate(Event* event, unsigned int) {
  return Give(event, reinterpret_cast<Event>(0x20));
}
NOOP_API Status cuEventRecord(Event, Stream) { return kSuccess; }
NOOP_API Status cuEventQuery(Event) { return kSuccess; }
NOOP_API Status cuEventElapsedTime(float* ms, Event, Event) { return Give(ms, 0.0F); }
