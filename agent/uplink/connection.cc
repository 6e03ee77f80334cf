#include "agent/uplink/connection.h"

#include "agent/limits.h"

namespace c4::agent {
namespace {

constexpr char kMethod[] = "/c4.v1.TelemetryService/Stream";
// A half-open connection (the analyzer's machine lost power) is noticed within 15 s. The analyzer
// allows a ping every 5 s.
constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 5'000;

std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(kReceivedMessageBytesMax);
  // A channel of its own for each attempt: the name is resolved anew, and the waiting between
  // attempts is ours alone (common/backoff.h) instead of twice exponential.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A proxy of the environment is for the web, not for the analyzer next door.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // The one place that decides how the connection is protected. TLS will be chosen here.
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

Connection::Connection(const std::string& address, grpc::CompletionQueue* queue)
    : queue_(queue), channel_(NewChannel(address)), stub_(channel_) {
  stream_ = stub_.PrepareCall(&context_, kMethod, queue_);
  is_starting_ = true;
  stream_->StartCall(&tags_.start);
}

Connection::Event Connection::Handle(void* tag, bool ok) {
  if (tag == &tags_.finish) {
    state_ = State::kFinished;
    return Event::kFinished;
  }
  Event event = Event::kClosing;
  if (tag == &tags_.start) {
    is_starting_ = false;
    event = Event::kOpened;
  } else if (tag == &tags_.read) {
    is_reading_ = false;
    event = Event::kMessage;
  } else if (tag == &tags_.write) {
    is_writing_ = false;
    event = Event::kWritten;
  }
  if (!ok) {
    Close();
  }
  if (is_closing()) {
    return FinishWhenIdle();
  }
  if (event == Event::kOpened) {
    state_ = State::kOpen;
    ReadNext();
  }
  return event;
}

void Connection::Write(const grpc::ByteBuffer& message) {
  is_writing_ = true;
  stream_->Write(message, &tags_.write);
}

void Connection::ReadNext() {
  if (state_ != State::kOpen) {
    return;
  }
  is_reading_ = true;
  stream_->Read(&incoming_, &tags_.read);
}

void Connection::Close() {
  if (state_ != State::kStarting && state_ != State::kOpen) {
    return;
  }
  state_ = State::kClosing;
  context_.TryCancel();
  if (!is_starting_ && !is_reading_ && !is_writing_) {
    FinishWhenIdle();
  }
}

Connection::Event Connection::FinishWhenIdle() {
  if (state_ == State::kClosing && !is_starting_ && !is_reading_ && !is_writing_) {
    state_ = State::kFinishing;
    stream_->Finish(&status_, &tags_.finish);
  }
  return Event::kClosing;
}

}  // namespace c4::agent
