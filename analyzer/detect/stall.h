// Nothing moves in the job for longer than its rhythm allows (DESIGN section 5, "Timing").
//
// Says that there is a stall, not what it is: localise/hang does. Pure function of the model.
#pragma once

#include <optional>

#include "analyzer/model/job_model.h"

namespace c4::detect {

struct Stall {
  model::TimeNs onset = 0;      // the last movement
  model::TimeNs suspected = 0;  // when it became longer than the rhythm allows
  model::DurationNs allowed = 0;
};

struct StallOptions {
  model::DurationNs quiet_min = 5 * model::kSecond;
  int longest_gaps = 3;
};

// None before the job has a rhythm: start-up and compilation have no limit.
std::optional<Stall> DetectStall(const model::JobModel& job, model::TimeNs now,
                                 const StallOptions& options = {});

}  // namespace c4::detect
