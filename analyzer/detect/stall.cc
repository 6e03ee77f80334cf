#include "analyzer/detect/stall.h"

#include <algorithm>

namespace c4::detect {

std::optional<Stall> DetectStall(const model::JobModel& job, model::TimeNs now,
                                 const StallOptions& options) {
  if (job.steady_since() == 0) {
    return std::nullopt;
  }
  const model::DurationNs allowed =
      std::max(options.quiet_min, options.longest_gaps * job.longest_gap());
  if (now - job.last_movement() < allowed) {
    return std::nullopt;
  }
  return Stall{job.last_movement(), job.last_movement() + allowed, allowed};
}

}  // namespace c4::detect
