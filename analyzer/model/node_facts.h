// What is known of the cluster's nodes, apart from any job: hardware events, gauges, silent agents.
// Bounded per node; one owner thread.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/node_records.h"

namespace c4::model {

class NodeFacts {
 public:
  static constexpr std::size_t kEventsPerNode =
      1024;  // a storm of corrected errors, then the newest

  void Apply(const EventRecord& record);
  void Apply(const GaugeRecord& record);
  void Apply(const AgentRecord& record);

  // In order of time, within [from, to].
  std::vector<EventRecord> Events(const std::string& node, TimeNs from, TimeNs to) const;
  // The newest value of `name` not later than `now` on each device of the node.
  std::map<std::string, double> Gauge(const std::string& node, const std::string& name,
                                      TimeNs now) const;  // by device
  // How much each device's gauge has grown within [from, to]; a gauge that fell (a counter that was
  // reset) counts from there.
  std::map<std::string, double> GaugeGrowth(const std::string& node, const std::string& name,
                                            TimeNs from, TimeNs to) const;
  bool IsSilent(const std::string& node, TimeNs now) const;
  TimeNs SilentSince(const std::string& node, TimeNs now) const;  // 0: it is not

 private:
  struct Node {
    std::deque<EventRecord> events;  // by time
    std::map<std::pair<std::string, std::string>, std::map<TimeNs, double>> gauges;
    std::map<TimeNs, bool> agent;
  };
  std::map<std::string, Node> nodes_;
};

}  // namespace c4::model
