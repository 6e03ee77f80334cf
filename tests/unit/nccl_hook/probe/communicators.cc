// Scenarios of communicators: creation, children, non-blocking ones, and their ends.
#include "tests/unit/nccl_hook/fakes/fake_cuda.h"
#include "tests/unit/nccl_hook/fakes/fake_nccl.h"
#include "tests/unit/nccl_hook/probe/probe.h"

namespace c4::hook::probe {
namespace {

constexpr DataType kFloat = 7;
constexpr Result kInvalidArgument = 4;

Result AllReduce(std::size_t count, CommHandle communicator, std::uintptr_t stream) {
  return ncclAllReduce(nullptr, nullptr, count, kFloat, 0, communicator, StreamNumber(stream));
}

}  // namespace

int InitAll() {
  CommHandle communicators[2] = {};
  const int devices[2] = {3, 1};
  PROBE_CHECK(ncclCommInitAll(communicators, 2, devices) == 0);
  PROBE_CHECK(AllReduce(1, communicators[0], 1) == 0);
  PROBE_CHECK(AllReduce(1, communicators[1], 1) == 0);
  PROBE_CHECK(ncclCommDestroy(communicators[0]) == 0);
  return 0;
}

int Splits() {
  Config config = {};
  config.size = sizeof(config);
  config.magic = kConfigMagic;
  config.version = 22700;
  config.comm_name = "world";
  UniqueId id = {};
  id.internal[0] = 1;
  CommHandle world = nullptr;
  PROBE_CHECK(ncclCommInitRankConfig(&world, 8, id, 5, &config) == 0);
  // Comm 1: at once.
  CommHandle first = nullptr;
  PROBE_CHECK(ncclCommSplit(world, 1, 5, &first, nullptr) == 0 && first != nullptr);
  // No child, but the count of splits goes on.
  CommHandle none = nullptr;
  PROBE_CHECK(ncclCommSplit(world, kSplitNoColor, 0, &none, nullptr) == 0 && none == nullptr);
  // Comm 2: handle written when the group ends.
  CommHandle grouped = nullptr;
  PROBE_CHECK(ncclGroupStart() == 0);
  PROBE_CHECK(ncclCommSplit(world, 0, 5, &grouped, nullptr) == 0 && grouped == nullptr);
  PROBE_CHECK(ncclGroupEnd() == 0 && grouped != nullptr);
  // Comm 3: refused.
  CommHandle failed = nullptr;
  FakeNcclSetInitResult(kInvalidArgument);
  PROBE_CHECK(ncclCommSplit(world, 2, 5, &failed, nullptr) == kInvalidArgument);
  FakeNcclSetInitResult(0);
  PROBE_CHECK(AllReduce(1, first, 1) == 0 && AllReduce(2, grouped, 1) == 0);
  PROBE_CHECK(ncclCommFinalize(first) == 0);
  return 0;
}

int NonBlocking() {
  FakeNcclSetInitResult(kInProgress);
  FakeNcclSetAsyncError(kInProgress);
  UniqueId id = {};
  CommHandle world = nullptr;
  PROBE_CHECK(ncclCommInitRank(&world, 4, id, 1) == kInProgress);
  Result error = -1;
  PROBE_CHECK(ncclCommGetAsyncError(world, &error) == 0 && error == kInProgress);
  FakeNcclFinishAsync();
  PROBE_CHECK(ncclCommGetAsyncError(world, &error) == 0 && error == kSuccess);
  CommHandle child = nullptr;
  PROBE_CHECK(ncclCommSplit(world, 0, 0, &child, nullptr) == kInProgress && child == nullptr);
  FakeNcclFinishAsync();
  PROBE_CHECK(ncclCommGetAsyncError(world, &error) == 0 && error == kSuccess);
  PROBE_CHECK(child != nullptr);
  // The kernel is launched after the call has returned: its end must not be recorded before that.
  FakeCudaHold(StreamNumber(1));
  FakeNcclSetOperationResult(kInProgress);
  PROBE_CHECK(AllReduce(1, child, 1) == kInProgress);
  PROBE_CHECK(FakeCudaPending(StreamNumber(1)) == 1);
  PROBE_CHECK(ncclCommGetAsyncError(child, &error) == 0 && error == kSuccess);
  PROBE_CHECK(FakeCudaPending(StreamNumber(1)) == 2);
  FakeCudaLetThrough(StreamNumber(1), 2);
  FakeNcclSetAsyncError(6);
  PROBE_CHECK(ncclCommGetAsyncError(child, &error) == 0 && error == 6);
  SayReady();
  WaitForGo();
  return 0;
}

int Aborted() {
  CommHandle stuck = MakeCommunicator(4, 1);
  CommHandle healthy = MakeCommunicator(2, 1);
  FakeCudaHold(StreamNumber(1));
  FakeCudaHold(StreamNumber(2));
  PROBE_CHECK(AllReduce(1, stuck, 1) == 0);
  PROBE_CHECK(AllReduce(2, healthy, 2) == 0);
  PROBE_CHECK(ncclCommAbort(stuck) == 0);
  SayReady();
  WaitForGo();
  // The kernels leave after the abort; nothing may be written about them any more.
  FakeCudaLetThrough(StreamNumber(1), 2);
  FakeCudaLetThrough(StreamNumber(2), 2);
  SayReady();
  WaitForGo();
  return 0;
}

int SecondLife() {
  // More communicators than the table holds, one after the other: entries are used again.
  for (int i = 0; i < 300; ++i) {
    CommHandle communicator = MakeCommunicator(2, 1);
    PROBE_CHECK(AllReduce(static_cast<std::size_t>(i), communicator, 1) == 0);
    PROBE_CHECK(ncclCommDestroy(communicator) == 0);
  }
  // And more than it holds at once: the surplus works, unrecorded.
  for (int i = 0; i < 300; ++i) {
    PROBE_CHECK(AllReduce(1, MakeCommunicator(2, 1), 1) == 0);
  }
  return 0;
}

}  // namespace c4::hook::probe
