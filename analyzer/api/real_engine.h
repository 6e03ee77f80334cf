// engine::Engine behind the service's interface.
#pragma once

#include <vector>

#include "analyzer/api/engine_port.h"
#include "analyzer/engine/engine.h"

namespace c4::api {

class RealEngine final : public EnginePort {
 public:
  void Apply(const model::Record& record) override { engine_.Apply(record); }
  std::vector<model::Verdict> Advance(model::TimeNs watermark) override {
    return engine_.Advance(watermark);
  }
  void Restore(const std::vector<model::Verdict>& open) override { engine_.Restore(open); }
  std::vector<model::JobSummary> Jobs() const override { return engine_.Jobs(); }

 private:
  engine::Engine engine_;
};

}  // namespace c4::api
