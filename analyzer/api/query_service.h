// Answers c4ctl and whoever else asks, from the board and the tap only: a query never waits for the
// engine.
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>

#include "analyzer/api/board.h"
#include "analyzer/api/trace_tap.h"
#include "c4/v1/service.grpc.pb.h"

namespace c4::api {

class QueryService final : public v1::QueryService::CallbackService {
 public:
  struct Options {
    // Verdicts that wait for a watching client beyond those that it starts with. A client further
    // behind is told so (RESOURCE_EXHAUSTED) and comes back for the present state.
    std::size_t watch_backlog_max = 256;
    std::size_t record_backlog_bytes_max = TraceBacklog::kBytesMax;
  };

  // Board and tap outlive the service and its streams.
  QueryService(Options options, Board* board, TraceTap* tap)
      : options_(options), board_(board), tap_(tap) {}

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* ListVerdicts(grpc::CallbackServerContext* context,
                                         const v1::ListVerdictsRequest* request,
                                         v1::ListVerdictsResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchVerdictsResponse>* WatchVerdicts(
      grpc::CallbackServerContext* context, const v1::WatchVerdictsRequest* request) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;
  grpc::ServerWriteReactor<v1::RecordTraceResponse>* RecordTrace(
      grpc::CallbackServerContext* context, const v1::RecordTraceRequest* request) override;

 private:
  const Options options_;
  Board* const board_;
  TraceTap* const tap_;
};

}  // namespace c4::api
