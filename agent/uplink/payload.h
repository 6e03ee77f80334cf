// One batch on its way to the analyzer, already encoded: what may be dropped when the analyzer is
// away (operations) apart from what may not (everything else). The two are encodings of
// c4.v1.Batch; protobuf merges them when they are concatenated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace c4::agent {

struct OperationCount {
  std::string job;
  std::int32_t rank = -1;
  std::uint64_t count = 0;
};

struct Payload {
  std::int64_t complete_until_ns = 0;  // since the epoch
  std::string control;                 // ranks, communicators, processes, events …
  std::uint64_t control_records = 0;
  std::string operations;
  std::vector<OperationCount> operation_counts;  // by rank, for the loss records

  std::size_t Bytes() const { return control.size() + operations.size(); }
};

}  // namespace c4::agent
