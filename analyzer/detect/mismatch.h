// Members of one collective, or the two ends of a Send, that do not agree on what they called: the
// program's error, whatever it makes hang (DESIGN section 5, mismatched_collective).
//
// Looks at operations as they become enqueued; a disagreement is final, so it is confirmed at once.
// Pure function of the model.
#pragma once

#include <optional>

#include "analyzer/model/finding.h"
#include "analyzer/model/job_model.h"

namespace c4::detect {

// `operation`: just enqueued. None when it agrees with all that were called before it.
std::optional<model::Finding> DetectMismatch(const model::JobModel& job,
                                             const model::Operation& operation, model::TimeNs now);

}  // namespace c4::detect
