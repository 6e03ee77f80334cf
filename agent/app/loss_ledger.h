// Totals of what could not be delivered, and which of them the analyzer does not know yet. One
// owner thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "agent/app/batch_builder.h"

namespace c4::agent {

class LossLedger {
 public:
  // The total of one source; several files of one rank (a restarted process) add up.
  void Set(const std::string& source, const std::string& job, std::int32_t rank,
           const std::string& cause, std::uint64_t total) {
    std::uint64_t& known = by_source_[{source, job, rank, cause}];
    if (total <= known) {
      return;
    }
    Total& sum = totals_[{job, rank, cause}];
    sum.count += total - known;
    known = total;
  }

  // A source that will not be heard of again; its losses stay in the totals.
  void Forget(const std::string& source) {
    std::erase_if(by_source_,
                  [&](const auto& entry) { return std::get<0>(entry.first) == source; });
  }

  // Those that have grown since they were last written.
  void Write(BatchBuilder* builder) {
    for (auto& [key, total] : totals_) {
      if (total.count != total.written) {
        const auto& [job, rank, cause] = key;
        builder->AddLoss(job, rank, cause, total.count);
        total.written = total.count;
      }
    }
  }

  // A new analyzer knows none.
  void Rewind() {
    for (auto& [key, total] : totals_) {
      total.written = 0;
    }
  }

 private:
  struct Total {
    std::uint64_t count = 0;
    std::uint64_t written = 0;
  };
  std::map<std::tuple<std::string, std::string, std::int32_t, std::string>, std::uint64_t>
      by_source_;
  std::map<std::tuple<std::string, std::int32_t, std::string>, Total> totals_;
};

}  // namespace c4::agent
