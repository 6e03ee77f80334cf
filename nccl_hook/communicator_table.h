// The communicators of this process: the shared table that the agent reads, and beside every entry
// what only the hook needs. Looking one up by its handle is lock-free; creating and ending take a
// lock, which is held for a few stores and never across a call to NCCL or CUDA.
//
//   Reserve ──> kInitialising ──SetReady──> kReady ──SetState──> kFinalizing, kDestroyed, kAborted
//                     └──SetState──> kFailed
//   Bind (the handle is known) may come before or after SetReady; Unbind when the handle dies.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "common/abi/enums.h"
#include "common/abi/layout.h"
#include "nccl_hook/nccl_abi.h"
#include "nccl_hook/pointer_map.h"
#include "nccl_hook/thread_state.h"

namespace c4::hook {

inline constexpr std::uint32_t kNoCommunicator = PointerMap::kNotFound;

// Counters of point-to-point operations: one per lane and peer, and one for WaitSignal, which names
// many peers at once.
enum class Lane : std::uint32_t { kSend = 0, kReceive = 1, kSignal = 2, kCount = 3 };

// What is known about a communicator when it is asked for.
struct Registration {
  std::uint64_t id = 0;
  std::uint64_t nccl_hash = 0;
  std::uint64_t parent_id = 0;
  std::int32_t rank = -1;
  std::int32_t rank_count = -1;
  std::int32_t peer_count = 0;  // at least the ranks that it can have; a child's parent's
  std::int32_t split_color = 0;
  std::int32_t split_key = 0;
  std::int32_t device = -1;
  const char* name = nullptr;
};

struct CommunicatorSide {
  std::atomic<std::uint32_t> context;   // of timing/contexts.h; kNoContext: not timed
  std::atomic<std::uint32_t> deferred;  // intervals whose end waits for the communicator
  std::atomic<std::uint32_t> is_aborted;
  std::atomic<std::uint64_t>* peers;  // counters; zero pages until touched
  std::int32_t peer_count;
  std::int32_t split_count;
  std::int32_t shrink_count;
  std::uint32_t parent;
  // A child's handle is written by NCCL when the group ends or the parent is ready again, here.
  CommHandle* late_handle;
  std::uint32_t late_group;  // that group's number; 0: not in a group
  std::uint32_t is_late;     // 1: not complete yet
};

class CommunicatorTable {
 public:
  // Both are zero-filled and outlive the table.
  void Attach(abi::Header* header, abi::CommunicatorRecord* records);

  // Takes an entry: a fresh one, else the one whose communicator ended first. kNoCommunicator (and
  // counted) when all are alive. Sets nothing but what `registration` says.
  std::uint32_t Reserve(const Registration& registration);
  void Bind(std::uint32_t index, CommHandle handle);
  void Unbind(CommHandle handle);
  void SetReady(std::uint32_t index);
  void SetState(std::uint32_t index, abi::CommunicatorState state);

  // Earlier communicators of this process with the same id bytes and rank, when ids repeat.
  std::uint64_t CountRootsLike(std::uint64_t nccl_hash, int rank);

  std::uint32_t Find(CommHandle handle) const { return map_.Find(handle); }

  // The counter that numbers the next operation of this kind; null when the peer is out of range.
  std::atomic<std::uint64_t>* Counter(std::uint32_t index, abi::OperationKind kind,
                                      std::int32_t peer);

  // Entries ever used; all lower indices are valid.
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  abi::CommunicatorRecord& record(std::uint32_t index) { return records_[index]; }
  CommunicatorSide& side(std::uint32_t index) { return sides_[index]; }
  // Children whose handle is not known yet: when 0, nobody needs to look for them.
  std::atomic<std::uint32_t>& late_count() { return late_count_; }
  // Grows with every abort; the poller looks for operations to abandon when it has changed.
  std::atomic<std::uint32_t>& abort_epoch() { return abort_epoch_; }

 private:
  std::uint32_t FindEntry();
  bool ReservePeers(CommunicatorSide* side, std::int32_t peer_count);

  abi::Header* header_ = nullptr;
  abi::CommunicatorRecord* records_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> late_count_{0};
  std::atomic<std::uint32_t> abort_epoch_{0};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  PointerMap map_;
  CommunicatorSide sides_[abi::kCommunicatorCapacity] = {};
};

}  // namespace c4::hook
