// How many records were refused, by the words of RejectCause(), and why the first one was.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "analyzer/ingest/validate.h"
#include "common/string_view.h"

namespace c4::ingest {

class RejectCounts {
 public:
  void Add(const absl::Status& why, std::uint64_t count = 1) {
    if (total_ == 0) first_ = ToStd(why.message());
    total_ += count;
    by_cause_[RejectCause(why.code())] += count;
  }
  void Add(const RejectCounts& other) {
    if (total_ == 0) first_ = other.first_;
    total_ += other.total_;
    for (const auto& [cause, count] : other.by_cause_) by_cause_[cause] += count;
  }

  std::uint64_t total() const { return total_; }
  const std::map<std::string, std::uint64_t>& by_cause() const { return by_cause_; }
  const std::string& first() const { return first_; }

 private:
  std::uint64_t total_ = 0;
  std::map<std::string, std::uint64_t> by_cause_;  // bounded: RejectCause() knows six words
  std::string first_;
};

}  // namespace c4::ingest
