#include "analyzer/model/node_facts.h"

#include <algorithm>
#include <tuple>

namespace c4::model {
namespace {

constexpr std::size_t kValuesPerGauge = 256;

auto Order(const EventRecord& event) {
  return std::tie(event.time, event.kind, event.device, event.code, event.counter, event.delta,
                  event.text);
}

}  // namespace

void NodeFacts::Apply(const EventRecord& record) {
  std::deque<EventRecord>& events = nodes_[record.node].events;
  const auto place =
      std::lower_bound(events.begin(), events.end(), record,
                       [](const auto& a, const auto& b) { return Order(a) < Order(b); });
  if (place != events.end() && Order(*place) == Order(record)) {
    return;
  }
  events.insert(place, record);
  if (events.size() > kEventsPerNode) {
    events.pop_front();
  }
}

void NodeFacts::Apply(const GaugeRecord& record) {
  auto& values = nodes_[record.node].gauges[{record.device, record.name}];
  values[record.time] = record.value;
  if (values.size() > kValuesPerGauge) {
    values.erase(values.begin());
  }
}

void NodeFacts::Apply(const AgentRecord& record) {
  nodes_[record.node].agent[record.time] = record.silent;
}

std::vector<EventRecord> NodeFacts::Events(const std::string& node, TimeNs from, TimeNs to) const {
  std::vector<EventRecord> found;
  if (const auto entry = nodes_.find(node); entry != nodes_.end()) {
    for (const EventRecord& event : entry->second.events) {
      if (event.time >= from && event.time <= to) {
        found.push_back(event);
      }
    }
  }
  return found;
}

std::map<std::string, double> NodeFacts::Gauge(const std::string& node, const std::string& name,
                                               TimeNs now) const {
  std::map<std::string, double> values;
  if (const auto entry = nodes_.find(node); entry != nodes_.end()) {
    for (const auto& [key, history] : entry->second.gauges) {
      const auto later = history.upper_bound(now);
      if (key.second == name && later != history.begin()) {
        values[key.first] = std::prev(later)->second;
      }
    }
  }
  return values;
}

std::map<std::string, double> NodeFacts::GaugeGrowth(const std::string& node,
                                                     const std::string& name, TimeNs from,
                                                     TimeNs to) const {
  std::map<std::string, double> growth;
  const auto entry = nodes_.find(node);
  if (entry == nodes_.end()) {
    return growth;
  }
  for (const auto& [key, history] : entry->second.gauges) {
    if (key.second != name) {
      continue;
    }
    double& sum = growth[key.first];
    auto value = history.upper_bound(from);
    value = value == history.begin() ? value : std::prev(value);
    double last = value == history.end() ? 0 : value->second;
    for (; value != history.end() && value->first <= to; ++value) {
      sum += value->second >= last ? value->second - last : value->second;
      last = value->second;
    }
  }
  return growth;
}

TimeNs NodeFacts::SilentSince(const std::string& node, TimeNs now) const {
  const auto entry = nodes_.find(node);
  if (entry == nodes_.end()) {
    return 0;
  }
  const auto later = entry->second.agent.upper_bound(now);
  if (later == entry->second.agent.begin() || !std::prev(later)->second) {
    return 0;
  }
  return std::prev(later)->first;
}

bool NodeFacts::IsSilent(const std::string& node, TimeNs now) const {
  return SilentSince(node, now) != 0;
}

}  // namespace c4::model
