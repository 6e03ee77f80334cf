#include "analyzer/localise/recurrence.h"

#include <fmt/format.h>

#include <set>

namespace c4::localise {
namespace {

// One word of both must not contradict; what is not known does not.
bool Agree(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

bool Matches(const model::PreviousIncident& incident, const Signature& signature) {
  return !incident.verdict_class.empty() && incident.verdict_class == signature.verdict_class &&
         Agree(incident.operation, signature.operation) && Agree(incident.state, signature.state) &&
         Agree(incident.host, signature.frame);
}

// A second time on the same machine may be chance; machines that are sound do not do it thrice.
constexpr int kLemonBefore = 2;

}  // namespace

Recurrence FindRecurrence(const model::JobRecord& job, const Signature& signature,
                          const std::string& node) {
  Recurrence recurrence;
  std::set<std::string> nodes;
  for (const model::PreviousIncident& incident : job.previous_incidents) {
    if (incident.node.empty() || !Matches(incident, signature)) {
      continue;
    }
    ++(incident.node == node ? recurrence.here : recurrence.elsewhere);
    nodes.insert(incident.node);
  }
  std::string list;
  for (const std::string& name : nodes) {
    list += (list.empty() ? "" : ", ") + name;
  }
  recurrence.text = fmt::format("{} earlier incidents of this job looked the same, on {}",
                                recurrence.here + recurrence.elsewhere, list);
  return recurrence;
}

void WeighRecurrence(const Context& context, const Signature& signature, model::Finding* finding) {
  const std::string node = finding->component.node;
  if (node.empty()) {
    return;
  }
  const Recurrence recurrence = FindRecurrence(context.facts.job(), signature, node);
  if (recurrence.elsewhere > recurrence.here) {
    finding->evidence.insert(finding->evidence.begin(),
                             {"history", finding->onset, recurrence.text,
                              static_cast<double>(recurrence.elsewhere), "on other nodes"});
    const model::Component place = finding->component;
    finding->component = model::Component{};
    finding->component.kind = model::component_kind::kSoftware;
    finding->suspects = {{finding->component, 0.8}, {place, 0.2}};
    finding->confidence = 0.8;
    finding->action = model::action::kRestart;
    finding->summary +=
        fmt::format(" {}: the library or the program, not {}.", recurrence.text, node);
  } else if (recurrence.here >= kLemonBefore && recurrence.elsewhere == 0) {
    finding->evidence.insert(finding->evidence.begin(),
                             {"history", finding->onset, recurrence.text,
                              static_cast<double>(recurrence.here), "on this node"});
    const model::Component place = finding->component;
    finding->component = model::Component{};
    finding->component.kind = model::component_kind::kNode;
    finding->component.node = node;
    finding->suspects = {{finding->component, 0.8}, {place, 0.2}};
    finding->confidence = 0.85;
    finding->action = model::action::kIsolateRestart;
    finding->summary += fmt::format(" {}: this machine, whatever in it.", recurrence.text);
  }
}

}  // namespace c4::localise
