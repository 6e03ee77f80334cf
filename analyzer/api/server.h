// The gRPC server of the analyzer: both services, health checking and reflection on one address.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "analyzer/api/intake_queue.h"
#include "analyzer/api/query_service.h"
#include "analyzer/api/telemetry_service.h"
#include "common/clock.h"

namespace c4::api {

class Server {
 public:
  struct Options {
    std::string listen;     // host:port; port 0 takes a free one
    bool insecure = false;  // plain text on an address that others can reach
    QueryService::Options query;
  };

  // Dependencies outlive the server. kInvalidArgument: the address, or not loopback without
  // `insecure`; kUnavailable: cannot listen there.
  static absl::StatusOr<std::unique_ptr<Server>> Start(Options options, const Clock* clock,
                                                       IntakeQueue* queue, Board* board,
                                                       TraceTap* tap);
  ~Server() { Stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return port_; }
  // "127.0.0.1:7400", with the real port.
  const std::string& address() const { return address_; }

  // Refuses new calls, gives open ones a second, then cancels them. Idempotent.
  void Stop();

 private:
  Server(const Options& options, const Clock* clock, IntakeQueue* queue, Board* board,
         TraceTap* tap)
      : telemetry_(clock, queue), query_(options.query, board, tap) {}

  TelemetryService telemetry_;
  QueryService query_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::string address_;
};

// "host:port" or "[v6]:port" with a loopback host.
bool IsLoopback(const std::string& address);

}  // namespace c4::api
