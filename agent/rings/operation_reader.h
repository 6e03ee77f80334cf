// Follows the operation ring of one hook file (protocol: common/abi/layout.h). One owner thread.
//
// Every position goes through this once; what is in flight is looked at again in each pass:
//
//             head passes it
//   unread ──────────────────┬─ its ticket ──────────> given ── in flight? ─> followed ─> ended
//                            ├─ a newer ticket ──────> lost (overwritten), counted
//                            ├─ an older one that is in flight ─> skipped by the hook, which counts
//                            └─ 0, or an older one ──> pending: looked at again, then given up
//
// An operation is given when it is first seen and again whenever it has changed. One that is older
// than a lap and still in flight is found through the positions that had to skip it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "agent/limits.h"
#include "agent/rings/header.h"
#include "agent/rings/hook_file.h"
#include "agent/rings/operation_record.h"
#include "agent/rings/records.h"

namespace c4::agent {

class OperationReader {
 public:
  explicit OperationReader(const FileLayout& layout) : layout_(layout) {}

  // Reads everything up to `head`. `now_ns` is the start of the pass. Appends to `operations`,
  // whose communicators the caller resolves. Errors: the file cannot be read any more.
  absl::Status Poll(const HookFile& file, std::uint64_t head, std::int64_t now_ns,
                    std::vector<OperationInfo>* operations);

  // The next Poll begins at the oldest position that is still in the ring and gives everything
  // again.
  void Rewind();

  // A position was claimed and not published in the pass that began here: what it holds may be as
  // old as that. 0: none.
  std::int64_t hold_ns() const { return hold_ns_; }

  const ReadLosses& losses() const { return losses_; }
  std::size_t in_flight() const { return in_flight_.size(); }

 private:
  enum class Outcome { kDone, kUnpublished };
  struct Pending {
    std::uint64_t position;
    std::int64_t since_ns;
  };

  std::uint64_t SlotOf(std::uint64_t position) const {
    return position % layout_.operation_capacity;
  }
  absl::Status ReadSlots(const HookFile& file, std::uint64_t slot, std::size_t count);
  bool IsStable(const HookFile& file, std::uint64_t slot, std::size_t index);
  const std::byte* Slot(std::size_t index) const { return first_.data() + index * kSlotBytes; }

  absl::Status FollowInFlight(const HookFile& file, std::int64_t now_ns,
                              std::vector<OperationInfo>* operations);
  void Follow(OperationInfo* known, const std::byte* slot, std::int64_t now_ns,
              std::vector<OperationInfo>* operations);
  absl::Status RetryPending(const HookFile& file, std::int64_t now_ns,
                            std::vector<OperationInfo>* operations);
  absl::Status ReadNew(const HookFile& file, std::uint64_t head, std::int64_t now_ns,
                       std::vector<OperationInfo>* operations);
  Outcome Visit(std::uint64_t position, const std::byte* slot, std::int64_t now_ns,
                std::vector<OperationInfo>* operations);
  void Give(const std::byte* slot, std::int64_t now_ns, std::vector<OperationInfo>* operations);
  void AddInFlight(const OperationInfo& operation, std::vector<OperationInfo>* operations);
  void AddPending(std::uint64_t position, std::int64_t now_ns);
  void CountLost(std::uint64_t position, std::uint64_t count);

  const FileLayout layout_;
  bool has_begun_ = false;
  std::uint64_t next_ = 0;                // position to read next
  std::uint64_t replayed_until_ = 0;      // where next_ was at the last Rewind
  std::vector<OperationInfo> in_flight_;  // by position, as last given
  std::vector<Pending> pending_;          // by position
  std::int64_t hold_ns_ = 0;
  ReadLosses losses_;
  std::array<std::byte, kSlotsPerRead * kSlotBytes> first_;
  std::array<std::byte, kSlotsPerRead * kSlotBytes> second_;
};

}  // namespace c4::agent
