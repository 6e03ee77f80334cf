#include "agent/telemetry/nic_filter.h"

#include <algorithm>

namespace c4::agent {

NicFilter::NicFilter(std::string_view specification) {
  // In this order, as in NCCL: "^=eth0".
  if (specification.starts_with('^')) {
    is_exclusion_ = true;
    specification.remove_prefix(1);
  }
  if (specification.starts_with('=')) {
    is_exact_ = true;
    specification.remove_prefix(1);
  }
  while (!specification.empty()) {
    const std::size_t comma = std::min(specification.find(','), specification.size());
    std::string_view name = specification.substr(0, comma);
    // The port is the device's business: a verdict names the device.
    name = name.substr(0, name.find(':'));
    if (!name.empty()) {
      names_.emplace_back(name);
    }
    specification.remove_prefix(std::min(comma + 1, specification.size()));
  }
}

bool NicFilter::Takes(std::string_view device) const {
  if (names_.empty()) {
    return true;
  }
  const bool is_listed = std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    return is_exact_ ? device == name : device.starts_with(name);
  });
  return is_listed != is_exclusion_;
}

}  // namespace c4::agent
