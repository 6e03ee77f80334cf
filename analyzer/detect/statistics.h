// Robust statistics over small samples: medians and their spread. Pure functions.
#pragma once

#include <cstddef>
#include <vector>

namespace c4::detect {

// 0 for none; of an even number the mean of the two in the middle.
double Median(std::vector<double> values);
// The value below which `share` of the values lie; 0 for none.
double Quantile(std::vector<double> values, double share);
// Median absolute deviation, scaled by 1.4826 to be the standard deviation of a normal
// distribution.
double Spread(const std::vector<double>& values);
// The median of `sorted` without the element at `index`; needs two elements or more.
double MedianWithout(const std::vector<double>& sorted, std::size_t index);

}  // namespace c4::detect
