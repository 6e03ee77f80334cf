// What is known of a job beside its ranks' operations: the job's own record, the phases it
// announced, and the sums of its connections. Bounded; one owner thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/model/trace.h"

namespace c4::model {

class JobFacts {
 public:
  // A window a second: what a diagnosis of half a minute needs, and room for late ones.
  static constexpr std::size_t kFlowsPerConnection = 64;
  // 16,384 ranks with four connections each; a record over that is dropped.
  static constexpr std::size_t kConnectionsMax = 65536;
  static constexpr std::size_t kPhasesMax = 1024;

  void Apply(const JobRecord& record) { job_ = record; }
  void Apply(const PhaseRecord& record);
  void Apply(const FlowRecord& record);

  const JobRecord& job() const { return job_; }
  // The phase announced last; its name is empty when none was.
  PhaseRecord PhaseAt(TimeNs now) const;
  // How long the longest phase of that name took that was over by `now`.
  DurationNs LongestPhase(const std::string& name, TimeNs now) const;
  // Windows that ended within (from, to], by connection and time.
  std::vector<FlowRecord> Flows(TimeNs from, TimeNs to) const;

 private:
  using Connection = std::tuple<int, int, std::string, int>;  // rank, peer, communicator, channel
  JobRecord job_;
  std::map<TimeNs, std::string> phases_;
  std::map<Connection, std::map<TimeNs, FlowRecord>> flows_;
};

}  // namespace c4::model
