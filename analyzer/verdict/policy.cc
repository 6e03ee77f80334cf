#include "analyzer/verdict/policy.h"

#include <fmt/format.h>

namespace c4::verdict {
namespace {

bool Isolates(const std::string& action) {
  return action == model::action::kIsolate || action == model::action::kIsolateRestart;
}

}  // namespace

void RespectJob(const model::JobRecord& job, model::Finding* finding) {
  if (job.dry_run && (Isolates(finding->action) || finding->action == model::action::kRestart)) {
    finding->weakened_by.push_back(fmt::format("dry run: would {}", finding->action));
    finding->action = model::action::kAlert;
    return;
  }
  if (!Isolates(finding->action)) {
    return;
  }
  for (const std::string& node : {finding->component.node, std::string()}) {
    if (const auto by = job.cordoned_by.find(node); by != job.cordoned_by.end()) {
      finding->weakened_by.push_back(
          fmt::format("the node is out of service already, by {}", by->second));
      finding->action = finding->action == model::action::kIsolateRestart ? model::action::kRestart
                                                                          : model::action::kAlert;
      return;
    }
  }
}

}  // namespace c4::verdict
