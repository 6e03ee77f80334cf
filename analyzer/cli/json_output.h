// Machine-readable output: the proto3 JSON of the schema's messages with the field names of the
// .proto files. 64-bit integers are strings there, fields that are not set are absent.
#pragma once

#include <string>
#include <vector>

#include "c4/v1/service.pb.h"
#include "c4/v1/verdict.pb.h"

namespace c4::cli {

// One line.
std::string Json(const google::protobuf::Message& message);

// {"verdicts":[…]}, one verdict per line; {"verdicts":[]} when there are none.
std::string VerdictsJson(const std::vector<v1::Verdict>& verdicts);
std::string JobsJson(const std::vector<v1::Job>& jobs);

}  // namespace c4::cli
