// Between the engine's values and the schema's messages. Pure, lossless both ways.
#pragma once

#include "analyzer/model/verdict.h"
#include "c4/v1/verdict.pb.h"

namespace c4::api {

v1::Verdict ToProto(const model::Verdict& verdict);
model::Verdict FromProto(const v1::Verdict& verdict);
v1::Job ToProto(const model::JobSummary& job);

}  // namespace c4::api
