// A job that has never had a rhythm and stands still: start-up has no period to be held against, so
// it has limits of its own, which are long (DESIGN section 5, "never worked" against "worked, then
// stopped").
//
// Says that the job stands still, not that it should not: localise/hang weighs what its absent
// members do. Pure function of the model.
#pragma once

#include <optional>

#include "analyzer/detect/stall.h"

namespace c4::detect {

struct StartupOptions {
  // Of the first operations: connections are set up inside them, which takes seconds, and tens of
  // seconds on thousands of ranks. NCCL gives an unreachable peer up after about 20 s.
  model::DurationNs quiet_min = 30 * model::kSecond;
};

std::optional<Stall> DetectStartupStall(const model::JobModel& job, model::TimeNs now,
                                        const StartupOptions& options = {});

}  // namespace c4::detect
