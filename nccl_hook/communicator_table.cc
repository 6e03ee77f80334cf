#include "nccl_hook/communicator_table.h"

#include <sys/mman.h>

#include <cstring>

#include "nccl_hook/clock.h"
#include "nccl_hook/identity.h"
#include "nccl_hook/scoped_lock.h"

namespace c4::hook {
namespace {

using State = abi::CommunicatorState;

State StateOf(const abi::CommunicatorRecord& record) {
  return static_cast<State>(record.state.load(std::memory_order_relaxed));
}

bool HasEnded(State state) {
  return state == State::kDestroyed || state == State::kAborted || state == State::kFailed;
}

void Store(abi::CommunicatorRecord* record, State state) {
  // Release; pairs with the reader: the fields of the entry are complete for this state.
  record->state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

constexpr auto kLaneCount = static_cast<std::size_t>(Lane::kCount);

}  // namespace

void CommunicatorTable::Attach(abi::Header* header, abi::CommunicatorRecord* records) {
  header_ = header;
  records_ = records;
}

std::uint32_t CommunicatorTable::FindEntry() {
  const std::uint32_t used = count_.load(std::memory_order_relaxed);
  if (used < abi::kCommunicatorCapacity) {
    return used;
  }
  std::uint32_t oldest = kNoCommunicator;
  for (std::uint32_t i = 0; i < used; ++i) {
    if (HasEnded(StateOf(records_[i])) &&
        (oldest == kNoCommunicator || records_[i].ended_ns < records_[oldest].ended_ns)) {
      oldest = i;
    }
  }
  return oldest;
}

bool CommunicatorTable::ReservePeers(CommunicatorSide* side, std::int32_t peer_count) {
  const std::size_t bytes =
      (static_cast<std::size_t>(peer_count) * kLaneCount + 1) * sizeof(*side->peers);
  // A larger block of an earlier communicator would do, but must be zero again: a fresh mapping is
  // simpler. The old one is left mapped: a thread may still hold the dead communicator.
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  side->peers = static_cast<std::atomic<std::uint64_t>*>(memory);
  side->peer_count = peer_count;
  return true;
}

std::uint32_t CommunicatorTable::Reserve(const Registration& registration) {
  const ScopedLock lock(&mutex_);
  const std::uint32_t index = FindEntry();
  const std::int32_t peer_count = registration.peer_count > 0 ? registration.peer_count : 0;
  if (index == kNoCommunicator || !ReservePeers(&sides_[index], peer_count)) {
    header_->communicators_dropped.fetch_add(1, std::memory_order_relaxed);
    header_->disarm_reason.store(
        static_cast<std::uint32_t>(abi::DisarmReason::kTooManyCommunicators),
        std::memory_order_relaxed);
    return kNoCommunicator;
  }
  CommunicatorSide& side = sides_[index];
  side.context.store(kNoContext, std::memory_order_relaxed);
  side.deferred.store(kNoInterval, std::memory_order_relaxed);
  side.is_aborted.store(0, std::memory_order_relaxed);
  side.split_count = 0;
  side.shrink_count = 0;
  side.parent = kNoCommunicator;
  side.late_handle = nullptr;
  side.late_group = 0;
  side.is_late = 0;

  abi::CommunicatorRecord& record = records_[index];
  Store(&record, State::kEmpty);
  // Release; pairs with a reader that compares generations of the entry and of its operations.
  record.generation.fetch_add(1, std::memory_order_release);
  record.id = registration.id;
  record.nccl_hash = registration.nccl_hash;
  record.parent_id = registration.parent_id;
  record.rank = registration.rank;
  record.rank_count = registration.rank_count;
  record.split_color = registration.split_color;
  record.split_key = registration.split_key;
  record.device = registration.device;
  record.async_error = 0;
  record.created_ns = NowNs();
  record.ended_ns = 0;
  record.collectives.store(0, std::memory_order_relaxed);
  CopyLabel(record.name, sizeof(record.name),
            registration.name != nullptr ? registration.name : "");
  Store(&record, State::kInitialising);
  if (index == count_.load(std::memory_order_relaxed)) {
    count_.store(index + 1, std::memory_order_release);  // pairs with count()
  }
  return index;
}

void CommunicatorTable::Bind(std::uint32_t index, CommHandle handle) {
  const ScopedLock lock(&mutex_);
  map_.Insert(handle, index);
}

void CommunicatorTable::Unbind(CommHandle handle) {
  const ScopedLock lock(&mutex_);
  map_.Remove(handle);
}

void CommunicatorTable::SetReady(std::uint32_t index) {
  const ScopedLock lock(&mutex_);
  if (StateOf(records_[index]) == State::kInitialising) {
    Store(&records_[index], State::kReady);
  }
}

void CommunicatorTable::SetState(std::uint32_t index, State state) {
  const ScopedLock lock(&mutex_);
  abi::CommunicatorRecord& record = records_[index];
  if (HasEnded(StateOf(record))) {
    return;
  }
  if (HasEnded(state)) {
    record.ended_ns = NowNs();
  }
  Store(&record, state);
  if (state == State::kAborted) {
    sides_[index].is_aborted.store(1, std::memory_order_relaxed);
    abort_epoch_.fetch_add(1, std::memory_order_release);  // pairs with the poller's load
  }
}

std::uint64_t CommunicatorTable::CountRootsLike(std::uint64_t nccl_hash, int rank) {
  const ScopedLock lock(&mutex_);
  std::uint64_t like = 0;
  const std::uint32_t used = count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    const abi::CommunicatorRecord& record = records_[i];
    like += record.parent_id == 0 && record.nccl_hash == nccl_hash && record.rank == rank ? 1 : 0;
  }
  return like;
}

std::atomic<std::uint64_t>* CommunicatorTable::Counter(std::uint32_t index, abi::OperationKind kind,
                                                       std::int32_t peer) {
  const CommunicatorSide& side = sides_[index];
  Lane lane = Lane::kSend;
  switch (kind) {
    case abi::OperationKind::kSend:
      lane = Lane::kSend;
      break;
    case abi::OperationKind::kRecv:
      lane = Lane::kReceive;
      break;
    case abi::OperationKind::kPutSignal:
    case abi::OperationKind::kSignal:
      lane = Lane::kSignal;
      break;
    case abi::OperationKind::kWaitSignal:
      return &side.peers[static_cast<std::size_t>(side.peer_count) * kLaneCount];
    default:
      return &records_[index].collectives;
  }
  if (peer < 0 || peer >= side.peer_count) {
    return nullptr;
  }
  return &side.peers[static_cast<std::size_t>(peer) * kLaneCount + static_cast<std::size_t>(lane)];
}

}  // namespace c4::hook
