#include "analyzer/detect/cycle.h"

#include <algorithm>
#include <functional>
#include <string>

namespace c4::detect {
namespace {

using model::Operation;
using model::TimeNs;

// FNV-1a over the fields; only compared within one process.
std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3ULL;
}

std::uint64_t Text(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash = Mix(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

// Not the count, which varies with sequence length between replicas; but whether a Send goes up or
// down the pipeline, which tells its first stage from its last.
std::uint64_t RoleOf(const Operation& operation) {
  const std::uint64_t direction =
      model::IsPointToPoint(operation.kind) ? (operation.peer > operation.member ? 2 : 1) : 0;
  return Mix(Mix(Text(*operation.name), direction), Text(*operation.datatype));
}

std::uint64_t SignatureOf(const Operation& operation) {
  // Not the count: sequence lengths vary from step to step, the order of calls does not.
  return Mix(Mix(Text(*operation.name), static_cast<std::uint64_t>(operation.communicator) + 1),
             static_cast<std::uint64_t>(operation.peer) + 2);
}

constexpr int kRepeats = 3;
constexpr double kRegularSpread = 1.4;

}  // namespace

void CycleTracker::Lose() {
  period_ = 0;
  checked_ = 0;
  expected_.clear();
  cycles_.clear();
  covered_ = 0;
}

void CycleTracker::Add(const Operation* operation) {
  entries_.push_back({operation, SignatureOf(*operation), RoleOf(*operation)});
  if (period_ != 0) {
    if (entries_.back().signature != expected_.front()) {
      Lose();  // another phase of the program: evaluation, a checkpoint's barrier
    } else {
      expected_.push_back(expected_.front());
      expected_.pop_front();
    }
  }
  if (period_ == 0) {
    ++since_search_;
  }
  // Also with a period: an operation that never ends holds its cycle open while others go on.
  if (entries_.size() > kRepeats * kPeriodMax) {
    Lose();
    entries_.pop_front();
  }
}

// A run of equal calls inside a longer step (buckets, layers of one kind) also repeats, but not
// evenly in time. Over all that is known, cycles of this length must take about as long as each
// other.
bool CycleTracker::IsRegular(std::size_t period) const {
  std::vector<double> spans;
  for (std::size_t i = entries_.size(); i > period; i -= period) {
    spans.push_back(static_cast<double>(entries_[i - 1].operation->enqueue -
                                        entries_[i - 1 - period].operation->enqueue));
    if (i < 2 * period + 1 || spans.size() == 32) {
      break;
    }
  }
  std::sort(spans.begin(), spans.end());
  const double middle = spans[spans.size() / 2];
  // Quartiles: a pause or two do not matter.
  return middle > 0 && spans.size() >= kRepeats - 1 &&
         spans[spans.size() * 3 / 4] < kRegularSpread * middle &&
         spans[spans.size() / 4] * kRegularSpread > middle;
}

void CycleTracker::FindPeriod() {
  const std::size_t size = entries_.size();
  for (std::size_t period = 1; period <= kPeriodMax && period * kRepeats <= size; ++period) {
    bool repeats = true;
    for (std::size_t i = size - 1; i >= size - (kRepeats - 1) * period; --i) {
      if (entries_[i].signature != entries_[i - period].signature) {
        repeats = false;
        break;
      }
      if (i == 0) {
        break;
      }
    }
    if (!repeats) {
      continue;
    }
    if (!IsRegular(period)) {
      continue;
    }
    period_ = period;
    role_ = period;
    entries_.erase(entries_.begin(),
                   entries_.end() - static_cast<std::ptrdiff_t>(kRepeats * period));
    for (std::size_t i = 0; i < period; ++i) {
      expected_.push_back(entries_[i].signature);
      role_ += entries_[i].role;  // commutative: the same from whichever operation one counts
    }
    return;
  }
}

Cycle CycleTracker::Measure() const {
  struct Span {
    TimeNs start;
    TimeNs end;
    TimeNs enqueue;
  };
  std::vector<Span> spans;
  for (std::size_t i = 0; i <= period_; ++i) {
    const Operation& operation = *entries_[i].operation;
    spans.push_back(
        {operation.start, i < period_ ? operation.end : operation.start, operation.enqueue});
  }
  Cycle cycle;
  cycle.begin = std::max(spans.front().start, covered_);
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  TimeNs busy_until = cycle.begin;
  cycle.end = entries_[period_].operation->start;
  for (const Span& span : spans) {
    if (span.start >= cycle.end) {
      break;
    }
    if (span.start > busy_until) {
      cycle.own += span.start - busy_until;
      cycle.host += std::clamp<TimeNs>(span.enqueue - busy_until, 0, span.start - busy_until);
    }
    busy_until = std::max(busy_until, span.end);
  }
  if (busy_until < cycle.end) {
    cycle.own += cycle.end - busy_until;
    cycle.host += std::clamp<TimeNs>(entries_[period_].operation->enqueue - busy_until, 0,
                                     cycle.end - busy_until);
  }
  return cycle;
}

int CycleTracker::Advance(TimeNs now) {
  if (period_ == 0) {
    // Searching costs the square of what is new: only after a tenth more has come.
    if (since_search_ * 10 < entries_.size()) {
      return 0;
    }
    since_search_ = 0;
    FindPeriod();
    if (period_ == 0) {
      return 0;
    }
  }
  int closed = 0;
  while (entries_.size() > period_) {
    bool complete = entries_[period_].operation->StartedBy(now);
    bool blind = false;
    for (std::size_t i = 0; i < period_ && complete; ++i) {
      blind |= entries_[i].operation->Blind();
      complete = blind || entries_[i].operation->EndedBy(now);
    }
    if (!complete && !blind) {
      return closed;
    }
    if (!blind) {
      cycles_.push_back(Measure());
      if (cycles_.size() > kHistory) {
        cycles_.pop_front();
      }
      for (std::size_t i = 0; i < period_; ++i) {
        covered_ = std::max(covered_, entries_[i].operation->end);
      }
      covered_ = std::min(covered_, cycles_.back().end);
    }
    ++total_;
    ++closed;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(period_));
  }
  return closed;
}

}  // namespace c4::detect
