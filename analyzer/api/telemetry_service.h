// Terminates the agents' streams: reads messages, decodes them (still on gRPC's thread, so that
// many streams decode at once) and pushes them to the owner's queue. Reads on only while the queue
// has room.
//
// Order on a stream: Hello first, once; anything else closes it with INVALID_ARGUMENT. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include "analyzer/api/intake_queue.h"
#include "c4/v1/telemetry.grpc.pb.h"
#include "common/clock.h"

namespace c4::api {

class TelemetryService final : public v1::TelemetryService::CallbackService {
 public:
  // Both outlive the service and its streams.
  TelemetryService(const Clock* clock, IntakeQueue* queue) : clock_(clock), queue_(queue) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::AnalyzerMessage>* Stream(
      grpc::CallbackServerContext* context) override;

 private:
  const Clock* const clock_;
  IntakeQueue* const queue_;
};

}  // namespace c4::api
