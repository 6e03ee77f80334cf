// A gRPC server that takes agents' streams and behaves as a test wants: acknowledges, stays silent,
// talks nonsense, dies and comes back on the same port as another instance.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "c4/v1/telemetry.grpc.pb.h"

namespace c4::agent::testing {

class FakeAnalyzer final : public v1::TelemetryService::Service {
 public:
  enum class Mode {
    kAcknowledge,
    kSilent,         // takes batches in, never acknowledges
    kNoWelcome,      // says nothing at all
    kStopsReading,   // welcomes, then reads no more
    kEndsStream,     // welcomes, ends the stream at the first batch
    kAcksTheFuture,  // acknowledges what was never sent
    kWelcomesTwice,
    kEmptyWelcome,
    kRaw,  // writes bytes that are no message
  };

  // Port 0: any.
  FakeAnalyzer(const std::string& instance, Mode mode, int port = 0);
  ~FakeAnalyzer() override;

  grpc::Status Stream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::AnalyzerMessage, v1::AgentMessage>* stream) override;

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void SetMode(Mode mode);

  // Waits (a minute at most) until `condition` holds of what has arrived.
  bool Await(const std::function<bool(const FakeAnalyzer&)>& condition);

  // For conditions, and after all is over.
  std::vector<v1::Hello> hellos;
  std::vector<v1::Batch> batches;  // in order of arrival, repetitions too
  std::size_t streams_ended = 0;

 private:
  bool Answer(const v1::AgentMessage& message,
              grpc::ServerReaderWriter<v1::AnalyzerMessage, v1::AgentMessage>* stream);

  const std::string instance_;
  int port_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Mode mode_;
  std::uint64_t next_sequence_ = 1;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace c4::agent::testing
