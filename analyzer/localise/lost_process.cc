#include "analyzer/localise/lost_process.h"

#include "analyzer/localise/gpu_clues.h"
#include "analyzer/localise/recurrence.h"
#include "analyzer/model/describe.h"

namespace c4::localise {
namespace {

// A process that dies of its GPU does so within seconds of the error; the error is logged first.
constexpr model::DurationNs kBefore = 60 * model::kSecond;
// Odds from which a GPU's error explains the end of a process better than its program does.
constexpr double kGpuKills = 20;

}  // namespace

void ExplainLostProcess(const Context& context, model::Finding* finding) {
  if (finding->verdict_class != model::verdict_class::kProcessFailure ||
      finding->component.kind != model::component_kind::kRank) {
    return;
  }
  const int rank = finding->component.rank.value_or(-1);
  for (const Clue& clue : GpuClues(context, {rank}, finding->onset - kBefore)) {
    const bool before = !clue.evidence.empty() && clue.evidence.front().time <= finding->onset;
    if (clue.part.kind == model::component_kind::kGpu && !clue.application && before &&
        clue.weight >= kGpuKills) {
      finding->component = clue.part;
      finding->suspects = {{clue.part, 0.9}, {model::RankComponent(context.job, rank), 0.1}};
      finding->evidence.insert(finding->evidence.end(), clue.evidence.begin(), clue.evidence.end());
      finding->action = model::action::kIsolateRestart;
      finding->confidence = 0.95;
      finding->summary += " Its GPU failed under it.";
      break;
    }
    if (clue.application) {
      finding->evidence.insert(finding->evidence.end(), clue.evidence.begin(), clue.evidence.end());
    }
  }
  WeighRecurrence(context, {finding->verdict_class, "", "", ""}, finding);
}

}  // namespace c4::localise
