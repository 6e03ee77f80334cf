#include "tests/unit/nccl_hook/fakes/fake_cuda.h"

#include <time.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "nccl_hook/cuda_abi.h"

using c4::hook::cuda::Context;
using c4::hook::cuda::Device;
using c4::hook::cuda::Event;
using c4::hook::cuda::Status;
using c4::hook::cuda::Stream;
using c4::hook::cuda::Uuid;

#define FAKE_API extern "C" __attribute__((visibility("default")))

struct CUevent_st {
  bool is_pending;
  long long time_ns;
};

namespace {

std::mutex g_mutex;
// The hook never destroys an event; here they stay reachable.
std::deque<CUevent_st> g_events;
std::deque<char> g_streams;
std::map<void*, std::deque<Event>> g_held;
std::set<void*> g_capturing;
int g_failure = 0;
thread_local Context t_context = reinterpret_cast<Context>(0xc0);

long long NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

}  // namespace

FAKE_API void FakeCudaHold(void* stream) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_held[stream];
}
FAKE_API void FakeCudaLetThrough(void* stream, int count) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  std::deque<Event>& pending = g_held[stream];
  for (; count > 0 && !pending.empty(); --count) {
    pending.front()->time_ns = NowNs();
    pending.front()->is_pending = false;
    pending.pop_front();
  }
}
FAKE_API void FakeCudaSetCapturing(void* stream, int is_capturing) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (is_capturing != 0) {
    g_capturing.insert(stream);
  } else {
    g_capturing.erase(stream);
  }
}
FAKE_API void FakeCudaFail(int status) { g_failure = status; }
FAKE_API int FakeCudaPending(void* stream) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  return static_cast<int>(g_held[stream].size());
}

FAKE_API Status cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
FAKE_API Status cuCtxGetCurrent(Context* context) {
  *context = t_context;
  return 0;
}
FAKE_API Status cuCtxSetCurrent(Context context) {
  t_context = context;
  return 0;
}
FAKE_API Status cuCtxGetDevice(Device* device) {
  // The primary context of device n is 0xc0 + n.
  *device = static_cast<Device>(reinterpret_cast<unsigned long>(t_context) - 0xc0);
  return 0;
}
FAKE_API Status cuDeviceGet(Device* device, int ordinal) {
  *device = ordinal;
  return 0;
}
FAKE_API Status cuDeviceGetUuid(Uuid* uuid, Device device) {
  std::memset(uuid->bytes, 0xab, sizeof(uuid->bytes));
  uuid->bytes[15] = static_cast<unsigned char>(device);
  return 0;
}
FAKE_API Status cuDeviceGetPCIBusId(char* text, int, Device) {
  std::strcpy(text, "0000:1B:00.0");
  return 0;
}
FAKE_API Status cuDevicePrimaryCtxRetain(Context* context, Device device) {
  *context = reinterpret_cast<Context>(0xc0UL + static_cast<unsigned long>(device));
  return 0;
}
FAKE_API Status cuStreamCreate(Stream* stream, unsigned int) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  *stream = reinterpret_cast<Stream>(&g_streams.emplace_back());
  return 0;
}
FAKE_API Status cuStreamIsCapturing(Stream stream, int* status) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  *status = g_capturing.count(stream) != 0 ? 1 : 0;
  return 0;
}
FAKE_API Status cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int t_mode = 0;
  const int before = t_mode;
  t_mode = *mode;
  *mode = before;
  return 0;
}
FAKE_API Status cuEventCreate(Event* event, unsigned int) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  *event = &g_events.emplace_back(CUevent_st{false, 0});
  return 0;
}
FAKE_API Status cuEventRecord(Event event, Stream stream) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (g_failure != 0) {
    return g_failure;
  }
  const auto held = g_held.find(stream);
  event->is_pending = held != g_held.end();
  if (event->is_pending) {
    held->second.push_back(event);
  } else {
    event->time_ns = NowNs();
  }
  return 0;
}
FAKE_API Status cuEventQuery(Event event) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (g_failure != 0) {
    return g_failure;
  }
  return event->is_pending ? c4::hook::cuda::kNotReady : 0;
}
FAKE_API Status cuEventElapsedTime(float* milliseconds, Event start, Event end) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (start->is_pending || end->is_pending) {
    return c4::hook::cuda::kNotReady;
  }
  *milliseconds = static_cast<float>(static_cast<double>(end->time_ns - start->time_ns) / 1e6);
  return 0;
}
