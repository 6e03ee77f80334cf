#include "analyzer/engine/job_engine.h"

#include <algorithm>
#include <utility>

#include "analyzer/detect/mismatch.h"
#include "analyzer/detect/process.h"
#include "analyzer/detect/stall.h"
#include "analyzer/localise/hang.h"
#include "analyzer/localise/slow_path.h"

namespace c4::engine {
namespace {

using model::Finding;
using model::TimeNs;

// A program whose ranks drifted apart disagrees on every later operation too: the first tells all.
constexpr std::size_t kMismatchesMax = 1;
// A mismatch that did not stop the job is told, and over when the job has moved on for this long.
constexpr model::DurationNs kMismatchLife = 60 * model::kSecond;

}  // namespace

void JobEngine::FindMismatches(TimeNs now) {
  for (model::Operation* operation : model_.TakeEnqueued()) {
    slow_rank_.Add(model_, *operation);
    if (mismatches_.size() < kMismatchesMax) {
      if (auto finding = detect::DetectMismatch(model_, *operation, now); finding.has_value()) {
        mismatches_.push_back(*std::move(finding));
      }
    }
  }
}

std::vector<Finding> JobEngine::FindSlow(const model::NodeFacts& nodes, TimeNs now) {
  std::vector<Finding> found = slow_rank_.Detect(model_, now);
  const auto paths = slow_path_.Detect(model_, slow_rank_.Step(), now);
  if (auto path = localise::LocaliseSlowPaths(model_, nodes, paths, slow_rank_.Step(), now);
      path.has_value()) {
    found.push_back(*std::move(path));
  }
  return found;
}

std::vector<Finding> JobEngine::Tick(const model::NodeFacts& nodes, TimeNs now) {
  model_.AdvanceTo(now);
  FindMismatches(now);
  for (const model::Operation* operation : model_.TakeSettled()) {
    slow_rank_.Settle(*operation);
  }
  for (const model::Instance* instance : model_.TakeCompleted()) {
    slow_path_.Add(model_, *instance);
  }
  std::erase_if(mismatches_, [&](const Finding& finding) {
    return model_.last_movement() - finding.onset > kMismatchLife;
  });
  const auto stall = detect::DetectStall(model_, now);
  stalled_ = stall.has_value();
  // What is certain outranks what follows from it: a mismatch and a dead process explain any hang.
  std::vector<Finding> found = mismatches_;
  std::vector<Finding> gone = detect::DetectProcessFailure(model_, nodes, now);
  if (!gone.empty() && found.empty()) {
    found.push_back(std::move(gone.front()));
  }
  if (found.empty() && stall.has_value()) {
    found = localise::LocaliseHang(model_, nodes, {stall->onset, stall->suspected}, now);
  }
  // Detectors of slowness must see every tick; what they say while the job is stuck is its echo.
  std::vector<Finding> slow = FindSlow(nodes, now);
  if (found.empty() && !stall.has_value()) {
    found = std::move(slow);
  }
  return found;
}

}  // namespace c4::engine
