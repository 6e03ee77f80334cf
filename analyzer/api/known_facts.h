// What does not come again and without which a recording that begins now could not be read: jobs,
// ranks, processes that have exited, agents that are silent. (Communicators are with the
// assembler.)
//
// Owner thread only. Bounded in jobs and ranks: at the limit the job that was heard of longest ago
// goes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "analyzer/ingest/limits.h"
#include "analyzer/model/trace.h"

namespace c4::api {

class KnownFacts {
 public:
  explicit KnownFacts(std::size_t size_max = ingest::limits::kOwnedRanksMax)
      : size_max_(size_max) {}

  // Cheap for the records that it does not keep, which are nearly all.
  void Note(const model::Record& record) {
    std::visit([this](const auto& fact) { Keep(fact); }, record);
  }

  // Jobs before their ranks, ranks before what happened to them.
  void Visit(const std::function<void(const model::Record&)>& give) const;

 private:
  struct Rank {
    model::RankRecord record;
    std::optional<model::ProcessRecord> exit;
  };
  struct Job {
    std::optional<model::JobRecord> record;
    std::map<int, Rank> ranks;
    std::uint64_t heard = 0;  // of turns_
  };

  template <typename Fact>
  void Keep(const Fact& /*fact*/) {}
  void Keep(const model::JobRecord& job);
  void Keep(const model::RankRecord& rank);
  void Keep(const model::ProcessRecord& process);
  void Keep(const model::AgentRecord& agent);
  Job& Of(const std::string& name);
  void MakeRoom();

  const std::size_t size_max_;
  std::size_t size_ = 0;  // jobs and ranks
  std::uint64_t turns_ = 0;
  std::map<std::string, Job> jobs_;
  std::map<std::string, model::AgentRecord> silent_;  // by node
};

}  // namespace c4::api
