#include "analyzer/ingest/job_extras.h"

#include <charconv>
#include <cmath>

#include "analyzer/ingest/limits.h"

namespace c4::ingest {
namespace {

using nlohmann::json;

// Longest that a collective may be declared to take: a day.
constexpr double kExpectedSecondsMax = 24 * 3600;

const json* Find(const json& body, const char* key) {
  const auto found = body.find(key);
  return found == body.end() ? nullptr : &*found;
}

std::string Text(const json& body, const char* key) {
  const json* value = Find(body, key);
  const auto* text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
  return text == nullptr || text->size() > limits::kNameBytesMax ? "" : *text;
}

bool IsRank(std::int64_t rank) { return rank >= 0 && rank < limits::kRanksMax; }

// {"2": 7}: a number for each rank. A plain number or a list is not by rank and says nothing.
std::map<int, std::int64_t> ByRank(const json& body, const char* key) {
  std::map<int, std::int64_t> numbers;
  const json* object = Find(body, key);
  if (object == nullptr || !object->is_object()) return numbers;
  for (const auto& [name, value] : object->items()) {
    int rank = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
    if (error == std::errc() && end == name.data() + name.size() && IsRank(rank) &&
        value.is_number_integer()) {
      numbers[rank] = value.get<std::int64_t>();
    }
  }
  return numbers;
}

// One number, or one for each operation: then the longest.
double Seconds(const json& body, const char* key) {
  const json* value = Find(body, key);
  if (value == nullptr) return 0;
  double seconds = 0;
  const auto take = [&](const json& number) {
    if (!number.is_number()) return;
    const double one = number.get<double>();
    if (std::isfinite(one) && one > seconds && one <= kExpectedSecondsMax) seconds = one;
  };
  take(*value);
  if (value->is_object() || value->is_array()) {
    for (const json& element : *value) take(element);
  }
  return seconds;
}

std::vector<model::PreviousIncident> Incidents(const json& body) {
  std::vector<model::PreviousIncident> incidents;
  const json* list = Find(body, "previous_incidents");
  if (list == nullptr || !list->is_array()) return incidents;
  for (const json& element : *list) {
    if (!element.is_object()) continue;
    if (incidents.size() == limits::kPreviousIncidentsMax) break;
    model::PreviousIncident incident;
    incident.node = Text(element, "node");
    const json* rank = Find(element, "rank");
    if (rank != nullptr && rank->is_number_integer() && IsRank(rank->get<std::int64_t>())) {
      incident.rank = rank->get<int>();
    }
    incident.verdict_class = Text(element, "class");
    incident.operation = Text(element, "operation");
    incident.state = Text(element, "state");
    incident.host = Text(element, "host");
    incidents.push_back(std::move(incident));
  }
  return incidents;
}

// A name, or one for each node.
std::map<std::string, std::string> CordonedBy(const json& body) {
  std::map<std::string, std::string> by;
  const json* value = Find(body, "node_cordoned_by");
  if (value == nullptr) return by;
  if (value->is_string()) {
    by[""] = Text(body, "node_cordoned_by");
  } else if (value->is_object()) {
    for (const auto& [node, who] : value->items()) {
      if (who.is_string() && node.size() <= limits::kNameBytesMax) {
        by[node] = Text(*value, node.c_str());
      }
    }
  }
  return by;
}

nlohmann::ordered_json ByRank(const std::map<int, std::int64_t>& numbers) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [rank, number] : numbers) object[std::to_string(rank)] = number;
  return object;
}

}  // namespace

void ReadJobExtras(const json& body, model::JobRecord& job) {
  job.previous_incidents = Incidents(body);
  job.expected_collective_seconds = Seconds(body, "expected_collective_seconds");
  job.step_offset = ByRank(body, "step_offset");
  job.steps_done = ByRank(body, "steps_done");
  job.cordoned_by = CordonedBy(body);
  const json* dry_run = Find(body, "dry_run");
  job.dry_run = dry_run != nullptr && dry_run->is_boolean() && dry_run->get<bool>();
}

void WriteJobExtras(const model::JobRecord& job, nlohmann::ordered_json& body) {
  for (const model::PreviousIncident& incident : job.previous_incidents) {
    body["previous_incidents"].push_back({{"node", incident.node},
                                          {"rank", incident.rank},
                                          {"class", incident.verdict_class},
                                          {"operation", incident.operation},
                                          {"state", incident.state},
                                          {"host", incident.host}});
  }
  if (job.expected_collective_seconds > 0) {
    body["expected_collective_seconds"] = job.expected_collective_seconds;
  }
  if (!job.step_offset.empty()) body["step_offset"] = ByRank(job.step_offset);
  if (!job.steps_done.empty()) body["steps_done"] = ByRank(job.steps_done);
  for (const auto& [node, who] : job.cordoned_by) body["node_cordoned_by"][node] = who;
  if (job.dry_run) body["dry_run"] = true;
}

}  // namespace c4::ingest
