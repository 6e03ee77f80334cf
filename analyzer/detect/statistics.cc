#include "analyzer/detect/statistics.h"

#include <algorithm>
#include <cmath>

namespace c4::detect {

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

double Median(std::vector<double> values) {
  const std::size_t n = values.size();
  if (n == 0) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(values.begin(), middle, values.end());
  return n % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double Spread(const std::vector<double>& values) {
  const double middle = Median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) {
    deviations.push_back(std::abs(value - middle));
  }
  return 1.4826 * Median(std::move(deviations));
}

double MedianWithout(const std::vector<double>& sorted, std::size_t index) {
  const std::size_t n = sorted.size() - 1;
  const auto at = [&](std::size_t i) { return sorted[i < index ? i : i + 1]; };
  return n % 2 == 1 ? at(n / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
}

}  // namespace c4::detect
