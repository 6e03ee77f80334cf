// Which node speaks for which rank. An agent may speak for the ranks that it announced; records of
// a rank that another node announced are refused. A rank that nobody announced yet is anybody's:
// its announcement may have been dropped on the way.
//
// A rank moves to another node when the job is restarted: the announcement of a later process
// (higher incarnation, or started later) takes it over. This keeps honest agents from confusing
// each other; what a hostile agent may claim is a matter of its credentials, not of this table.
//
// Owner thread only. Bounded by kOwnedRanksMax: at the limit the job that announced nothing for
// longest is forgotten, and its ranks are anybody's again.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "analyzer/ingest/limits.h"
#include "analyzer/model/time.h"
#include "analyzer/model/trace.h"

namespace c4::ingest {

class RankOwners {
 public:
  explicit RankOwners(std::size_t ranks_max = limits::kOwnedRanksMax) : ranks_max_(ranks_max) {}

  // An announcement by rank.node. kPermissionDenied when another node's later process has the rank.
  absl::Status Claim(const model::RankRecord& rank, model::TimeNs started_at);

  // kPermissionDenied when `node` may not speak for (job, rank).
  absl::Status Check(const std::string& job, int rank, const std::string& node) const;

  // The same for whatever rank the record is about; records about nodes always pass.
  absl::Status Check(const model::Record& record, const std::string& node) const;

 private:
  struct Owner {
    std::string node;
    std::uint32_t incarnation = 0;
    model::TimeNs started_at = 0;
  };

  struct Job {
    std::unordered_map<int, Owner> ranks;
    std::uint64_t announced = 0;  // of turns_
  };
  void ForgetOldestJob();

  const std::size_t ranks_max_;
  std::size_t count_ = 0;
  std::uint64_t turns_ = 0;
  std::unordered_map<std::string, Job> jobs_;
};

}  // namespace c4::ingest
