// Scenarios of things that go wrong: stuck calls and streams, no events left, a dead driver, forks.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/nccl_hook/fakes/fake_cuda.h"
#include "tests/unit/nccl_hook/fakes/fake_nccl.h"
#include "tests/unit/nccl_hook/probe/probe.h"

namespace c4::hook::probe {
namespace {

constexpr DataType kFloat = 7;

Result AllReduce(std::size_t count, CommHandle communicator, std::uintptr_t stream) {
  return ncclAllReduce(nullptr, nullptr, count, kFloat, 0, communicator, StreamNumber(stream));
}

}  // namespace

int StuckCall() {
  CommHandle communicator = MakeCommunicator(4, 1);
  PROBE_CHECK(AllReduce(1, communicator, 1) == 0);
  FakeNcclBlock();
  SayReady();
  AllReduce(2, communicator, 1);
  return 1;  // not reached: the test kills us
}

int StuckStream() {
  CommHandle communicator = MakeCommunicator(4, 1);
  FakeCudaHold(StreamNumber(1));
  PROBE_CHECK(AllReduce(1, communicator, 1) == 0);
  PROBE_CHECK(AllReduce(2, communicator, 1) == 0);
  SayReady();
  WaitForGo();
  FakeCudaLetThrough(StreamNumber(1), 1);  // the first has started
  SayReady();
  WaitForGo();
  FakeCudaLetThrough(StreamNumber(1), 1);  // and ended
  SayReady();
  WaitForGo();
  return 0;
}

int PoolExhausted() {
  CommHandle communicator = MakeCommunicator(4, 1);
  FakeCudaHold(StreamNumber(1));
  // 1,024 pairs of events, 16,384 slots: first the events run out, then, with the first 1,024 slots
  // still in flight, their positions of the second lap.
  for (std::size_t i = 0; i < 18000; ++i) {
    PROBE_CHECK(AllReduce(i, communicator, 1) == 0);
  }
  SayReady();
  WaitForGo();
  return 0;
}

int CudaDies() {
  CommHandle communicator = MakeCommunicator(4, 1);
  FakeCudaHold(StreamNumber(1));
  PROBE_CHECK(AllReduce(1, communicator, 1) == 0);
  FakeCudaFail(719);
  SayReady();
  WaitForGo();
  PROBE_CHECK(AllReduce(2, communicator, 1) == 0);
  SayReady();
  WaitForGo();
  return 0;
}

int Forks() {
  // Before the first communicator a child is a process like any other.
  const pid_t early = fork();
  if (early == 0) {
    PROBE_CHECK(AllReduce(9, MakeCommunicator(4, 3), 1) == 0);
    _exit(0);
  }
  int status = -1;
  PROBE_CHECK(waitpid(early, &status, 0) == early && status == 0);
  CommHandle communicator = MakeCommunicator(4, 1);
  PROBE_CHECK(AllReduce(1, communicator, 1) == 0);
  // Afterwards it has nothing to say: the file is the parent's.
  const pid_t late = fork();
  if (late == 0) {
    PROBE_CHECK(AllReduce(2, communicator, 1) == 0);
    PROBE_CHECK(AllReduce(3, MakeCommunicator(4, 2), 1) == 0);
    std::exit(0);  // with exit handlers
  }
  PROBE_CHECK(waitpid(late, &status, 0) == late && status == 0);
  PROBE_CHECK(AllReduce(4, communicator, 1) == 0);
  return 0;
}

int MissingFunctions() {
  CommHandle communicator = MakeCommunicator(4, 1);
  // The library is older than these: calling them is an error, asking for them finds nothing.
  PROBE_CHECK(ncclAlltoAll(nullptr, nullptr, 1, kFloat, communicator, StreamNumber(1)) ==
              kInvalidUsage);
  PROBE_CHECK(ncclGroupSimulateEnd(nullptr) == kInvalidUsage);
  void* handle = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD);
  PROBE_CHECK(handle != nullptr);
  PROBE_CHECK(dlsym(handle, "ncclAlltoAll") == nullptr);
  PROBE_CHECK(dlsym(handle, "ncclAllReduce") != nullptr);
  PROBE_CHECK(dlsym(RTLD_DEFAULT, "ncclAlltoAll") == nullptr);
  PROBE_CHECK(dlsym(RTLD_DEFAULT, "ncclAllReduce") != nullptr);
  PROBE_CHECK(AllReduce(1, communicator, 1) == 0);
  return 0;
}

}  // namespace c4::hook::probe
