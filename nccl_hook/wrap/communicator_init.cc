// The wrappers that create root communicators. The entry is made before the real call, so that a
// rank stuck in init is seen as initialising.
#include "nccl_hook/comm_hash.h"
#include "nccl_hook/export.h"
#include "nccl_hook/recorder.h"
#include "nccl_hook/wrap/child_communicators.h"
#include "nccl_hook/wrap/communicator_config.h"
#include "nccl_hook/wrap/wrappers.h"

namespace c4::hook {
namespace {

bool IsNested(const void* caller) { return t_state.call_depth != 0 || IsInsideNccl(caller); }

std::uint32_t ReserveRoot(const UniqueId* ids, int id_count, int rank_count, int rank,
                          const char* name) {
  Registration registration;
  registration.nccl_hash = NcclRootHash(g_hook.nccl_version, ids[0]);
  const std::uint64_t occurrence =
      IsFixedId(ids[0]) ? g_hook.communicators.CountRootsLike(registration.nccl_hash, rank) : 0;
  registration.id = RootId(ids, id_count, rank_count, occurrence);
  registration.rank = rank;
  registration.rank_count = rank_count;
  registration.peer_count = rank_count;
  registration.device = CurrentDevice();
  registration.name = name;
  NoteRank(rank, rank_count);
  return g_hook.communicators.Reserve(registration);
}

// `handle` is where NCCL stores the communicator; `call` is the real function with its arguments.
template <typename Call>
Result CallInit(const UniqueId* ids, int id_count, int rank_count, int rank, const Config* config,
                CommHandle* handle, Call call) {
  if (ids == nullptr || id_count < 1 || !EnsureHookStarted()) {
    return call();
  }
  const std::uint32_t index = ReserveRoot(ids, id_count, rank_count, rank, ConfigName(config));
  ++t_state.call_depth;
  const Result result = call();
  --t_state.call_depth;
  if (index != kNoCommunicator) {
    RegisterRoot(index, IsRefused(result) ? nullptr : *handle, result);
  }
  return result;
}

}  // namespace

extern "C" {

// Not recorded; but ncclCommInitAll makes its id by calling this one, and we want to know it.
C4_HOOK_EXPORT Result ncclGetUniqueId(UniqueId* id) {
  const auto real = Real<Function::kGetUniqueId>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  const Result result = real(id);
  if (result == kSuccess && t_state.unique_id_sink != nullptr) {
    *t_state.unique_id_sink = *id;
  }
  return result;
}

C4_HOOK_EXPORT Result ncclCommInitRank(CommHandle* communicator, int rank_count, UniqueId id,
                                       int rank) {
  const auto real = Real<Function::kCommInitRank>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (IsNested(C4_HOOK_CALLER)) {
    return real(communicator, rank_count, id, rank);
  }
  return CallInit(&id, 1, rank_count, rank, nullptr, communicator,
                  [&] { return real(communicator, rank_count, id, rank); });
}

C4_HOOK_EXPORT Result ncclCommInitRankConfig(CommHandle* communicator, int rank_count, UniqueId id,
                                             int rank, Config* config) {
  const auto real = Real<Function::kCommInitRankConfig>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (IsNested(C4_HOOK_CALLER)) {
    return real(communicator, rank_count, id, rank, config);
  }
  return CallInit(&id, 1, rank_count, rank, config, communicator,
                  [&] { return real(communicator, rank_count, id, rank, config); });
}

C4_HOOK_EXPORT Result ncclCommInitRankScalable(CommHandle* communicator, int rank_count, int rank,
                                               int id_count, UniqueId* ids, Config* config) {
  const auto real = Real<Function::kCommInitRankScalable>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (IsNested(C4_HOOK_CALLER)) {
    return real(communicator, rank_count, rank, id_count, ids, config);
  }
  return CallInit(ids, id_count, rank_count, rank, config, communicator,
                  [&] { return real(communicator, rank_count, rank, id_count, ids, config); });
}

C4_HOOK_EXPORT Result ncclCommInitAll(CommHandle* communicators, int device_count,
                                      const int* devices) {
  const auto real = Real<Function::kCommInitAll>(C4_HOOK_CALLER);
  if (real == nullptr) {
    return kInvalidUsage;
  }
  if (IsNested(C4_HOOK_CALLER) || !EnsureHookStarted()) {
    return real(communicators, device_count, devices);
  }
  UniqueId id = {};
  t_state.unique_id_sink = &id;
  ++t_state.call_depth;
  const Result result = real(communicators, device_count, devices);
  --t_state.call_depth;
  t_state.unique_id_sink = nullptr;
  for (int i = 0; result == kSuccess && i < device_count; ++i) {
    const DeviceScope scope(devices != nullptr ? devices[i] : i);
    const std::uint32_t index = ReserveRoot(&id, 1, device_count, i, nullptr);
    if (index != kNoCommunicator) {
      RegisterRoot(index, communicators[i], result);
    }
  }
  return result;
}

}  // extern "C"

}  // namespace c4::hook
