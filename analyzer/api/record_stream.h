// One client of QueryService::RecordTrace: takes chunks from the tap and writes them to the stream
// as fast as the client reads. It owns itself until the call is done.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <string>

#include "analyzer/api/trace_tap.h"
#include "c4/v1/service.grpc.pb.h"

namespace c4::api {

// `tap` outlives the call. `backlog_bytes_max`: see TraceBacklog.
grpc::ServerWriteReactor<v1::RecordTraceResponse>* StartRecordStream(const std::string& job,
                                                                     std::size_t backlog_bytes_max,
                                                                     TraceTap* tap);

}  // namespace c4::api
