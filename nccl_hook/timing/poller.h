// Watches the events of operations in flight and writes their start and end into shared memory.
// Everything is private to the one poller thread (poller_thread.h); Step is one pass over what
// there is, with clock and driver given, so that tests drive it by hand.
#pragma once

#include <cstdint>

#include "common/abi/enums.h"
#include "common/abi/layout.h"
#include "nccl_hook/communicator_table.h"
#include "nccl_hook/operation_ring.h"
#include "nccl_hook/timing/anchor.h"
#include "nccl_hook/timing/contexts.h"
#include "nccl_hook/timing/stream_queues.h"

namespace c4::hook {

class Poller {
 public:
  struct Pass {
    bool is_busy = false;    // something is in flight
    bool has_moved = false;  // something started, ended or was submitted
  };

  void Attach(abi::Header* header, OperationRing* ring, CommunicatorTable* communicators,
              Contexts* contexts, NowFunction now) {
    header_ = header;
    ring_ = ring;
    communicators_ = communicators;
    contexts_ = contexts;
    now_ = now;
  }

  Pass Step();

 private:
  enum class Progress { kWaiting, kStarted, kFinished };

  void Accept(Pass* pass);
  void AbandonAborted();
  void RefreshAnchors();
  Progress Advance(Interval* interval);
  void PublishStart(const Interval& interval);
  void Finish(Interval* interval, std::int64_t end_ns);
  bool IsReached(Interval* interval, cuda::Event event, bool* is_lost);
  void Break(std::uint32_t context);

  abi::Header* header_ = nullptr;
  OperationRing* ring_ = nullptr;
  CommunicatorTable* communicators_ = nullptr;
  Contexts* contexts_ = nullptr;
  NowFunction now_ = nullptr;
  std::int64_t pass_ns_ = 0;           // when this pass began
  std::int64_t previous_pass_ns_ = 0;  // and the one before
  std::uint32_t seen_abort_epoch_ = 0;
  Anchor anchors_[kContextsMax];
  StreamQueues queues_;
};

}  // namespace c4::hook
