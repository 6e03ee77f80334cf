// QueryService::RecordTrace over real gRPC, with the test in the owner's place.
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "analyzer/api/server.h"
#include "analyzer/ingest/trace_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"

namespace c4::api {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class RecordStreamTest : public ::testing::Test {
 protected:
  RecordStreamTest() {
    server_ = *Server::Start({.listen = "127.0.0.1:0",
                              .insecure = false,
                              .query = {.record_backlog_bytes_max = 1 << 20}},
                             &clock_, &queue_, &board_, &tap_);
    stub_ = v1::QueryService::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }

  std::unique_ptr<grpc::ClientReader<v1::RecordTraceResponse>> Record() {
    auto stream = stub_->RecordTrace(&context_, {});
    EXPECT_TRUE(Await([&] { return tap_.active(); }));
    tap_.Admit([](const TraceTap::Give&) {}, 1);
    return stream;
  }
  template <typename Condition>
  static bool Await(const Condition& condition) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!condition() && absl::Now() < deadline) std::this_thread::yield();
    return condition();
  }

  ManualClock clock_;
  IntakeQueue queue_;
  Board board_;
  TraceTap tap_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::QueryService::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(RecordStreamTest, SendsWhatTheOwnerWrites) {
  const auto stream = Record();
  v1::RecordTraceResponse message;
  ASSERT_TRUE(stream->Read(&message));
  EXPECT_EQ(message.lines(), "{\"c4_trace\":1}\n{\"clock\":{\"time\":1}}\n");
  EXPECT_EQ(message.records(), 0);
  tap_.Write(model::PhaseRecord{"j", 2, "train"});
  tap_.WriteWatermark(3);
  ASSERT_TRUE(stream->Read(&message));
  EXPECT_THAT(message.lines(), EndsWith("}\n{\"clock\":{\"time\":3}}\n"));
  EXPECT_EQ(message.records(), 1);
  EXPECT_EQ(message.watermark(), 3);
  EXPECT_TRUE(message.ends_with_watermark());
  tap_.Close(absl::UnavailableError("stopping"));
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(RecordStreamTest, ASlowClientIsToldAndHasAllUpToAWatermark) {
  const auto stream = Record();
  // It does not read. Fills every buffer between the two and then the backlog; the owner never
  // waits, and is free of it afterwards.
  model::TimeNs time = 2;
  for (; tap_.active() && time < 100'000; ++time) {
    for (int i = 0; i < 40; ++i) {
      tap_.Write(model::ErrorRecord{"j", 0, time, std::string(4000, 'x')});
    }
    tap_.WriteWatermark(time);
  }
  EXPECT_FALSE(tap_.active());
  v1::RecordTraceResponse message;
  model::TimeNs watermark = 0;
  std::string end;
  while (stream->Read(&message)) {
    if (message.watermark() != 0) watermark = message.watermark();
    end = message.lines();
  }
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "too slow: more than 1 MiB were waiting");
  EXPECT_GT(watermark, 1);
  EXPECT_LT(watermark, time);
  EXPECT_THAT(end, EndsWith(ingest::FormatTraceLine(ingest::Watermark{watermark}) + "\n"));
}

TEST_F(RecordStreamTest, AClientThatLeavesIsForgotten) {
  const auto stream = Record();
  context_.TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Await([&] { return !tap_.active(); }));
}

TEST_F(RecordStreamTest, TooManyAreRefused) {
  struct Idle final : TraceListener {
    bool OnChunk(TraceChunk /*chunk*/) override { return true; }
    void OnEnd(const absl::Status& /*why*/) override {}
  };
  std::vector<Idle> others(TraceTap::kRecordingsMax);
  for (Idle& other : others) ASSERT_TRUE(tap_.Add("", &other).ok());
  const auto stream = stub_->RecordTrace(&context_, {});
  v1::RecordTraceResponse message;
  EXPECT_FALSE(stream->Read(&message));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("8 recordings are running"));
}

}  // namespace
}  // namespace c4::api
