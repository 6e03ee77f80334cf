// The path that an operation takes between NICs, for tomography. Pure function.
#pragma once

#include "analyzer/localise/tomography.h"
#include "analyzer/model/job_model.h"

namespace c4::localise {

Path PathOf(const model::JobModel& job, const model::Operation& operation);

}  // namespace c4::localise
