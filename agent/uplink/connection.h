// One attempt at a stream to the analyzer: a channel, a call, at most one read and one write in
// flight. Knows nothing of batches or of what messages mean.
//
//   starting ──> open ──Close()──> closing ──all operations returned──> finishing ──> finished
//        └──────── an operation fails: closing ────┘
//
// Owned by the uplink's thread, which calls Handle() with what its completion queue gives. Must be
// finished before it is destroyed. Nothing here blocks.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

namespace c4::agent {

class Connection {
 public:
  enum class Event { kOpened, kMessage, kWritten, kClosing, kFinished };

  // Starts at once. `queue` outlives the connection.
  Connection(const std::string& address, grpc::CompletionQueue* queue);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // What a tag of the completion queue means. `tag` is one of this connection's.
  Event Handle(void* tag, bool ok);

  // After kOpened, and when no write is in flight.
  void Write(const grpc::ByteBuffer& message);
  bool can_write() const { return state_ == State::kOpen && !is_writing_; }

  // Of the last kMessage. Reading goes on with ReadNext().
  const grpc::ByteBuffer& message() const { return incoming_; }
  void ReadNext();

  // Cancels; idempotent. kFinished follows in its time, which is short.
  void Close();
  bool is_closing() const { return state_ == State::kClosing || state_ == State::kFinishing; }

  // Why it ended, after kFinished.
  const grpc::Status& status() const { return status_; }

 private:
  enum class State { kStarting, kOpen, kClosing, kFinishing, kFinished };
  // Their addresses are the tags.
  struct Tags {
    char start, read, write, finish;
  };

  Event FinishWhenIdle();

  grpc::CompletionQueue* const queue_;
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer incoming_;
  grpc::Status status_;
  Tags tags_{};
  State state_ = State::kStarting;
  bool is_starting_ = false;
  bool is_reading_ = false;
  bool is_writing_ = false;
};

}  // namespace c4::agent
