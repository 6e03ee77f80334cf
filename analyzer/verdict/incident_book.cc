#include "analyzer/verdict/incident_book.h"

#include <fmt/format.h>

#include <algorithm>

namespace c4::verdict {
namespace {

using model::Component;
using model::Finding;
using model::Status;
using model::TimeNs;
using model::Verdict;

std::string Key(const Component& component) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", component.kind, component.node,
                     component.rank.value_or(-1), component.nic, component.peer_node,
                     component.peer_nic, component.communicator);
}

std::string StableId(const std::string& job, std::uint32_t incarnation, const Finding& finding) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}", job, incarnation, finding.verdict_class,
                  Key(finding.component), finding.anchor);
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return fmt::format("{:016x}", hash);
}

bool SamePlace(const Component& a, const Component& b) { return Key(a) == Key(b); }

// Says that something is wrong and not what: continues whatever is open of its class.
bool IsVague(const Component& component) {
  return component.kind == model::component_kind::kNetwork ||
         component.kind == model::component_kind::kUnknown;
}

// A link that ends in that NIC: the same trouble, seen through fewer of its paths.
bool IsLinkOf(const Component& link, const Component& nic) {
  return link.kind == model::component_kind::kLink && nic.kind == model::component_kind::kNic &&
         ((link.node == nic.node && link.nic == nic.nic) ||
          (link.peer_node == nic.node && link.peer_nic == nic.nic));
}

template <typename T>
bool Suspects(const T& claim, const Component& component) {
  return std::any_of(claim.suspects.begin(), claim.suspects.end(),
                     [&](const auto& suspect) { return SamePlace(suspect.component, component); });
}

// What a person would want to be told of again. Evidence and durations in the text change at every
// tick and are not a change.
bool Differs(const Verdict& a, const Verdict& b) {
  return a.status != b.status || !(a.component == b.component) || a.action != b.action ||
         a.severity != b.severity || std::abs(a.confidence - b.confidence) > 0.05 ||
         a.victims.size() != b.victims.size();
}

}  // namespace

void IncidentBook::Restore(const Verdict& open) { open_[open.job].push_back({open, 0, true}); }

IncidentBook::Incident* IncidentBook::Find(const std::string& job, std::uint32_t incarnation,
                                           const Finding& finding) {
  Incident* same_class = nullptr;
  for (Incident& incident : open_[job]) {
    if (incident.verdict.incarnation != incarnation ||
        incident.verdict.verdict_class != finding.verdict_class) {
      continue;
    }
    if (SamePlace(incident.verdict.component, finding.component)) {
      return &incident;
    }
    // Another part than before is the same incident seen better while it is not certain, and when
    // it was one of the suspects all along.
    if (incident.verdict.status == Status::kSuspected || IsVague(finding.component) ||
        IsVague(incident.verdict.component) || Suspects(incident.verdict, finding.component) ||
        Suspects(finding, incident.verdict.component)) {
      same_class = &incident;
    }
  }
  return same_class;
}

std::vector<Verdict> IncidentBook::Update(const std::string& job, std::uint32_t incarnation,
                                          const std::vector<Finding>& findings, TimeNs now) {
  std::vector<Verdict> changed;
  std::vector<Incident>& open = open_[job];
  for (const Finding& finding : findings) {
    Incident* incident = Find(job, incarnation, finding);
    const bool is_new = incident == nullptr;
    if (is_new) {
      if (open.size() == kOpenMax) {
        continue;
      }
      open.push_back({});
      incident = &open.back();
      incident->verdict.id = StableId(job, incarnation, finding);
      incident->verdict.job = job;
      incident->verdict.incarnation = incarnation;
      incident->verdict.verdict_class = finding.verdict_class;
      incident->verdict.onset = finding.onset;
      incident->verdict.detected = now;
    }
    incident->last_found = now;
    incident->restored = false;
    const Verdict before = incident->verdict;
    Verdict& verdict = incident->verdict;
    if (!is_new && verdict.status == Status::kConfirmed &&
        ((IsVague(finding.component) && !IsVague(verdict.component)) ||
         IsLinkOf(finding.component, verdict.component))) {
      continue;  // knows less than what has been said already
    }
    verdict.severity = finding.severity;
    verdict.component = finding.component;
    verdict.suspects = finding.suspects;
    if (verdict.suspects.empty()) {
      verdict.suspects.push_back({finding.component, finding.confidence});
    }
    verdict.confidence = finding.confidence;
    verdict.action = finding.action;
    verdict.summary = finding.summary;
    verdict.evidence = finding.evidence;
    verdict.weakened_by = finding.weakened_by;
    verdict.victims = finding.victims;
    std::sort(verdict.victims.begin(), verdict.victims.end());
    if (verdict.status == Status::kSuspected && finding.confirmed != 0) {
      verdict.status = Status::kConfirmed;
      verdict.confirmed = std::max(finding.confirmed, verdict.detected);
    }
    if (is_new || Differs(before, verdict)) {
      changed.push_back(verdict);
    }
  }
  std::erase_if(open, [&](Incident& incident) {
    if (incident.restored) {
      // Of an earlier life of the analyzer: it has this long, from the first tick, to be found
      // again.
      incident.last_found = now;
      incident.restored = false;
      return false;
    }
    if (now - incident.last_found < kResolveAfter) {
      return false;
    }
    if (incident.verdict.status == Status::kSuspected) {
      // It passed before it was certain: worth knowing, no fault.
      incident.verdict.severity = model::Severity::kInfo;
    }
    incident.verdict.status = Status::kResolved;
    incident.verdict.resolved = now;
    changed.push_back(incident.verdict);
    return true;
  });
  return changed;
}

bool IncidentBook::HasOpen(const std::string& job, const std::string& verdict_class) const {
  const auto found = open_.find(job);
  return found != open_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const Incident& incident) {
           return incident.verdict.verdict_class == verdict_class;
         });
}

int IncidentBook::OpenFaults(const std::string& job) const {
  const auto found = open_.find(job);
  return found == open_.end()
             ? 0
             : static_cast<int>(std::count_if(
                   found->second.begin(), found->second.end(), [](const Incident& incident) {
                     return incident.verdict.severity == model::Severity::kFault;
                   }));
}

}  // namespace c4::verdict
