// Turns the findings of successive ticks into verdicts with a life: suspected -> confirmed ->
// resolved.
//
// One fault gives one verdict. A finding of the same class and part continues the open verdict; a
// finding of the same class that names another part refines it (a link becomes its NIC) as long as
// the verdict is only suspected. What stops being found is resolved after a grace. Ids are stable:
// FNV-1a of job, incarnation, class, part and anchor, so a restarted analyzer derives the same one,
// and a restored open verdict keeps its own. Owner thread only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/model/finding.h"

namespace c4::verdict {

class IncidentBook {
 public:
  // Not found for so long: over. Longer than a step, so that a slow rank does not blink.
  static constexpr model::DurationNs kResolveAfter = 15 * model::kSecond;
  static constexpr std::size_t kOpenMax = 256;  // per job; a storm is one incident, not a thousand

  void Restore(const model::Verdict& open);

  // All findings of a job at `now`. Returns verdicts that are new or have changed.
  std::vector<model::Verdict> Update(const std::string& job, std::uint32_t incarnation,
                                     const std::vector<model::Finding>& findings,
                                     model::TimeNs now);

  bool HasOpen(const std::string& job, const std::string& verdict_class) const;
  int OpenFaults(const std::string& job) const;

 private:
  struct Incident {
    model::Verdict verdict;
    model::TimeNs last_found = 0;
    bool restored = false;
  };
  Incident* Find(const std::string& job, std::uint32_t incarnation, const model::Finding& finding);

  std::map<std::string, std::vector<Incident>> open_;  // by job
};

}  // namespace c4::verdict
