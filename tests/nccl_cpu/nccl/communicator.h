// A communicator: who is in it, its connections, and its state. Data moves in plan.h.
//
// Life: Create/Split block until all members have come and the rings stand; then plans run, one at
// a time in launch order; Destroy waits for them, Abort ends them. The object outlives the user's
// handle while plans that have not been reached by their stream still refer to it. Thread: const
// members from any thread once ready; connections belong to the running plan.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "tests/nccl_cpu/nccl/channel.h"
#include "tests/nccl_cpu/nccl/turn.h"

namespace c4::nccl_cpu {

// A pair of one-way connections with one other rank.
struct Peer {
  OutgoingConnection outgoing;
  Socket incoming;  // invalid until the other side has connected
};

class Communicator {
 public:
  Communicator() = default;

  // Each blocks until every rank (of the parent, for a split) takes part. `caller` is the API
  // function, for the log.
  ncclResult_t Init(const char* caller, int nranks, const ncclUniqueId& id, int rank, int device);
  // *child stays null with NCCL_SPLIT_NOCOLOR.
  ncclResult_t Split(int color, int key, std::shared_ptr<Communicator>* child);

  bool ready() const { return ready_.load(std::memory_order_acquire); }
  int rank() const { return rank_; }
  int nranks() const { return static_cast<int>(table_.size()); }
  int device() const { return device_; }
  uint64_t hash() const { return hash_; }

  Turns& turns() { return turns_; }
  std::mutex& launch_mutex() { return launch_mutex_; }
  const AbortSignal& abort_signal() const { return abort_; }

  ncclResult_t async_error() const { return async_error_.load(std::memory_order_relaxed); }
  void SetAsyncError(ncclResult_t error) { async_error_.store(error, std::memory_order_relaxed); }

  // Wakes whatever is blocked and waits until no plan touches user memory; later plans do nothing.
  void Abort();
  // Blocks until all plans launched so far are through.
  void Drain() { turns_.WaitUntilIdle(); }

  // For the running plan only.
  Peer& ring() { return ring_; }
  Peer& PeerOf(int rank);
  PeerListener& listener() { return listener_; }
  // Whether C4_CPU_FAULT drops the link to that rank from the `operations`-th operation on.
  bool LinkDropped(int rank, int64_t operations) const;

 private:
  ncclResult_t MakeRing(const AbortSignal& abort);
  ncclResult_t RefuseSharedDevices() const;
  void LogComplete(const char* caller) const;

  // Set before ready_, constant after.
  RankTable table_;
  int rank_ = 0;
  int device_ = 0;
  uint64_t pci_bus_ = 0;
  uint64_t hash_ = 0;
  std::atomic<bool> ready_{false};  // release in MakeRing(), acquire in ready()

  AbortSignal abort_;
  Turns turns_;
  std::mutex launch_mutex_;  // launches of one communicator enter their streams in turn order
  std::atomic<ncclResult_t> async_error_{ncclSuccess};  // relaxed: advisory

  Peer control_;         // user threads, inside Split()
  int split_count_ = 0;  // user threads, inside Split()

  PeerListener listener_{0};
  Peer ring_;
  std::map<int, Peer> peers_;  // created at first use
};

}  // namespace c4::nccl_cpu
