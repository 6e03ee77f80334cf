// An agent's end of a stream, blocking: sends what the test says and reads what comes back.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "c4/v1/telemetry.grpc.pb.h"

namespace c4::api {

class TestAgent {
 public:
  TestAgent(const std::shared_ptr<grpc::Channel>& channel, std::string node,
            std::string instance = "i1")
      : stub_(v1::TelemetryService::NewStub(channel)),
        node_(std::move(node)),
        instance_(std::move(instance)) {
    // A test that waits for ever fails instead.
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    stream_ = stub_->Stream(&context_);
  }
  ~TestAgent() {
    if (stream_ != nullptr) context_.TryCancel();
    if (stream_ != nullptr) Finish();
  }

  bool Send(const v1::AgentMessage& message) { return stream_->Write(message); }

  bool SendHello() {
    v1::AgentMessage message;
    message.mutable_hello()->set_node(node_);
    message.mutable_hello()->set_agent_instance(instance_);
    message.mutable_hello()->set_agent_version("1.2.3");
    return Send(message);
  }
  bool SendBatch(const v1::Batch& batch) {
    v1::AgentMessage message;
    *message.mutable_batch() = batch;
    return Send(message);
  }

  // Sends Hello; the sequence that the analyzer expects next, 0 on failure.
  std::uint64_t Connect() {
    if (!SendHello()) return 0;
    v1::AnalyzerMessage answer;
    if (!stream_->Read(&answer) || !answer.has_welcome()) return 0;
    analyzer_instance_ = answer.welcome().analyzer_instance();
    return answer.welcome().next_sequence();
  }
  // Reads until the acknowledgement covers `sequence`; false when the stream ends before.
  bool AwaitAck(std::uint64_t sequence) {
    v1::AnalyzerMessage answer;
    while (stream_->Read(&answer)) {
      if (answer.has_ack() && answer.ack().sequence() >= sequence) return true;
    }
    return false;
  }
  void HalfClose() { stream_->WritesDone(); }
  // Reads to the end; the status of the stream.
  grpc::Status Finish() {
    v1::AnalyzerMessage answer;
    while (stream_->Read(&answer)) {
    }
    const grpc::Status status = stream_->Finish();
    stream_.reset();
    return status;
  }
  const std::string& analyzer_instance() const { return analyzer_instance_; }

 private:
  std::unique_ptr<v1::TelemetryService::Stub> stub_;
  const std::string node_;
  const std::string instance_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::AnalyzerMessage>> stream_;
  std::string analyzer_instance_;
};

inline v1::Batch MakeBatch(std::uint64_t sequence, std::int64_t complete_until) {
  v1::Batch batch;
  batch.set_sequence(sequence);
  batch.set_complete_until(complete_until);
  return batch;
}

inline void AddRank(v1::Batch& batch, int rank, std::int64_t started_at = 1) {
  v1::Rank& to = *batch.add_ranks();
  to.set_job("j1");
  to.set_rank(rank);
  to.set_local_rank(rank);
  to.set_world_size(8);
  to.set_gpu(rank);
  to.set_nccl_version(22809);
  to.set_started_at(started_at);
}

inline void AddOperation(v1::Batch& batch, int rank, std::uint64_t sequence, std::int64_t enqueue) {
  v1::Operation& op = *batch.add_operations();
  op.set_job("j1");
  op.set_rank(rank);
  op.set_communicator(0xabc);
  op.set_sequence(sequence);
  op.set_name("AllReduce");
  op.set_datatype("float32");
  op.set_count(1024);
  op.set_root(-1);
  op.set_peer(-1);
  op.set_enqueue(enqueue);
}

inline void AddError(v1::Batch& batch, int rank, std::int64_t time, const std::string& text) {
  v1::Error& error = *batch.add_errors();
  error.set_job("j1");
  error.set_rank(rank);
  error.set_time(time);
  error.set_text(text);
}

}  // namespace c4::api
