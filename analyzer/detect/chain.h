// The operations of one rank in one communicator (or with one peer), in the order of their sequence
// numbers, and the smallest repeat of that order: the ground on which steps are found.
//
// A chain and not the whole rank, because only inside a chain is the order certain: a rank's
// threads enqueue into different communicators in varying order, and a lost record leaves a hole
// that the sequence numbers show. Fed in order of enqueue; bounded history. Owner thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/model/operation.h"

namespace c4::detect {

class Chain {
 public:
  // 40 layers x 4 collectives x 16 microbatches and more.
  static constexpr std::size_t kLengthMax = 4096;

  // A copy: the model forgets operations.
  struct Entry {
    std::uint64_t sequence = 0;
    std::uint64_t signature = 0;  // what must repeat; 0: its record is missing
    std::uint32_t group = 0;
    model::TimeNs enqueue = 0;
    model::TimeNs start = 0;  // 0: not ended yet, or not known
    model::TimeNs end = 0;
    bool settled = false;  // ended, or will never be known
  };

  // An operation was enqueued. `ordinal` numbers it in this chain; not newer than the last:
  // ignored.
  void Add(std::uint64_t ordinal, const model::Operation& operation);
  // It ended, or its times will not come.
  void Settle(std::uint64_t ordinal, const model::Operation& operation);

  // What a search looks at, at least.
  static constexpr std::size_t kHistory = 1024;

  // Looks for the smallest repeat, or checks the one there is. True when there is one now.
  bool Search();

  // Forgets the repeat, not the operations.
  void Lose();

  // 0: none found.
  std::size_t length() const { return length_; }
  model::DurationNs duration() const { return duration_; }
  // Counts up when a repeat was lost: the program does something else now.
  std::uint64_t losses() const { return losses_; }

  // Of the repeat: whether a step may begin with `entry`. The same on all members of a
  // communicator.
  bool IsBoundary(const Entry& entry) const;

  std::deque<Entry>& entries() { return entries_; }
  const std::deque<Entry>& entries() const { return entries_; }

 private:
  bool Repeats(std::size_t length) const;
  double Gap(std::size_t i) const;
  double Difference(std::size_t length) const;
  bool IsRegular(std::size_t length, model::DurationNs* duration) const;
  std::size_t FindLength(model::DurationNs* duration) const;
  void Verify(const Entry& entry);

  std::deque<Entry> entries_;
  std::size_t length_ = 0;
  model::DurationNs duration_ = 0;
  std::vector<std::uint64_t> pattern_;  // by (sequence - shift_) % length_
  std::uint64_t shift_ = 0;
  std::size_t insertions_ = 0;  // operations out of the pattern, of late
  std::size_t since_search_ = 0;
  std::uint64_t losses_ = 0;
};

// What must repeat from step to step: the name and the datatype, not the count, which varies with
// sequence lengths.
std::uint64_t SignatureOf(const model::Operation& operation);

}  // namespace c4::detect
