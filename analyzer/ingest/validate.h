// What a record must satisfy before anything behind ingest sees it: the promises that
// analyzer/model/trace.h makes to consumers. One function for both sources, trace lines and
// batches.
//
// Pure. The code of an error says why a record was refused, see RejectCause():
//   kInvalidArgument    a name is missing, too long, or has control characters
//   kOutOfRange         a number or a time is not possible
//   kAlreadyExists      contradicts what another record said
//   kPermissionDenied   speaks for somebody else's rank
//   kResourceExhausted  a limit of limits.h is reached
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "analyzer/model/trace.h"

namespace c4::ingest {

// Cuts long texts, mends an end slightly before its start, and refuses what cannot be true. Errors
// name the field ("op.rank: -5 is not in 0…1048575").
absl::Status Normalize(model::Record& record);

// A name that acts as a key: not empty, bounded, no control characters.
absl::Status CheckName(std::string_view field, std::string_view name);

// The word for counters and logs: bad_name, out_of_range, conflict, foreign, limit.
const char* RejectCause(absl::StatusCode code);

}  // namespace c4::ingest
