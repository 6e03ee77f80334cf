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
// Durations of repeats may vary by this much (robust standard deviation over median): sequence
// lengths do.
constexpr double kUnevenMax = 0.25;
// Below this all lengths are even; above, one that is within a factor of the most even.
constexpr double kEven = 0.01;
constexpr double kAsEven = 1.6;
constexpr std::size_t kSpansMin = 32;
constexpr std::size_t kSpansMax = 512;
// All lengths repeat where all operations are alike; a step of more such than this is not found.
constexpr std::size_t kCandidatesMax = 256;
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

// How much the durations of repeats of this length vary, as a share of their median; from every
// operation on, so that a wrong length cannot hide between the places that happen to be even. 1:
// not known.
double Chain::Unevenness(std::size_t length, model::DurationNs* duration) const {
  std::vector<double> spans;
  for (std::size_t i = entries_.size() - 1; i >= length && spans.size() < kSpansMax; --i) {
    // When the GPU came to it: the host may have called a whole step ahead, all at once.
    const TimeNs later = entries_[i].start;
    const TimeNs earlier = entries_[i - length].start;
    if (later != 0 && earlier != 0) {
      spans.push_back(static_cast<double>(later - earlier));
    }
    if (spans.size() >= kSpansMin && spans.size() >= kRepeats * length) {
      break;
    }
  }
  const double middle = Median(spans);
  if (spans.size() < kRepeats - 1 || middle <= 0) {
    return 1;
  }
  *duration = static_cast<model::DurationNs>(middle);
  return Spread(spans) / middle;
}

// A run of equal calls inside a longer step (buckets, layers of one kind) also repeats, but not
// evenly in time: the shortest repeat that is about as even as the most even one.
bool Chain::Search() {
  // Searching costs the square of what is new: only after a tenth more has come.
  if (length_ != 0 || since_search_ * 10 < entries_.size()) {
    return length_ != 0;
  }
  since_search_ = 0;
  struct Candidate {
    std::size_t length;
    double unevenness;
    model::DurationNs duration;
    // Of a multiple of the true length it is smaller by the square root: what varies averages out.
    double score() const {
      return std::max(unevenness, kEven) * std::sqrt(static_cast<double>(length));
    }
  };
  std::vector<Candidate> candidates;
  double best = std::numeric_limits<double>::max();
  for (std::size_t length = 1; length <= kLengthMax && length * kRepeats <= entries_.size() &&
                               candidates.size() < kCandidatesMax;
       ++length) {
    if (!Repeats(length)) {
      continue;
    }
    Candidate candidate{length, 1, 0};
    candidate.unevenness = Unevenness(length, &candidate.duration);
    best = std::min(best, candidate.score());
    candidates.push_back(candidate);
  }
  for (const Candidate& candidate : candidates) {
    if (candidate.unevenness >= kUnevenMax || candidate.score() > kAsEven * best) {
      continue;
    }
    std::vector<std::uint64_t> pattern(candidate.length, 0);
    for (std::size_t i = entries_.size() - kRepeats * candidate.length; i < entries_.size(); ++i) {
      if (entries_[i].signature != 0) {
        pattern[entries_[i].sequence % candidate.length] = entries_[i].signature;
      }
    }
    if (std::find(pattern.begin(), pattern.end(), 0) != pattern.end()) {
      continue;
    }
    pattern_ = std::move(pattern);
    length_ = candidate.length;
    duration_ = candidate.duration;
    shift_ = 0;
    insertions_ = 0;
    return true;
  }
  return false;
}

}  // namespace c4::detect
