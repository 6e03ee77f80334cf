// NCCL's way of naming network devices in NCCL_SOCKET_IFNAME and NCCL_IB_HCA:
//
//   [^][=]name[:port][,name[:port]…]     prefixes; "=" whole names; "^" all but these
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace c4::agent {

class NicFilter {
 public:
  explicit NicFilter(std::string_view specification);

  // An empty specification takes everything.
  bool Takes(std::string_view device) const;
  bool is_exclusion() const { return is_exclusion_; }

 private:
  std::vector<std::string> names_;
  bool is_exact_ = false;
  bool is_exclusion_ = false;
};

}  // namespace c4::agent
