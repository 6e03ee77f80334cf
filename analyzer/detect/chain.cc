#include "analyzer/detect/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyzer/detect/hash.h"
#include "analyzer/detect/statistics.h"

namespace c4::detect {
namespace {

using model::TimeNs;

constexpr std::size_t kRepeats = 3;
// Four fifths of the repeats' durations lie within this share of their median: sequence lengths
// vary.
constexpr double kUnevenMax = 0.7;
// Below this all differences are noise; above, one that is within a factor of the least.
constexpr double kEven = 0.02;
constexpr double kAsEven = 1.6;
constexpr double kClearlyBetter = 0.6;
// To give up a repeat for another one.
constexpr double kSurelyBetter = 0.3;
constexpr std::size_t kSurelyRepeats = 4;
constexpr std::size_t kSurelyMin = 16;
constexpr std::size_t kGapsMax = 256;
constexpr std::size_t kPauseDivisor = 64;  // one in so many differences may be a pause's
// All lengths repeat where all operations are alike; a step of more such than this is not found.
constexpr std::size_t kCandidatesMax = 128;
// A longer hole is no loss of records but a gap in what was seen: begin anew.
constexpr std::uint64_t kHoleMax = 64;

}  // namespace

std::uint64_t SignatureOf(const model::Operation& operation) {
  const std::uint64_t hash = HashText(*operation.name, HashText(*operation.datatype));
  return hash == 0 ? 1 : hash;
}

void Chain::Lose() {
  length_ = 0;
  pattern_.clear();
  shift_ = 0;
  insertions_ = 0;
  ++losses_;
}

void Chain::Add(std::uint64_t ordinal, const model::Operation& operation) {
  if (!entries_.empty()) {
    const std::uint64_t last = entries_.back().sequence;
    if (ordinal <= last) {
      return;
    }
    if (ordinal - last > kHoleMax) {
      entries_.clear();
      Lose();
    } else {
      for (std::uint64_t hole = last + 1; hole < ordinal; ++hole) {
        entries_.push_back({.sequence = hole, .settled = true});
        ++since_search_;
      }
    }
  }
  entries_.push_back({.sequence = ordinal,
                      .signature = SignatureOf(operation),
                      .group = operation.group,
                      .enqueue = operation.enqueue});
  ++since_search_;
  if (length_ != 0) {
    Verify(entries_.back());
  }
  // Also with a repeat: an operation that never ends holds its step open while others go on.
  if (entries_.size() > kRepeats * kLengthMax) {
    entries_.erase(entries_.begin(), entries_.begin() + kLengthMax);
    if (length_ != 0) {
      Lose();
    }
  }
}

void Chain::Settle(std::uint64_t ordinal, const model::Operation& operation) {
  // Dense: an entry per number.
  if (entries_.empty() || ordinal < entries_.front().sequence ||
      ordinal > entries_.back().sequence) {
    return;
  }
  Entry& entry = entries_[ordinal - entries_.front().sequence];
  if (!entry.settled && !operation.Blind()) {
    entry.start = operation.start;
    entry.end = operation.end;
  }
  entry.settled = true;
}

// One operation more than usual (a norm every tenth step, a barrier) shifts the pattern; many of
// them are another phase of the program.
void Chain::Verify(const Entry& entry) {
  if (entry.signature == pattern_[(entry.sequence - shift_) % length_]) {
    return;
  }
  ++shift_;
  if (++insertions_ > std::max<std::size_t>(1, length_ / 4)) {
    Lose();
  }
}

bool Chain::IsBoundary(const Entry& entry) const {
  const std::uint64_t place = (entry.sequence - shift_) % length_;
  return place == 0 && entry.signature == pattern_[0];
}

bool Chain::Repeats(std::size_t length) const {
  const std::size_t size = entries_.size();
  for (std::size_t i = size - (kRepeats - 1) * length; i < size; ++i) {
    const std::uint64_t now = entries_[i].signature;
    const std::uint64_t before = entries_[i - length].signature;
    if (now != before && now != 0 && before != 0) {
      return false;
    }
  }
  return true;
}

// How much the distance between operations differs from the one `length` operations ago, as a share
// of the mean distance; without the largest differences, which are pauses.
double Chain::Difference(std::size_t length) const {
  std::vector<double> differences;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = entries_.size() - 1; i > length && differences.size() < kGapsMax; --i) {
    const double now = Gap(i);
    const double before = Gap(i - length);
    if (now >= 0) {
      sum += now;
      ++count;
    }
    if (now >= 0 && before >= 0) {
      differences.push_back(std::abs(now - before));
    }
  }
  if (differences.size() < kRepeats - 1 || sum <= 0) {
    return std::numeric_limits<double>::max();
  }
  const std::size_t kept = differences.size() - differences.size() / kPauseDivisor;
  std::nth_element(differences.begin(), differences.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                   differences.end());
  differences.resize(kept);
  double total = 0;
  for (const double difference : differences) {
    total += difference;
  }
  return total / static_cast<double>(differences.size()) / (sum / static_cast<double>(count));
}

// Between operation i and the one before it, when the GPU came to them: the host may have called a
// whole step ahead, all at once. -1: not known.
double Chain::Gap(std::size_t i) const {
  const TimeNs later = entries_[i].start;
  const TimeNs earlier = entries_[i - 1].start;
  return later == 0 || earlier == 0 ? -1 : static_cast<double>(later - earlier);
}

// Whether repeats of this length take about as long.
bool Chain::IsRegular(std::size_t length, model::DurationNs* duration) const {
  std::vector<double> spans;
  for (std::size_t i = entries_.size() - 1; i >= length && spans.size() < kGapsMax; --i) {
    if (entries_[i].start != 0 && entries_[i - length].start != 0) {
      spans.push_back(static_cast<double>(entries_[i].start - entries_[i - length].start));
    }
  }
  const double middle = Median(spans);
  if (spans.size() < kRepeats - 1 || middle <= 0) {
    return false;
  }
  *duration = static_cast<model::DurationNs>(middle);
  return Quantile(spans, 0.9) - Quantile(spans, 0.1) < kUnevenMax * middle;
}

// A run of equal calls inside a longer step (buckets, layers of one kind) also repeats in its
// names, but not in its distances.
std::size_t Chain::FindLength(model::DurationNs* duration) const {
  std::vector<std::pair<std::size_t, double>> candidates;
  double best = std::numeric_limits<double>::max();
  for (std::size_t length = 1; length <= kLengthMax && length * kRepeats <= entries_.size() &&
                               candidates.size() < kCandidatesMax;
       ++length) {
    if (Repeats(length)) {
      candidates.emplace_back(length, std::max(Difference(length), kEven));
      best = std::min(best, candidates.back().second);
    }
  }
  if (candidates.empty()) {
    return 0;
  }
  // The shortest, unless a longer one explains the distances clearly better.
  std::size_t chosen = candidates.front().first;
  const double shortest = candidates.front().second;
  for (const auto& [length, difference] : candidates) {
    if (difference <= kAsEven * best) {
      chosen = difference < kClearlyBetter * shortest ? length : chosen;
      break;
    }
  }
  return IsRegular(chosen, duration) ? chosen : 0;
}

bool Chain::Search() {
  // Searching costs the square of what is new: only after a tenth more has come. What is found is
  // checked as well, after half as much again: in the first step its buckets looked like steps.
  const std::size_t fresh = entries_.size() / (length_ == 0 ? 10 : 2);
  if (since_search_ < std::max<std::size_t>(1, fresh)) {
    return length_ != 0;
  }
  since_search_ = 0;
  model::DurationNs duration = 0;
  const std::size_t length = FindLength(&duration);
  if (length_ != 0) {
    // A stretch without rhythm is no other rhythm, nor is one that is a little better by chance.
    if (length == 0 || entries_.size() < kSurelyRepeats * length + kSurelyMin ||
        Difference(length) > kSurelyBetter * Difference(length_)) {
      return true;
    }
    Lose();
  }
  if (length == 0) {
    return false;
  }
  std::vector<std::uint64_t> pattern(length, 0);
  for (std::size_t i = entries_.size() - kRepeats * length; i < entries_.size(); ++i) {
    if (entries_[i].signature != 0) {
      pattern[entries_[i].sequence % length] = entries_[i].signature;
    }
  }
  if (std::find(pattern.begin(), pattern.end(), 0) != pattern.end()) {
    return false;
  }
  pattern_ = std::move(pattern);
  length_ = length;
  duration_ = duration;
  shift_ = 0;
  insertions_ = 0;
  return true;
}

}  // namespace c4::detect
