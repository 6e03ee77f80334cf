// Transfers that take longer than they used to, or than their siblings do (communication_slow).
//
// The transfer of an operation is the shortest of its members' durations: the last one to arrive
// waits for nobody, so no clock is needed. Per path (a communicator's operation of one size, or a
// pair's Send/Recv) the median of the last transfers is held against the path's own past and
// against other paths of the same kind. Transfers that use a NIC in the same direction at the same
// time share its bandwidth: each is held to have needed as long as it would have alone
// (processor sharing), so that two pairs that happen to meet are not a slow link. Says which paths
// are slow and which are known to be good; which part that is, localise/slow_path says. Owner
// thread only; bounded history.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/model/job_model.h"
#include "analyzer/model/path_state.h"

namespace c4::detect {

struct SlowPathOptions {
  double ratio_min = 1.3;          // medians: against own past
  double fast_ratio_min = 1.2;     // fast quarter of the transfers: against own past
  double sibling_ratio_min = 1.5;  // against paths of the same kind
  double effect_min = 0.03;        // share of the step that the excess of the worst path takes
  std::size_t past_min = 12;       // transfers before there is a past
  double z_min = 4;                // difference of the medians in its standard errors
  double recovered_ratio = 1.15;   // well again below this
  // The present: as long as four steps, and not less than this.
  int recent_steps = 4;
  model::DurationNs recent_min = 3 * model::kSecond;
  std::size_t recent_transfers_min = 4;
};

class SlowPathDetector {
 public:
  explicit SlowPathDetector(const SlowPathOptions& options = {}) : options_(options) {}

  void Add(const model::JobModel& job, const model::Instance& instance);
  // All paths with enough history; slow ones only when what they cost together matters.
  std::vector<model::PathState> Detect(const model::JobModel& job, model::DurationNs step,
                                       model::TimeNs now);

 private:
  // 64 steps of a pair that exchanges eight messages in each.
  static constexpr std::size_t kHistory = 512;
  // Of one direction of a NIC: what overlaps a transfer that completes now. Its transfers are
  // always among the last of their path, which keeps 512, so the pointers hold.
  static constexpr std::size_t kUses = 64;
  struct Transfer {
    model::TimeNs end = 0;
    double ns = 0;
    double shared_ns = 0;  // sum of the overlaps with others on its NICs
    double alone_ns() const { return ns * ns / (ns + shared_ns); }
  };
  struct Use {
    model::TimeNs begin = 0;  // on the clock of the NIC's node
    model::TimeNs end = 0;
    Transfer* transfer = nullptr;
  };
  using Direction = std::tuple<std::string, std::string, bool>;  // node, NIC, true: it sends
  struct Past {
    double ns = 0;        // median
    double fast_ns = 0;   // of the fast quarter
    double error_ns = 0;  // standard error of the median
  };
  struct Comparison {
    double now_ns = 0;
    double error_ns = 0;
    bool slower = false;
    bool good = false;
  };
  using Key = std::tuple<int, std::string, int, int, int>;  // communicator, name, size class, pair
  struct History {
    std::deque<Transfer> transfers;
    model::Operation example;  // a copy: the model forgets
    Past past;                 // frozen while slow, like the next one
    Past past_alone;
    double recent_ns = 0;
    bool usable = false;
    bool slow = false;
    bool good = false;  // known to be, and not merely not known to be slow
    model::TimeNs onset = 0;
    model::TimeNs certain = 0;
  };
  using Kind = std::tuple<std::string, int, std::size_t>;  // name, size class, nodes
  Kind KindOf(const model::JobModel& job, const Key& key, const History& history) const;
  void Share(const model::JobModel& job, const model::Instance& instance, Transfer* transfer);
  Comparison Compare(const std::vector<double>& recent, const std::vector<double>& before,
                     bool frozen, Past* past) const;
  void Judge(History* history, model::DurationNs step, model::DurationNs window, double sibling_ns,
             model::TimeNs now) const;

  const SlowPathOptions options_;
  std::map<Key, History> paths_;
  std::map<Direction, std::deque<Use>> uses_;
};

}  // namespace c4::detect
