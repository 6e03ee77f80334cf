// The order of the stages: records -> model -> detect -> localise -> verdict. The one engine behind
// the live service, trace analysis and tests.
//
// A pure function of its inputs: the same records and the same sequence of watermarks give the same
// verdicts, in any order of records that respects the watermark. It reads no clock, file or
// network. One owner thread; nothing here is synchronised.
//
// Contract of the watermark: Advance(t) says that every fact with a time <= t has been applied.
// Facts with later times may already be applied and must not change what is concluded at t.
#pragma once

#include <memory>
#include <vector>

#include "analyzer/model/trace.h"
#include "analyzer/model/verdict.h"

namespace c4::engine {

class Engine {
 public:
  struct Options;  // thresholds, see options.h

  Engine();
  explicit Engine(const Options& options);
  ~Engine();

  // Takes a fact in. Idempotent: the same record twice changes nothing.
  void Apply(const model::Record& record);

  // Moves time forward and returns the verdicts that are new or have changed, oldest first. Never
  // moves back: an earlier watermark than the last is ignored.
  std::vector<model::Verdict> Advance(model::TimeNs watermark);

  // Open verdicts of an earlier incarnation of the analyzer. Called before the first Apply: an
  // incident that is still going on keeps its id and moments.
  void Restore(const std::vector<model::Verdict>& open);

  // For people: one line per job, sorted by name.
  std::vector<model::JobSummary> Jobs() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace c4::engine
