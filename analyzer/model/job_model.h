// All that is known of one incarnation of one job: ranks, communicators, operations.
//
// Built by applying records in any order, read as of a moment T (see Operation). Bounded: each rank
// keeps its last kOperationsPerRank operations, and the oldest make room as time advances (never
// between, so that how often that is does not matter). What comes faster than that is dropped and
// counted. One owner thread. Pointers to operations are good until the AdvanceTo after next.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/model/operation.h"
#include "analyzer/model/trace.h"

namespace c4::model {

struct Communicator {
  std::string id;
  std::vector<int> ranks;  // global rank by member; -1: not known yet
};

struct Rank {
  RankRecord info;
  std::deque<Operation> operations;
  std::vector<Operation*> open;  // not ended as of the last tick, in order of enqueue
  std::vector<ProcessRecord> exits;
  std::deque<HostStateRecord> hosts;
  std::deque<ErrorRecord> errors;
};

// What belongs together: one collective of a communicator, or a Send and its Recv.
struct Instance {
  std::vector<Operation*> members;  // sorted by rank
};

class JobModel {
 public:
  // 16,384 operations: what the hook's ring holds; about 2 MiB a rank.
  static constexpr std::size_t kOperationsPerRank = 16384;
  // Not yet covered by the watermark: an agent that held it back for a minute at 1,000
  // collectives/s.
  static constexpr std::size_t kOperationsAheadPerRank = 65536;
  static constexpr std::size_t kHostStatesPerRank = 64;

  JobModel(std::string name, std::uint32_t incarnation);

  void Apply(const RankRecord& record);
  void Apply(const CommunicatorRecord& record);
  void Apply(const OperationRecord& record);
  void Apply(const ProcessRecord& record);
  void Apply(const HostStateRecord& record);
  void Apply(const ErrorRecord& record);

  // Takes the facts up to `now` into the derived state below.
  void AdvanceTo(TimeNs now);

  const std::string& name() const { return name_; }
  std::uint32_t incarnation() const { return incarnation_; }
  std::map<int, Rank>& ranks() { return ranks_; }
  const std::map<int, Rank>& ranks() const { return ranks_; }
  const std::vector<std::unique_ptr<Communicator>>& communicators() const { return communicators_; }
  const Communicator& communicator(int index) const { return *communicators_[index]; }
  const Instance* InstanceOf(const Operation& operation) const;
  // Operation of `rank` in the same instance; nullptr: none known.
  const Operation* Counterpart(const Operation& operation, int rank) const;
  // Global ranks that must have started before `operation` can end, without itself. May hold -1.
  std::vector<int> MustStart(const Operation& operation) const;
  std::set<std::string> NodesOf(const std::vector<int>& ranks) const;
  std::string NodeOf(int rank) const;
  std::optional<ProcessRecord> ExitOf(int rank, TimeNs now) const;

  TimeNs first_seen() const { return first_seen_; }
  TimeNs last_movement() const { return last_movement_; }  // as of the last AdvanceTo
  std::uint64_t operation_count() const { return operation_count_; }
  std::uint64_t operations_dropped() const { return operations_dropped_; }
  // From when the job counts as having a rhythm: some communicator has completed its third
  // operation. 0: not yet; before that no silence means anything (start-up, compilation).
  TimeNs steady_since() const { return steady_since_; }
  DurationNs longest_gap() const { return longest_gap_; }  // between movements since then
  // Instances that completed since the last call, for the detectors of slowness.
  std::vector<const Instance*> TakeCompleted();
  // Operations that got enqueued since the last call, and those that ended or turned out blind.
  std::vector<Operation*> TakeEnqueued();
  std::vector<const Operation*> TakeSettled();

 private:
  using OperationKey =
      std::tuple<int, std::uint64_t, int, int>;  // communicator, sequence, p2p kind, peer
  using InstanceKey = std::tuple<int, std::uint64_t, int, int>;  // communicator, sequence, from, to

  int CommunicatorIndex(const std::string& id);
  InstanceKey KeyOf(const Operation& operation) const;
  void Join(Operation* operation);
  void Leave(Operation* operation);
  void NoteTime(TimeNs time);
  const std::string* Intern(const std::string& text);
  void Complete(const Operation& operation);
  void Forget(Rank* rank);
  OperationKey KeyInRank(const Operation& operation) const;

  const std::string name_;
  const std::uint32_t incarnation_;
  std::map<int, Rank> ranks_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::map<std::string, int> communicator_index_;
  absl::flat_hash_map<int, absl::flat_hash_map<OperationKey, Operation*>> by_key_;  // per rank
  absl::flat_hash_map<InstanceKey, std::unique_ptr<Instance>> instances_;
  std::set<std::string> words_;
  // Times of facts later than the last AdvanceTo.
  std::priority_queue<TimeNs, std::vector<TimeNs>, std::greater<>> future_;
  std::vector<Operation*> to_enqueue_;  // not enqueued as of the last tick
  std::vector<Operation*> enqueued_;
  std::vector<const Operation*> settled_;
  std::vector<const Instance*> completed_;
  TimeNs now_ = 0;
  TimeNs first_seen_ = 0;
  TimeNs last_movement_ = 0;
  DurationNs longest_gap_ = 0;
  TimeNs steady_since_ = 0;
  absl::flat_hash_map<int, int> completions_;  // per communicator
  std::uint64_t operation_count_ = 0;
  std::uint64_t operations_dropped_ = 0;
};

}  // namespace c4::model
