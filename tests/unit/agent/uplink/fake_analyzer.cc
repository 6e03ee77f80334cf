#include "tests/unit/agent/uplink/fake_analyzer.h"

#include <algorithm>
#include <chrono>

#include "common/check.h"

namespace c4::agent::testing {

FakeAnalyzer::FakeAnalyzer(const std::string& instance, Mode mode, int port)
    : instance_(instance), port_(port), mode_(mode) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(),
                           &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  C4_CHECK(server_ != nullptr && port_ != 0);
}

FakeAnalyzer::~FakeAnalyzer() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

void FakeAnalyzer::SetMode(Mode mode) {
  const std::lock_guard lock(mutex_);
  mode_ = mode;
}

bool FakeAnalyzer::Await(const std::function<bool(const FakeAnalyzer&)>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return condition(*this); });
}

grpc::Status FakeAnalyzer::Stream(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::AnalyzerMessage, v1::AgentMessage>* stream) {
  v1::AgentMessage message;
  while (stream->Read(&message) && Answer(message, stream)) {
    std::unique_lock lock(mutex_);
    while (mode_ == Mode::kStopsReading && !context->IsCancelled()) {
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
  }
  const std::lock_guard lock(mutex_);
  ++streams_ended;
  changed_.notify_all();
  return grpc::Status::OK;
}

bool FakeAnalyzer::Answer(const v1::AgentMessage& message,
                          grpc::ServerReaderWriter<v1::AnalyzerMessage, v1::AgentMessage>* stream) {
  const std::lock_guard lock(mutex_);
  v1::AnalyzerMessage answer;
  if (message.has_hello()) {
    hellos.push_back(message.hello());
    if (mode_ != Mode::kEmptyWelcome) {
      answer.mutable_welcome()->set_analyzer_instance(instance_);
    }
    answer.mutable_welcome()->set_next_sequence(next_sequence_);
  } else {
    batches.push_back(message.batch());
    if (mode_ == Mode::kAcknowledge) {
      next_sequence_ = std::max(next_sequence_, message.batch().sequence() + 1);
    }
    answer.mutable_ack()->set_sequence(mode_ == Mode::kAcksTheFuture
                                           ? message.batch().sequence() + 1'000'000
                                           : next_sequence_ - 1);
  }
  changed_.notify_all();
  if (mode_ == Mode::kRaw) {
    // Valid framing of gRPC, invalid UTF-8 in a string: the peer's parser refuses it.
    answer.mutable_welcome()->set_analyzer_instance("\xff\xfe");
  }
  if (mode_ == Mode::kNoWelcome || (mode_ == Mode::kSilent && message.has_batch())) {
    return true;
  }
  if (mode_ == Mode::kEndsStream && message.has_batch()) {
    return false;
  }
  if (mode_ == Mode::kWelcomesTwice) {
    stream->Write(answer);
  }
  return stream->Write(answer);
}

}  // namespace c4::agent::testing
