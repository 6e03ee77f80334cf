#include "tests/unit/nccl_hook/fakes/fake_nccl.h"

#include <unistd.h>

#include <cstring>
#include <mutex>
#include <vector>

using c4::hook::CommHandle;
using c4::hook::Config;
using c4::hook::DataType;
using c4::hook::ReductionOp;
using c4::hook::Result;
using c4::hook::SimInfo;
using c4::hook::Stream;
using c4::hook::UniqueId;

#define FAKE_API extern "C" __attribute__((visibility("default")))

struct ncclComm {
  int rank;
  int rank_count;
};

namespace {

constexpr int kInvalidArgument = 4;
constexpr int kInProgress = 7;

struct LateSplit {
  CommHandle* destination;
  CommHandle communicator;
};

std::mutex g_mutex;
std::vector<FakeCall> g_calls;
std::vector<LateSplit> g_late;
int g_operation_result = 0;
int g_group_result = 0;
int g_init_result = 0;
int g_async_error = 0;
thread_local int t_group_depth = 0;
volatile bool g_is_blocked = false;
std::uint64_t g_unique = 0x1122334455667788;

void Log(const char* name, std::uint64_t count = 0, int datatype = -1, int root_or_peer = -1,
         int reduction = -1, const void* communicator = nullptr, const void* stream = nullptr) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  FakeCall call = {{}, count, datatype, root_or_peer, reduction, communicator, stream};
  std::strncpy(call.name, name, sizeof(call.name) - 1);
  g_calls.push_back(call);
}

Result Operate() {
  while (g_is_blocked) {
    usleep(1000);
  }
  return g_operation_result;
}

void CompleteLate() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  for (const LateSplit& split : g_late) {
    __atomic_store_n(split.destination, split.communicator, __ATOMIC_RELEASE);
  }
  g_late.clear();
}

Result Create(CommHandle* communicator, int rank, int rank_count) {
  if (g_init_result != 0 && g_init_result != kInProgress) {
    return g_init_result;
  }
  *communicator = new ncclComm{rank, rank_count};
  return g_init_result;
}

}  // namespace

FAKE_API const FakeCall* FakeNcclCalls(std::size_t* count) {
  *count = g_calls.size();
  return g_calls.data();
}
FAKE_API void FakeNcclClear() { g_calls.clear(); }
FAKE_API void FakeNcclSetOperationResult(int result) { g_operation_result = result; }
FAKE_API void FakeNcclSetGroupResult(int result) { g_group_result = result; }
FAKE_API void FakeNcclSetInitResult(int result) { g_init_result = result; }
FAKE_API void FakeNcclSetAsyncError(int result) { g_async_error = result; }
FAKE_API void FakeNcclFinishAsync() {
  CompleteLate();
  g_async_error = 0;
}
FAKE_API void FakeNcclBlock() { g_is_blocked = true; }

FAKE_API Result ncclGetVersion(int* version) {
  *version = 22809;
  return 0;
}
FAKE_API Result ncclGetUniqueId(UniqueId* id) {
  Log("GetUniqueId");
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id->internal, &g_unique, sizeof(g_unique));
  ++g_unique;
  return 0;
}
FAKE_API Result ncclGroupStart() {
  Log("GroupStart");
  ++t_group_depth;
  return 0;
}
FAKE_API Result ncclGroupEnd() {
  Log("GroupEnd");
  if (t_group_depth == 0) {
    return c4::hook::kInvalidUsage;
  }
  if (--t_group_depth > 0) {
    return 0;
  }
  if (g_group_result == 0) {
    CompleteLate();
  }
  return g_group_result;
}

FAKE_API Result ncclAllReduce(const void*, void*, std::size_t n, DataType t, ReductionOp op,
                              CommHandle c, Stream s) {
  Log("AllReduce", n, t, -1, op, c, s);
  return Operate();
}
FAKE_API Result ncclAllGather(const void*, void*, std::size_t n, DataType t, CommHandle c,
                              Stream s) {
  Log("AllGather", n, t, -1, -1, c, s);
  return Operate();
}
FAKE_API Result ncclReduceScatter(const void*, void*, std::size_t n, DataType t, ReductionOp op,
                                  CommHandle c, Stream s) {
  Log("ReduceScatter", n, t, -1, op, c, s);
  return Operate();
}
FAKE_API Result ncclBroadcast(const void*, void*, std::size_t n, DataType t, int root, CommHandle c,
                              Stream s) {
  Log("Broadcast", n, t, root, -1, c, s);
  return Operate();
}
// As in every NCCL: through the PLT, where a preload sees it.
FAKE_API Result ncclBcast(void* buffer, std::size_t n, DataType t, int root, CommHandle c,
                          Stream s) {
  return ncclBroadcast(buffer, buffer, n, t, root, c, s);
}
FAKE_API Result ncclReduce(const void*, void*, std::size_t n, DataType t, ReductionOp op, int root,
                           CommHandle c, Stream s) {
  Log("Reduce", n, t, root, op, c, s);
  return Operate();
}
// As in NCCL up to 2.23: a group of its own round every send and receive, through the PLT.
FAKE_API Result ncclSend(const void*, std::size_t n, DataType t, int peer, CommHandle c, Stream s) {
  ncclGroupStart();
  Log("Send", n, t, peer, -1, c, s);
  const Result result = Operate();
  ncclGroupEnd();
  return result;
}
FAKE_API Result ncclRecv(void*, std::size_t n, DataType t, int peer, CommHandle c, Stream s) {
  ncclGroupStart();
  Log("Recv", n, t, peer, -1, c, s);
  const Result result = Operate();
  ncclGroupEnd();
  return result;
}
#ifndef FAKE_NCCL_OLD  // 2.22 and 2.28 respectively: the old library does without
FAKE_API Result ncclGroupSimulateEnd(SimInfo*) {
  Log("GroupSimulateEnd");
  t_group_depth -= t_group_depth > 0 ? 1 : 0;
  return 0;
}
FAKE_API Result ncclAlltoAll(const void*, void*, std::size_t n, DataType t, CommHandle c,
                             Stream s) {
  Log("AlltoAll", n, t, -1, -1, c, s);
  return Operate();
}
FAKE_API Result ncclGather(const void*, void*, std::size_t n, DataType t, int root, CommHandle c,
                           Stream s) {
  Log("Gather", n, t, root, -1, c, s);
  return Operate();
}
FAKE_API Result ncclScatter(const void*, void*, std::size_t n, DataType t, int root, CommHandle c,
                            Stream s) {
  Log("Scatter", n, t, root, -1, c, s);
  return Operate();
}
#endif

FAKE_API Result ncclCommInitRank(CommHandle* communicator, int rank_count, UniqueId, int rank) {
  Log("CommInitRank", static_cast<std::uint64_t>(rank_count), -1, rank);
  return Create(communicator, rank, rank_count);
}
FAKE_API Result ncclCommInitRankConfig(CommHandle* communicator, int rank_count, UniqueId, int rank,
                                       Config*) {
  Log("CommInitRankConfig", static_cast<std::uint64_t>(rank_count), -1, rank);
  return Create(communicator, rank, rank_count);
}
FAKE_API Result ncclCommInitAll(CommHandle* communicators, int device_count, const int*) {
  UniqueId id;
  ncclGetUniqueId(&id);  // through the PLT, as in every NCCL
  Log("CommInitAll", static_cast<std::uint64_t>(device_count));
  for (int i = 0; i < device_count; ++i) {
    communicators[i] = new ncclComm{i, device_count};
  }
  return 0;
}
FAKE_API Result ncclCommSplit(CommHandle parent, int color, int key, CommHandle* child, Config*) {
  Log("CommSplit", 0, -1, color, key, parent);
  *child = nullptr;
  if (g_init_result != 0 && g_init_result != kInProgress) {
    return g_init_result;
  }
  if (color == c4::hook::kSplitNoColor) {
    return g_init_result;
  }
  CommHandle made = new ncclComm{parent->rank / 2, parent->rank_count / 2};
  if (t_group_depth > 0 || g_init_result == kInProgress) {
    const std::lock_guard<std::mutex> lock(g_mutex);
    g_late.push_back({child, made});
  } else {
    *child = made;
  }
  return g_init_result;
}
FAKE_API Result ncclCommFinalize(CommHandle c) {
  Log("CommFinalize", 0, -1, -1, -1, c);
  return 0;
}
FAKE_API Result ncclCommDestroy(CommHandle c) {
  Log("CommDestroy", 0, -1, -1, -1, c);
  delete c;
  return 0;
}
FAKE_API Result ncclCommAbort(CommHandle c) {
  Log("CommAbort", 0, -1, -1, -1, c);
  delete c;
  return 0;
}
FAKE_API Result ncclCommGetAsyncError(CommHandle, Result* error) {
  *error = g_async_error;
  return 0;
}
FAKE_API Result ncclCommCount(CommHandle c, int* count) {
  if (c == nullptr) {
    return kInvalidArgument;
  }
  *count = c->rank_count;
  return 0;
}
FAKE_API Result ncclCommUserRank(CommHandle c, int* rank) {
  if (c == nullptr) {
    return kInvalidArgument;
  }
  *rank = c->rank;
  return 0;
}
