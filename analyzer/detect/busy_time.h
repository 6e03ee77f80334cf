// When a rank was inside any operation, on its node's clock. Plain value.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/detect/rank_rhythm.h"

namespace c4::detect {

// When a rank was inside any operation.
class BusyTime {
 public:
  void Add(const std::vector<Sample>& samples) {
    for (const Sample& sample : samples) {
      if (sample.known()) {
        spans_.emplace_back(sample.start, sample.end);
      }
    }
  }
  // Before Idle(): merges what overlaps.
  void Close() {
    std::sort(spans_.begin(), spans_.end());
    std::size_t used = 0;
    for (const auto& span : spans_) {
      if (used > 0 && span.first <= spans_[used - 1].second) {
        spans_[used - 1].second = std::max(spans_[used - 1].second, span.second);
      } else {
        spans_[used++] = span;
      }
    }
    spans_.resize(used);
  }
  // Time between `from` and `to` outside all operations; negative where `to` comes first.
  double Idle(model::TimeNs from, model::TimeNs to) const {
    if (to <= from) {
      return static_cast<double>(to - from);
    }
    model::TimeNs idle = to - from;
    auto span = std::upper_bound(spans_.begin(), spans_.end(), std::pair{from, model::TimeNs{0}});
    if (span != spans_.begin()) {
      --span;
    }
    for (; span != spans_.end() && span->first < to; ++span) {
      idle -= std::max<model::TimeNs>(0, std::min(to, span->second) - std::max(from, span->first));
    }
    return static_cast<double>(idle);
  }

 private:
  std::vector<std::pair<model::TimeNs, model::TimeNs>> spans_;
};

}  // namespace c4::detect
