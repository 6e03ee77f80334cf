// How far the clocks of a job's nodes are apart, with an error that is a bound and not a guess,
// from the collectives themselves (DESIGN section 5): on one clock, no rank ends an all-to-all-like
// operation before every rank has started it. So for nodes a and b and offsets x (local = true + x)
//
//     start_b - end_a  <=  x_b - x_a  <=  end_b - start_a
//
// with the last start and the first end of each node. An operation in which both came last bounds
// tightest; bounds of a window are intersected, older ones widened by what two clocks may drift
// meanwhile, and closed over the graph of nodes. No NTP is trusted. Owner thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/model/job_model.h"

namespace c4::localise {

class ClockOffsets {
 public:
  // Two quartz clocks that differ by 20 ppm each in opposite directions, and a quarter more.
  static constexpr double kDrift = 50e-6;
  // Bounds that are older have widened to 3 ms and say less than NTP.
  static constexpr model::DurationNs kAgeMax = 60 * model::kSecond;
  // Edges between nodes; communicators that come and go must not fill the memory.
  static constexpr std::size_t kEdgesMax = std::size_t{1} << 16;

  struct Offset {
    model::DurationNs offset = 0;  // of the node's clock against the reference's
    model::DurationNs error = 0;   // the true offset is within +- error
  };

  // A completed operation; others than all-to-all-like ones are ignored.
  void Add(const model::JobModel& job, const model::Instance& instance);

  // Offsets as of `at` of all nodes that are connected to `reference`, itself included.
  std::map<std::string, Offset> Relative(const std::string& reference, model::TimeNs at) const;
  // Between two nodes; nullopt: nothing connects them.
  std::optional<Offset> Between(const std::string& from, const std::string& to,
                                model::TimeNs at) const;

 private:
  // x_to - x_from, as of `time`.
  struct Bound {
    model::TimeNs time = 0;
    double lower = 0;
    double upper = 0;
  };
  struct Edge {
    double lower = 0;
    double upper = 0;
  };
  static Edge At(const Bound& bound, model::TimeNs at);
  void Tighten(const std::string& from, const std::string& to, const Bound& fresh);
  void Forget(model::TimeNs now);

  std::map<std::pair<std::string, std::string>, Bound> bounds_;
};

}  // namespace c4::localise
