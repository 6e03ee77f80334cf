#include "analyzer/detect/persistence.h"

#include <algorithm>

namespace c4::detect {
namespace {

constexpr std::size_t kPresent = 4;  // steps that the size of the excess is first judged by

}  // namespace

void Persistence::Add(double excess, double sigma, double effect_min, model::TimeNs begin) {
  const double drift = std::max(kDriftMin, effect_min / 2 / sigma);
  sum_ = std::clamp(sum_ + std::min(excess / sigma - drift, kStepMax), 0.0, kSumMax);
  if (sum_ == 0) {
    *this = Persistence{};
    return;
  }
  history_.push_back({excess, begin});
  if (history_.size() > kHistory) {
    history_.pop_front();
  }
  FindChange();
}

// The begin that makes most of "nothing before, this excess from then on": noise may have kept the
// sum above zero for a while before the change.
void Persistence::FindChange() {
  const std::size_t size = history_.size();
  const std::size_t present = std::min(size, kPresent);
  double level = 0;
  for (std::size_t i = size - present; i < size; ++i) {
    level += history_[i].excess / static_cast<double>(present);
  }
  double gain = 0;
  double best = 0;
  double total = 0;
  for (std::size_t i = size; i-- > 0;) {
    gain += history_[i].excess - level / 2;
    total += history_[i].excess;
    if (gain >= best || i + 1 == size) {
      best = gain;
      onset_ = history_[i].begin;
      steps_ = static_cast<int>(size - i);
      mean_ = total / static_cast<double>(steps_);
    }
  }
}

}  // namespace c4::detect
