#include "analyzer/engine/job_engine.h"

#include <algorithm>
#include <utility>

#include "analyzer/detect/mismatch.h"
#include "analyzer/detect/process.h"
#include "analyzer/detect/stall.h"
#include "analyzer/detect/startup.h"
#include "analyzer/localise/flow_matrix.h"
#include "analyzer/localise/hang.h"
#include "analyzer/localise/lost_process.h"
#include "analyzer/localise/slow_path.h"
#include "analyzer/localise/slow_rank.h"
#include "analyzer/verdict/policy.h"

namespace c4::engine {
namespace {

using model::Finding;
using model::TimeNs;

// A program whose ranks drifted apart disagrees on every later operation too: the first tells all.
constexpr std::size_t kMismatchesMax = 1;
// A mismatch that did not stop the job is told, and over when the job has moved on for this long.
constexpr model::DurationNs kMismatchLife = 60 * model::kSecond;
// Of what the operator declared to be the longest normal collective, before silence means anything.
constexpr double kExpectedMargin = 2;

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

std::vector<Finding> JobEngine::FindSlow(const localise::Context& context) {
  std::vector<Finding> found =
      localise::ExplainSlowRanks(context, slow_rank_.Detect(model_, context.now));
  const auto paths = slow_path_.Detect(model_, slow_rank_.Step(), context.now);
  auto path = localise::LocaliseSlowPaths(context, paths, slow_rank_.Step());
  // The connections themselves know better than what is concluded from operations.
  if (auto flow = localise::FindSlowFlow(context); flow.has_value()) {
    path = std::move(flow);
  }
  if (path.has_value()) {
    found.push_back(*std::move(path));
  }
  return found;
}

std::vector<Finding> JobEngine::FindHang(const localise::Context& context) {
  detect::StallOptions options;
  detect::StartupOptions startup_options;
  const auto expected = static_cast<model::DurationNs>(
      kExpectedMargin * 1e9 * context.facts.job().expected_collective_seconds);
  options.quiet_min = std::max(options.quiet_min, expected);
  startup_options.quiet_min = std::max(startup_options.quiet_min, expected);
  auto stall = detect::DetectStall(model_, context.now, options);
  const auto startup = detect::DetectStartupStall(model_, context.now, startup_options);
  stalled_ = stall.has_value();
  if (!stall.has_value() && !startup.has_value()) {
    return {};
  }
  const detect::Stall& of = stall.has_value() ? *stall : *startup;
  return localise::LocaliseHang(context, {of.onset, of.suspected, !stall.has_value()});
}

std::vector<Finding> JobEngine::Tick(const model::JobFacts& facts, const model::NodeFacts& nodes,
                                     TimeNs now) {
  model_.AdvanceTo(now);
  const localise::Context context{model_, facts, nodes, now};
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
  const std::vector<Finding> hang = FindHang(context);
  // What is certain outranks what follows from it: a mismatch and a dead process explain any hang.
  std::vector<Finding> found = mismatches_;
  std::vector<Finding> gone = detect::DetectProcessFailure(model_, nodes, now);
  if (!gone.empty() && found.empty()) {
    localise::ExplainLostProcess(context, &gone.front());
    found.push_back(std::move(gone.front()));
  }
  if (found.empty()) {
    found = hang;
  }
  // Detectors of slowness must see every tick; what they say while the job is stuck is its echo.
  std::vector<Finding> slow = FindSlow(context);
  if (found.empty() && !stalled_) {
    found = std::move(slow);
  }
  for (Finding& finding : found) {
    verdict::RespectJob(facts.job(), &finding);
  }
  return found;
}

}  // namespace c4::engine
