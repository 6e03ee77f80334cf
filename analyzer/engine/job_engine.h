// The stages in their order for one incarnation of one job, tick by tick. Part of engine/; owner
// thread only.
#pragma once

#include <vector>

#include "analyzer/detect/slow_path.h"
#include "analyzer/detect/slow_rank.h"
#include "analyzer/localise/context.h"
#include "analyzer/model/finding.h"

namespace c4::engine {

class JobEngine {
 public:
  JobEngine(std::string name, std::uint32_t incarnation) : model_(std::move(name), incarnation) {}

  model::JobModel& model() { return model_; }
  const model::JobModel& model() const { return model_; }
  // What is found at `now`; everything up to `now` has been applied.
  std::vector<model::Finding> Tick(const model::JobFacts& facts, const model::NodeFacts& nodes,
                                   model::TimeNs now);
  model::DurationNs Step() const { return slow_rank_.Step(); }
  std::uint64_t Steps() const { return slow_rank_.Steps(); }
  bool stalled() const { return stalled_; }

 private:
  void FindMismatches(model::TimeNs now);
  std::vector<model::Finding> FindSlow(const localise::Context& context);
  std::vector<model::Finding> FindHang(const localise::Context& context);

  model::JobModel model_;
  detect::SlowRankDetector slow_rank_;
  detect::SlowPathDetector slow_path_;
  std::vector<model::Finding> mismatches_;  // final once found
  bool stalled_ = false;
};

}  // namespace c4::engine
