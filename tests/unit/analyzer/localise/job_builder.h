// A small job to localise in: ranks on nodes, one NIC and one GPU each, operations with their times
// in seconds. Steady by default: three collectives over all ranks have ended before second 10.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyzer/localise/context.h"
#include "analyzer/localise/hang.h"

namespace c4::localise::testing {

inline constexpr model::TimeNs kBegin = 1'750'000'000 * model::kSecond;
inline model::TimeNs At(double seconds) {
  return kBegin + static_cast<model::TimeNs>(seconds * 1e9);
}

struct Times {
  double enqueue = 0;
  double start = -1;  // negative: it has not
  double end = -1;
};

class JobBuilder {
 public:
  // `per_node` ranks on each of `nodes` nodes n0, n1, …; communicator W over all.
  JobBuilder(int nodes, int per_node, bool steady = true);

  static std::string Pci(int gpu) { return "0000:1" + std::to_string(gpu) + ":00.0"; }

  JobBuilder& Rank(const model::RankRecord& record) {
    job_.Apply(record);
    return *this;
  }
  JobBuilder& Communicator(const std::string& id, const std::vector<int>& ranks) {
    job_.Apply(model::CommunicatorRecord{"j", 0, id, "", ranks});
    communicators_[id] = ranks;
    return *this;
  }
  JobBuilder& Op(int rank, const std::string& communicator, std::uint64_t sequence, Times times,
                 const std::string& name = "AllReduce", std::uint64_t count = 1 << 20);
  JobBuilder& Collective(const std::string& communicator, std::uint64_t sequence, Times times,
                         std::vector<int> absent = {}) {
    for (const int rank : communicators_[communicator]) {
      if (std::find(absent.begin(), absent.end(), rank) == absent.end()) {
        Op(rank, communicator, sequence, times);
      }
    }
    return *this;
  }
  // The collective in which the job hangs: everybody but `absent` is in it from second 6 on.
  JobBuilder& Hang(std::vector<int> absent = {}) {
    return Collective("W", next_, {6, 6}, std::move(absent));
  }
  std::uint64_t next() const { return next_; }

  JobBuilder& Event(const std::string& node, double time, const std::string& kind,
                    const std::string& device, std::int64_t code = 0, const std::string& text = "",
                    const std::string& counter = "", std::int64_t delta = 0) {
    nodes_.Apply(model::EventRecord{node, At(time), kind, device, code, counter, delta, text});
    return *this;
  }
  JobBuilder& NicErrors(const std::string& node, const std::string& nic, const std::string& counter,
                        std::int64_t delta, const std::string& text = "") {
    return Event(node, 7, "nic_errors", nic, 0, text, counter, delta);
  }
  JobBuilder& Gauge(const std::string& node, const std::string& device, const std::string& name,
                    double value, double time = 0) {
    nodes_.Apply(model::GaugeRecord{node, At(time), device, name, value});
    return *this;
  }
  JobBuilder& Error(int rank, double time, const std::string& text) {
    job_.Apply(model::ErrorRecord{"j", rank, At(time), text});
    return *this;
  }
  JobBuilder& Host(int rank, double time, const std::string& state, double cpu,
                   std::vector<std::string> stack, double bytes = 0,
                   const std::string& wchan = "0") {
    job_.Apply(model::HostStateRecord{"j", rank, 0, At(time), state, wchan, cpu, bytes, 0,
                                      std::move(stack)});
    return *this;
  }
  JobBuilder& Flow(int rank, int peer, double to, std::uint64_t bytes, double busy_seconds,
                   std::uint64_t pending = 0);
  JobBuilder& Phase(double time, const std::string& name) {
    facts_.Apply(model::PhaseRecord{"j", At(time), name});
    return *this;
  }
  JobBuilder& Job(const model::JobRecord& record) {
    facts_.Apply(record);
    return *this;
  }

  Context Now(double seconds) {
    job_.AdvanceTo(At(seconds));
    return {job_, facts_, nodes_, At(seconds)};
  }
  model::JobModel& job() { return job_; }
  model::NodeFacts& nodes() { return nodes_; }
  const std::vector<int>& ranks() const { return ranks_; }

  // What the hang of Hang() is called at second `seconds`; it began at second 6.
  model::Finding Diagnose(double seconds, bool startup = false);

 private:
  model::JobModel job_;
  model::JobFacts facts_;
  model::NodeFacts nodes_;
  std::map<std::string, std::vector<int>> communicators_;
  std::vector<int> ranks_;
  std::uint64_t next_ = 0;
};

}  // namespace c4::localise::testing
