// Scenarios of single operations and groups.
#include <cstring>

#include "tests/unit/nccl_hook/fakes/fake_cuda.h"
#include "tests/unit/nccl_hook/fakes/fake_nccl.h"
#include "tests/unit/nccl_hook/probe/probe.h"

namespace c4::hook::probe {
namespace {

constexpr DataType kFloat = 7;
constexpr ReductionOp kMax = 2;
constexpr Result kInvalidArgument = 4;

// What arrived at the library is exactly one call of this name with these arguments.
void ExpectOnly(const char* name, std::uint64_t count, int root_or_peer, int reduction,
                CommHandle communicator, Stream stream) {
  std::size_t calls = 0;
  const FakeCall* call = FakeNcclCalls(&calls);
  PROBE_CHECK(calls == 1);
  PROBE_CHECK(std::strcmp(call->name, name) == 0);
  PROBE_CHECK(call->count == count && call->datatype == kFloat);
  PROBE_CHECK(call->root_or_peer == root_or_peer && call->reduction == reduction);
  PROBE_CHECK(call->communicator == communicator && call->stream == stream);
  FakeNcclClear();
}

}  // namespace

int Collectives() {
  CommHandle communicator = MakeCommunicator(4, 1);
  Stream stream = StreamNumber(1);
  FakeNcclClear();
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 10, kFloat, kMax, communicator, stream) == 0);
  ExpectOnly("AllReduce", 10, -1, kMax, communicator, stream);
  PROBE_CHECK(ncclAllGather(nullptr, nullptr, 11, kFloat, communicator, stream) == 0);
  ExpectOnly("AllGather", 11, -1, -1, communicator, stream);
  PROBE_CHECK(ncclReduceScatter(nullptr, nullptr, 12, kFloat, kMax, communicator, stream) == 0);
  ExpectOnly("ReduceScatter", 12, -1, kMax, communicator, stream);
  PROBE_CHECK(ncclBroadcast(nullptr, nullptr, 13, kFloat, 3, communicator, stream) == 0);
  ExpectOnly("Broadcast", 13, 3, -1, communicator, stream);
  PROBE_CHECK(ncclReduce(nullptr, nullptr, 14, kFloat, kMax, 2, communicator, stream) == 0);
  ExpectOnly("Reduce", 14, 2, kMax, communicator, stream);
  PROBE_CHECK(ncclAlltoAll(nullptr, nullptr, 15, kFloat, communicator, stream) == 0);
  ExpectOnly("AlltoAll", 15, -1, -1, communicator, stream);
  PROBE_CHECK(ncclGather(nullptr, nullptr, 16, kFloat, 1, communicator, stream) == 0);
  ExpectOnly("Gather", 16, 1, -1, communicator, stream);
  PROBE_CHECK(ncclScatter(nullptr, nullptr, 17, kFloat, 0, communicator, stream) == 0);
  ExpectOnly("Scatter", 17, 0, -1, communicator, stream);
  return 0;
}

int Groups() {
  CommHandle communicator = MakeCommunicator(4, 1);
  PROBE_CHECK(ncclGroupStart() == 0);
  PROBE_CHECK(ncclSend(nullptr, 1, kFloat, 2, communicator, StreamNumber(1)) == 0);
  PROBE_CHECK(ncclGroupStart() == 0);
  PROBE_CHECK(ncclRecv(nullptr, 2, kFloat, 0, communicator, StreamNumber(2)) == 0);
  PROBE_CHECK(ncclGroupEnd() == 0);
  PROBE_CHECK(ncclSend(nullptr, 3, kFloat, 2, communicator, StreamNumber(1)) == 0);
  PROBE_CHECK(ncclGroupEnd() == 0);
  // An empty group, and one too many ends.
  PROBE_CHECK(ncclGroupStart() == 0 && ncclGroupEnd() == 0);
  PROBE_CHECK(ncclGroupEnd() == kInvalidUsage);
  // More streams than a group can time.
  PROBE_CHECK(ncclGroupStart() == 0);
  for (std::uintptr_t i = 1; i <= 8; ++i) {
    PROBE_CHECK(ncclAllReduce(nullptr, nullptr, i, kFloat, kMax, communicator, StreamNumber(i)) ==
                0);
  }
  PROBE_CHECK(ncclGroupEnd() == 0);
  // Simulated: nothing runs, the numbers are free again.
  PROBE_CHECK(ncclGroupStart() == 0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 20, kFloat, kMax, communicator, StreamNumber(1)) ==
              0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 21, kFloat, kMax, communicator, StreamNumber(1)) ==
              0);
  PROBE_CHECK(ncclGroupSimulateEnd(nullptr) == 0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 22, kFloat, kMax, communicator, StreamNumber(1)) ==
              0);
  return 0;
}

int Refused() {
  CommHandle communicator = MakeCommunicator(4, 1);
  Stream stream = StreamNumber(1);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 1, kFloat, 0, communicator, stream) == 0);
  FakeNcclSetOperationResult(kInvalidArgument);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 2, kFloat, 0, communicator, stream) ==
              kInvalidArgument);
  // A peer that does not exist: NCCL's to refuse, and nothing of ours may break.
  PROBE_CHECK(ncclSend(nullptr, 3, kFloat, 99, communicator, stream) == kInvalidArgument);
  FakeNcclSetOperationResult(0);
  FakeNcclSetGroupResult(kInvalidArgument);
  PROBE_CHECK(ncclGroupStart() == 0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 4, kFloat, 0, communicator, stream) == 0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 5, kFloat, 0, communicator, stream) == 0);
  PROBE_CHECK(ncclGroupEnd() == kInvalidArgument);
  FakeNcclSetGroupResult(0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 6, kFloat, 0, communicator, stream) == 0);
  // A communicator that nobody created.
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 7, kFloat, 0, nullptr, stream) == 0);
  return 0;
}

int Captured() {
  CommHandle communicator = MakeCommunicator(4, 1);
  FakeCudaHold(StreamNumber(1));  // to see whether events reach it
  FakeCudaSetCapturing(StreamNumber(1), 1);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 1, kFloat, 0, communicator, StreamNumber(1)) == 0);
  PROBE_CHECK(ncclGroupStart() == 0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 2, kFloat, 0, communicator, StreamNumber(1)) == 0);
  PROBE_CHECK(ncclGroupEnd() == 0);
  PROBE_CHECK(FakeCudaPending(StreamNumber(1)) == 0);
  FakeCudaSetCapturing(StreamNumber(1), 0);
  PROBE_CHECK(ncclAllReduce(nullptr, nullptr, 3, kFloat, 0, communicator, StreamNumber(2)) == 0);
  return 0;
}

int Nested() {
  CommHandle communicator = MakeCommunicator(4, 1);
  char buffer[4];
  FakeNcclClear();
  PROBE_CHECK(ncclBcast(buffer, 4, kFloat, 2, communicator, StreamNumber(1)) == 0);
  ExpectOnly("Broadcast", 4, 2, -1, communicator, StreamNumber(1));
  PROBE_CHECK(ncclSend(buffer, 1, kFloat, 2, communicator, StreamNumber(1)) == 0);
  PROBE_CHECK(ncclRecv(buffer, 1, kFloat, 2, communicator, StreamNumber(1)) == 0);
  PROBE_CHECK(ncclAllReduce(buffer, buffer, 1, kFloat, 0, communicator, StreamNumber(1)) == 0);
  return 0;
}

}  // namespace c4::hook::probe
