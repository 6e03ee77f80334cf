// The batches that the analyzer has not acknowledged, oldest first. Gives each its sequence number,
// remembers what was sent, and keeps within its bounds by dropping the oldest operations; ranks,
// communicators, processes and events go only when there is no operation left to drop.
//
//   Push ──> unsent ──NextToSend──> sent ──Acknowledge──> gone
//              ^                      │
//              └──────── Unsend ──────┘   (the stream broke)
//
// A batch keeps its number however often it is sent, so that the analyzer can tell a repetition.
// One whose operations were dropped keeps it too. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "agent/limits.h"
#include "agent/uplink/payload.h"

namespace c4::agent {

class Spool {
 public:
  struct Options {
    std::size_t bytes_max = kSpoolBytesMax;
    std::size_t unacknowledged_bytes_max = kUnacknowledgedBytesMax;
  };
  struct Entry {
    std::uint64_t sequence = 0;
    int attempts = 0;  // streams that it was sent on
    Payload payload;
  };
  // By (job, rank); ("", -1) counts records that are not operations. Totals.
  using Losses = std::map<std::pair<std::string, std::int32_t>, std::uint64_t>;

  Spool() : Spool(Options{}) {}
  explicit Spool(Options options) : options_(options) {}

  void Push(Payload payload);

  // The analyzer is a new one and `first` begins what it must know. Operations that are still here
  // are forgotten (the rings give them again); the rest goes before `first`, which knows better.
  void Restart(Payload first);

  // The oldest unsent one, which then counts as sent. Null when there is none, or when as much as
  // may be is under way. Valid until the next call of a non-const function.
  const Entry* NextToSend();
  bool HasUnsent() const { return sent_ < entries_.size(); }

  // Everything up to `sequence` has arrived. False when that was never sent: the peer talks
  // nonsense.
  bool Acknowledge(std::uint64_t sequence);

  // Nothing is under way any more.
  void Unsend();

  // The oldest batch, if it has been sent `attempts` times, ends every stream: drops it.
  bool DropPoison(int attempts);

  bool empty() const { return entries_.empty(); }
  bool HasUnacknowledged() const { return sent_ > 0; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t last_sequence() const { return next_sequence_ - 1; }
  const Losses& dropped() const { return dropped_; }    // no room
  const Losses& rejected() const { return rejected_; }  // poison

 private:
  static std::size_t Cost(const Payload& payload);
  void Append(Payload payload);
  void EnforceBounds();
  void DropOperations(Entry* entry, Losses* losses);
  void PopFront();

  const Options options_;
  std::deque<Entry> entries_;
  std::size_t sent_ = 0;        // the first sent_ entries are under way
  std::size_t sent_bytes_ = 0;  // of those
  std::size_t stripped_ = 0;    // the first stripped_ entries have no operations
  std::size_t bytes_ = 0;
  std::uint64_t next_sequence_ = 1;
  Losses dropped_;
  Losses rejected_;
};

}  // namespace c4::agent
