// The optional keys of a trace's `job` line, to and from model::JobRecord (docs/TRACE_FORMAT.md).
// What has another type than expected is left out, like an unknown key: a person wrote it.
#pragma once

#include "analyzer/model/job_record.h"
#include "nlohmann/json.hpp"

namespace c4::ingest {

void ReadJobExtras(const nlohmann::json& body, model::JobRecord& job);
void WriteJobExtras(const model::JobRecord& job, nlohmann::ordered_json& body);

}  // namespace c4::ingest
