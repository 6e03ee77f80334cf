// Whether a deviation persists: a one-sided cumulative sum (CUSUM, Page 1954) over steps, in
// standard deviations, each step's contribution capped, so that neither one long pause nor noise
// adds up to an alarm and a small steady excess does. One per rank. Plain value.
#pragma once

#include <cstddef>
#include <deque>

#include "analyzer/model/time.h"

namespace c4::detect {

class Persistence {
 public:
  // At zero mean and drift k = 0.75 sigma the sum passes h about once in exp(2 k h) excursions:
  // exp(-12) at 8, exp(-18) at 12.
  static constexpr double kSuspectSum = 8;
  static constexpr double kConfirmSum = 12;
  static constexpr double kDriftMin = 0.75;
  static constexpr double kStepMax = 4;
  static constexpr double kSumMax = 24;  // recovery is seen within as many steps as the alarm took
  static constexpr std::size_t kHistory = 64;

  // `excess` and `sigma` as shares of the step; `effect_min`: what matters at all.
  void Add(double excess, double sigma, double effect_min, model::TimeNs begin);

  // In an excursion from zero.
  bool active() const { return !history_.empty(); }
  double sum() const { return sum_; }
  // Of the change: where the excess, as far as remembered, most likely began.
  model::TimeNs onset() const { return onset_; }
  int steps() const { return steps_; }   // since then
  double mean() const { return mean_; }  // of the excess since then

 private:
  struct Entry {
    double excess = 0;
    model::TimeNs begin = 0;
  };
  void FindChange();

  std::deque<Entry> history_;  // of the excursion
  double sum_ = 0;
  model::TimeNs onset_ = 0;
  int steps_ = 0;
  double mean_ = 0;
};

}  // namespace c4::detect
