// The rhythm of one rank: its steps, each as the operations of the rank's chains in a fixed order,
// so that a place in a step can be compared with the same place on peers and in other steps.
//
// The chain with the longest regular repeat is the anchor: one repeat of it is a step. The other
// chains contribute what they enqueue meanwhile, if that is the same number in each step; a step
// where it is not (a checkpoint, an evaluation, lost records) is left out. Groups share one
// interval, which counts once; a rank that exchanges with three and more peers of a communicator
// is in one operation with all of them. Fed in order of enqueue; bounded. Owner thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "analyzer/detect/chain.h"
#include "analyzer/model/job_model.h"

namespace c4::detect {

struct Sample {
  model::TimeNs enqueue = 0;
  model::TimeNs start = 0;  // 0: not known, or part of a group that is counted at another place
  model::TimeNs end = 0;
  bool known() const { return start != 0 && end >= start; }
};

struct RankStep {
  std::uint64_t key = 0;  // sequence number of its first anchor operation: the same on all peers
  model::TimeNs begin = 0;
  model::TimeNs end = 0;
  std::vector<Sample> samples;  // slot by slot
  model::DurationNs span() const { return end - begin; }
};

class RankRhythm {
 public:
  static constexpr std::size_t kChainsMax = 256;  // communicators come and go
  static constexpr std::size_t kStepsMax = 8;     // not taken yet

  void Add(const model::JobModel& job, const model::Operation& operation);
  void Settle(const model::Operation& operation);
  // Closes the steps that are complete by `now`; Take() hands them over.
  void Advance(model::TimeNs now);
  std::vector<RankStep> Take();

  bool found() const { return !slots_.empty(); }
  // Equal for ranks that do the same in a step.
  std::uint64_t role() const { return role_; }
  // Where each slot begins in RankStep::samples, and its end.
  const std::vector<std::size_t>& offsets() const { return offsets_; }
  // Global ranks from which it receives and that come before it in the communicator: the pipeline
  // stages below.
  const std::set<int>& below() const { return below_; }
  std::uint64_t total() const { return total_; }
  model::DurationNs span() const { return span_; }  // of the last step; 0: none yet

 private:
  using Key = std::tuple<int, int, int>;  // communicator, kind (-1: collective), peer
  struct Line {
    Chain chain;
    std::uint64_t size = 0;       // of the communicator
    std::uint64_t direction = 0;  // of Send and Recv: up or down
    std::uint64_t exchanges = 0;  // ordinal of the last group
    std::uint32_t group = 0;
    model::TimeNs last = 0;
    std::uint64_t cursor = 0;  // first number that belongs to no step yet
  };
  struct Slot {
    Key key;
    std::size_t length = 0;
  };

  Key KeyOf(const model::Operation& operation) const;
  bool ChooseAnchor();
  void Reset();
  const Chain::Entry* NextBoundary(std::uint64_t after) const;
  bool Learn(const Chain::Entry& from, const Chain::Entry& to);
  enum class Slice { kComplete, kIncomplete, kIrregular };
  Slice Check(const Chain::Entry& from, const Chain::Entry& to, model::TimeNs now) const;
  void Emit(const Chain::Entry& from, const Chain::Entry& to);
  void MoveCursors(const Chain::Entry& to, bool by_length);

  std::map<Key, Line> lines_;
  std::map<int, std::set<int>> partners_;  // by communicator: peers of Send and Recv
  std::set<int> below_;
  Key anchor_{-1, -1, -1};
  bool anchored_ = false;
  std::uint64_t anchor_losses_ = 0;
  std::uint64_t step_begin_ = 0;  // sequence number of the anchor's boundary
  bool has_begin_ = false;
  std::map<Key, std::size_t> learned_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> offsets_;
  std::uint64_t role_ = 0;
  int irregular_ = 0;
  std::deque<RankStep> steps_;
  std::uint64_t total_ = 0;
  model::DurationNs span_ = 0;
};

}  // namespace c4::detect
