#include "analyzer/detect/startup.h"

namespace c4::detect {

std::optional<Stall> DetectStartupStall(const model::JobModel& job, model::TimeNs now,
                                        const StartupOptions& options) {
  if (job.steady_since() != 0 || job.operation_count() == 0 || job.last_movement() == 0 ||
      now - job.last_movement() < options.quiet_min) {
    return std::nullopt;
  }
  return Stall{job.last_movement(), job.last_movement() + options.quiet_min, options.quiet_min};
}

}  // namespace c4::detect
