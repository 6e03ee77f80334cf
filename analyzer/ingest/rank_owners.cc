#include "analyzer/ingest/rank_owners.h"

#include <algorithm>
#include <tuple>
#include <variant>

#include "fmt/format.h"

namespace c4::ingest {

void RankOwners::ForgetOldestJob() {
  const auto oldest = std::min_element(jobs_.begin(), jobs_.end(), [](auto& a, auto& b) {
    return a.second.announced < b.second.announced;
  });
  count_ -= oldest->second.ranks.size();
  jobs_.erase(oldest);
}

absl::Status RankOwners::Claim(const model::RankRecord& rank, model::TimeNs started_at) {
  // Before the job of this rank is touched, so that it may be the one that goes.
  if (count_ >= ranks_max_ && !jobs_.empty()) ForgetOldestJob();
  Job& job = jobs_[rank.job];
  job.announced = ++turns_;
  const auto [known, is_new] = job.ranks.try_emplace(rank.rank);
  Owner& owner = known->second;
  if (is_new) {
    ++count_;
  } else if (owner.node != rank.node && std::tie(rank.incarnation, started_at) <=
                                            std::tie(owner.incarnation, owner.started_at)) {
    return absl::PermissionDeniedError(fmt::format("rank {} of job {} is on node {}, not {}",
                                                   rank.rank, rank.job, owner.node, rank.node));
  }
  owner = {rank.node, rank.incarnation, started_at};
  return absl::OkStatus();
}

absl::Status RankOwners::Check(const std::string& job, int rank, const std::string& node) const {
  const auto ranks = jobs_.find(job);
  if (ranks == jobs_.end()) return absl::OkStatus();
  const auto owner = ranks->second.ranks.find(rank);
  if (owner == ranks->second.ranks.end() || owner->second.node == node) return absl::OkStatus();
  return absl::PermissionDeniedError(
      fmt::format("rank {} of job {} is on node {}, not {}", rank, job, owner->second.node, node));
}

absl::Status RankOwners::Check(const model::Record& record, const std::string& node) const {
  return std::visit(
      [&](const auto& fact) -> absl::Status {
        if constexpr (requires {
                        fact.job;
                        fact.rank;
                      }) {
          if (fact.rank < 0) return absl::OkStatus();
          return Check(fact.job, fact.rank, node);
        } else {
          return absl::OkStatus();
        }
      },
      record);
}

}  // namespace c4::ingest
