// What a step of a rank holds: the second half of RankRhythm, rank_rhythm.cc being how the turns of
// steps are found.
#include <algorithm>

#include "analyzer/detect/hash.h"
#include "analyzer/detect/rank_rhythm.h"

namespace c4::detect {
namespace {

using model::TimeNs;

// How far the order of enqueue between two chains may vary around the turn of a step.
constexpr int kToleranceDivisor = 4;
// Repeats of the anchor after which an operation that has not ended is taken for a lost record.
constexpr std::size_t kWaitRepeats = 3;

std::uint64_t FirstFrom(const Chain& chain, std::uint64_t cursor, TimeNs time) {
  const auto& entries = chain.entries();
  if (entries.empty()) {
    return 0;
  }
  const std::uint64_t base = entries.front().sequence;
  for (std::uint64_t i = std::max(cursor, base) - base; i < entries.size(); ++i) {
    if (entries[i].signature != 0 && entries[i].enqueue >= time) {
      return base + i;
    }
  }
  return entries.back().sequence + 1;
}

}  // namespace

// Twice the same numbers of operations in all chains: that is the structure of a step.
bool RankRhythm::Learn(const Chain::Entry& from, const Chain::Entry& to) {
  std::map<Key, std::size_t> counts;
  for (const auto& [key, line] : lines_) {
    const std::uint64_t begin = FirstFrom(line.chain, 0, from.enqueue);
    const std::uint64_t end = FirstFrom(line.chain, begin, to.enqueue);
    if (end > begin) {
      counts[key] = end - begin;
    }
  }
  const bool same = counts == learned_;
  learned_ = std::move(counts);
  if (!same) {
    return false;
  }
  struct Described {
    std::uint64_t label;
    Slot slot;
  };
  std::vector<Described> described;
  for (const auto& [key, count] : learned_) {
    const Line& line = lines_.at(key);
    std::set<std::uint64_t> signatures;
    for (const Chain::Entry& entry : line.chain.entries()) {
      if (entry.enqueue >= from.enqueue && entry.enqueue < to.enqueue && entry.signature != 0) {
        signatures.insert(entry.signature);
      }
    }
    std::uint64_t label = HashMix(HashMix(HashMix(kHashSeed, count), line.size), line.direction);
    for (const std::uint64_t signature : signatures) {
      label = HashMix(label, signature);
    }
    described.push_back({label, {key, count}});
  }
  std::stable_sort(described.begin(), described.end(),
                   [](const Described& a, const Described& b) { return a.label < b.label; });
  role_ = kHashSeed;
  std::size_t offset = 0;
  for (const Described& one : described) {
    role_ = HashMix(role_, one.label);
    slots_.push_back(one.slot);
    offsets_.push_back(offset);
    offset += one.slot.length;
  }
  offsets_.push_back(offset);
  return true;
}

RankRhythm::Slice RankRhythm::Check(const Chain::Entry& from, const Chain::Entry& to,
                                    TimeNs now) const {
  const model::DurationNs length = to.enqueue - from.enqueue;
  const model::DurationNs tolerance =
      (span_ == 0 ? length : std::min(length, span_)) / kToleranceDivisor;
  bool complete = to.settled;
  for (const Slot& slot : slots_) {
    const auto found = lines_.find(slot.key);
    if (found == lines_.end()) {
      return Slice::kIrregular;
    }
    const auto& entries = found->second.chain.entries();
    const std::uint64_t cursor = found->second.cursor;
    if (entries.empty() || cursor < entries.front().sequence) {
      return Slice::kIrregular;
    }
    const std::uint64_t first = cursor - entries.front().sequence;
    if (first + slot.length > entries.size()) {
      if (now > to.enqueue + tolerance) {
        return Slice::kIrregular;
      }
      complete = false;
      continue;
    }
    for (std::uint64_t i = first; i < first + slot.length; ++i) {
      const Chain::Entry& entry = entries[i];
      if (entry.signature != 0 &&
          (entry.enqueue < from.enqueue - tolerance || entry.enqueue >= to.enqueue + tolerance)) {
        return Slice::kIrregular;
      }
      complete = complete && entry.settled;
    }
    // One more than usual.
    const std::uint64_t after = first + slot.length;
    if (after < entries.size() && entries[after].signature != 0 &&
        entries[after].enqueue < to.enqueue - tolerance) {
      return Slice::kIrregular;
    }
  }
  const Chain& anchor = lines_.at(anchor_).chain;
  const bool overdue =
      anchor.entries().back().sequence > to.sequence + kWaitRepeats * anchor.length();
  return complete || overdue ? Slice::kComplete : Slice::kIncomplete;
}

void RankRhythm::Emit(const Chain::Entry& from, const Chain::Entry& to) {
  RankStep step;
  step.key = from.sequence;
  step.begin = from.start;
  step.end = to.start;
  std::set<std::uint32_t> groups;
  for (const Slot& slot : slots_) {
    const Line& line = lines_.at(slot.key);
    const std::uint64_t first = line.cursor - line.chain.entries().front().sequence;
    for (std::uint64_t i = first; i < first + slot.length; ++i) {
      const Chain::Entry& entry = line.chain.entries()[i];
      const bool counted = entry.group != 0 && !groups.insert(entry.group).second;
      step.samples.push_back(counted ? Sample{} : Sample{entry.enqueue, entry.start, entry.end});
    }
  }
  if (step.begin != 0 && step.end > step.begin) {
    span_ = step.span();
    steps_.push_back(std::move(step));
    if (steps_.size() > kStepsMax) {
      steps_.pop_front();
    }
  }
  ++total_;
}

// To the next step: by what a step holds, or, after one that was different, by time.
void RankRhythm::MoveCursors(const Chain::Entry& to, bool by_length) {
  const TimeNs turn = to.enqueue;
  for (const Slot& slot : slots_) {
    const auto found = lines_.find(slot.key);
    if (found == lines_.end()) {
      continue;
    }
    Line& line = found->second;
    line.cursor = by_length ? line.cursor + slot.length : FirstFrom(line.chain, 0, turn);
  }
}

}  // namespace c4::detect
