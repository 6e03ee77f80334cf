// The engine as the service uses it: an interface, so that the service is tested without detectors.
#pragma once

#include <vector>

#include "analyzer/model/trace.h"
#include "analyzer/model/verdict.h"

namespace c4::api {

// The contracts are those of engine::Engine (analyzer/engine/engine.h).
class EnginePort {
 public:
  virtual ~EnginePort() = default;
  virtual void Apply(const model::Record& record) = 0;
  virtual std::vector<model::Verdict> Advance(model::TimeNs watermark) = 0;
  virtual void Restore(const std::vector<model::Verdict>& open) = 0;
  virtual std::vector<model::JobSummary> Jobs() const = 0;
};

}  // namespace c4::api
