// What the job's own record says about acting on it: a dry run wants nothing done, and a node that
// somebody has taken out of service already is not taken out again (nor, later, put back by us).
#pragma once

#include "analyzer/model/finding.h"
#include "analyzer/model/job_record.h"

namespace c4::verdict {

void RespectJob(const model::JobRecord& job, model::Finding* finding);

}  // namespace c4::verdict
