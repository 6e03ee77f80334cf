// The service over real gRPC on a free port, with a fake engine and a clock that tests move.
#include "analyzer/api/server.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "analyzer/api/owner_thread.h"
#include "analyzer/store/sqlite_store.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"
#include "tests/unit/analyzer/api/test_agent.h"

namespace c4::api {
namespace {

using ::testing::HasSubstr;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() { Start({}, {}); }
  ~ServerTest() override { Stop(); }

  void Start(IntakeQueue::Options queue_options, QueryService::Options query_options) {
    store_ = *store::SqliteStore::Open(":memory:");
    board_ = std::make_unique<Board>();
    queue_ = std::make_unique<IntakeQueue>(queue_options);
    engine_ = std::make_unique<FakeEngine>();
    Owner::Options options;
    options.analyzer_instance = "analyzer-1";
    options.watermark.settle = 0;
    owner_ = std::make_unique<Owner>(options, Owner::Dependencies{.clock = &clock_,
                                                                  .engine = engine_.get(),
                                                                  .store = store_.get(),
                                                                  .board = board_.get(),
                                                                  .recorder = nullptr});
    auto server =
        Server::Start({.listen = "127.0.0.1:0", .insecure = false, .query = query_options}, &clock_,
                      queue_.get(), board_.get(), &tap_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    query_ = v1::QueryService::NewStub(channel_);
  }
  void RunOwner() {
    owner_thread_ = std::make_unique<OwnerThread>(
        OwnerThread::Options{.tick = absl::Milliseconds(5)}, queue_.get(), owner_.get());
  }
  void Stop() {
    owner_thread_.reset();
    server_.reset();
  }
  std::unique_ptr<TestAgent> Agent(const std::string& node, const std::string& instance = "i1") {
    return std::make_unique<TestAgent>(channel_, node, instance);
  }
  model::TimeNs Now() const { return clock_.RealtimeNs(); }

  ManualClock clock_;
  TraceTap tap_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<Board> board_;
  std::unique_ptr<IntakeQueue> queue_;
  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<Owner> owner_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<OwnerThread> owner_thread_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::QueryService::Stub> query_;
};

TEST_F(ServerTest, FromAStreamToAVerdict) {
  RunOwner();
  const auto agent = Agent("n0");
  EXPECT_EQ(agent->Connect(), 1);
  EXPECT_EQ(agent->analyzer_instance(), "analyzer-1");
  engine_->Plan(Now(), SomeVerdict("v1", Now()));
  grpc::ClientContext watch_context;
  const auto watch = query_->WatchVerdicts(&watch_context, {});
  v1::Batch batch = MakeBatch(1, Now());
  AddRank(batch, 0);
  ASSERT_TRUE(agent->SendBatch(batch));
  EXPECT_TRUE(agent->AwaitAck(1));
  v1::WatchVerdictsResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.verdict().id(), "v1");
  EXPECT_EQ(store_->LoadOpen()->size(), 1);

  grpc::ClientContext list_context;
  v1::ListVerdictsResponse list;
  ASSERT_TRUE(query_->ListVerdicts(&list_context, {}, &list).ok());
  ASSERT_EQ(list.verdicts_size(), 1);
  EXPECT_EQ(list.verdicts(0).component().rank(), 3);
  watch_context.TryCancel();
  watch->Finish().error_code();
  agent->HalfClose();
  EXPECT_TRUE(agent->Finish().ok());
}

TEST_F(ServerTest, AReconnectedAgentIsToldWhereToGoOn) {
  RunOwner();
  {
    const auto agent = Agent("n0");
    ASSERT_EQ(agent->Connect(), 1);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      v1::Batch batch = MakeBatch(i, Now());
      AddError(batch, 0, Now(), fmt::format("e{}", i));
      ASSERT_TRUE(agent->SendBatch(batch));
    }
    ASSERT_TRUE(agent->AwaitAck(3));
  }  // breaks off
  const auto agent = Agent("n0");
  EXPECT_EQ(agent->Connect(), 4);
  // It has not seen the last acknowledgements and sends again.
  for (std::uint64_t i = 2; i <= 5; ++i) {
    v1::Batch batch = MakeBatch(i, Now());
    AddError(batch, 0, Now(), fmt::format("e{}", i));
    ASSERT_TRUE(agent->SendBatch(batch));
  }
  ASSERT_TRUE(agent->AwaitAck(5));
  EXPECT_EQ(engine_->records().size(), 5) << "each once";
}

TEST_F(ServerTest, AFullQueueStopsReadingAndLosesNothing) {
  Stop();
  Start({.messages_max = 2, .bytes_max = 1 << 20}, {});
  // Without its owner the queue fills.
  const auto agent = Agent("n0");
  ASSERT_TRUE(agent->SendHello());
  constexpr std::uint64_t kBatches = 50;
  std::thread sender([&] {
    for (std::uint64_t i = 1; i <= kBatches; ++i) {
      v1::Batch batch = MakeBatch(i, Now());
      AddError(batch, 0, Now(), std::string(4000, 'x'));
      if (!agent->SendBatch(batch)) break;
    }
  });
  const absl::Time deadline = absl::Now() + kPatience;
  while (queue_->paused() == 0 && absl::Now() < deadline) std::this_thread::yield();
  EXPECT_EQ(queue_->paused(), 1);
  // The Hello and one batch: what comes after them stays with gRPC and the agent.
  RunOwner();
  EXPECT_TRUE(agent->AwaitAck(kBatches));
  sender.join();
  EXPECT_EQ(engine_->records().size(), kBatches);
}

TEST_F(ServerTest, AStreamBeginsWithAHello) {
  RunOwner();
  const auto agent = Agent("n0");
  agent->SendBatch(MakeBatch(1, Now()));
  const grpc::Status status = agent->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("before the Hello"));

  const auto nameless = Agent("");
  nameless->SendHello();
  EXPECT_EQ(nameless->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);

  const auto twice = Agent("n0");
  ASSERT_EQ(twice->Connect(), 1);
  twice->SendHello();
  EXPECT_EQ(twice->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServerTest, AnAgentThatPretendsToBeAnotherNodeTakesItsPlaceVisibly) {
  RunOwner();
  const auto first = Agent("n0", "honest");
  ASSERT_EQ(first->Connect(), 1);
  const auto second = Agent("n0", "other");
  ASSERT_EQ(second->Connect(), 1);
  EXPECT_EQ(first->Finish().error_code(), grpc::StatusCode::ABORTED);
}

TEST_F(ServerTest, ASlowWatcherIsToldAndCutOff) {
  Stop();
  Start({}, {.watch_backlog_max = 10});
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  const auto watch = query_->WatchVerdicts(&context, {});
  watch->WaitForInitialMetadata();
  ASSERT_EQ(board_->listeners(), 1);
  // Large enough to fill every buffer between the two.
  for (int i = 0; i < 2000; ++i) {
    v1::Verdict verdict;
    verdict.set_id(fmt::format("v{}", i));
    verdict.set_severity("fault");
    verdict.set_status("resolved");
    verdict.set_detected(i);
    verdict.set_summary(std::string(20'000, 'x'));
    board_->Publish({verdict});
  }
  v1::WatchVerdictsResponse response;
  int read = 0;
  while (watch->Read(&response)) ++read;
  EXPECT_LT(read, 2000);
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ServerTest, AWatcherThatLeavesIsForgotten) {
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    const auto watch = query_->WatchVerdicts(&context, {});
    watch->WaitForInitialMetadata();
    context.TryCancel();
    watch->Finish().error_code();
  }
  const absl::Time deadline = absl::Now() + kPatience;
  while (board_->listeners() > 0 && absl::Now() < deadline) std::this_thread::yield();
  EXPECT_EQ(board_->listeners(), 0);
}

TEST_F(ServerTest, StoppingEndsStreamsWithAReason) {
  RunOwner();
  const auto agent = Agent("n0");
  ASSERT_EQ(agent->Connect(), 1);
  Stop();
  EXPECT_EQ(agent->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServerTest, ManyAgentsAtOnce) {
  RunOwner();
  constexpr int kAgents = 16;
  constexpr std::uint64_t kBatches = 20;
  std::vector<std::thread> threads;
  for (int n = 0; n < kAgents; ++n) {
    threads.emplace_back([this, n] {
      const auto agent = Agent(fmt::format("n{}", n));
      EXPECT_EQ(agent->Connect(), 1);
      for (std::uint64_t i = 1; i <= kBatches; ++i) {
        v1::Batch batch = MakeBatch(i, Now());
        AddError(batch, n, Now(), "x");
        EXPECT_TRUE(agent->SendBatch(batch));
      }
      EXPECT_TRUE(agent->AwaitAck(kBatches));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine_->records().size(), kAgents * kBatches);
}

TEST_F(ServerTest, AnswersHealthChecks) {
  grpc::ClientContext context;
  // An empty HealthCheckRequest asks for the server as a whole; the answer is field 1 = SERVING
  // (1).
  const grpc::Slice empty("", 0);
  const grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer response;
  absl::Notification done;
  grpc::Status status;
  grpc::GenericStub(channel_).UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &request,
                                        &response, [&](const grpc::Status& result) {
                                          status = result;
                                          done.Notify();
                                        });
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(kPatience));
  ASSERT_TRUE(status.ok()) << status.error_message();
  grpc::Slice answer;
  ASSERT_TRUE(response.DumpToSingleSlice(&answer).ok());
  EXPECT_EQ(std::string(answer.begin(), answer.end()), "\x08\x01");
}

TEST_F(ServerTest, AnotherServerOnTheSamePortIsRefused) {
  const auto server = Server::Start({.listen = server_->address(), .insecure = false, .query = {}},
                                    &clock_, queue_.get(), board_.get(), &tap_);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kUnavailable);
}

TEST(ServerAddress, OnlyLoopbackWithoutInsecure) {
  EXPECT_TRUE(IsLoopback("127.0.0.1:7400"));
  EXPECT_TRUE(IsLoopback("127.9.9.9:0"));
  EXPECT_TRUE(IsLoopback("localhost:7400"));
  EXPECT_TRUE(IsLoopback("[::1]:7400"));
  EXPECT_FALSE(IsLoopback("0.0.0.0:7400"));
  EXPECT_FALSE(IsLoopback("[::]:7400"));
  EXPECT_FALSE(IsLoopback("10.0.0.5:7400"));
  EXPECT_FALSE(IsLoopback("localhost.evil.example:7400"));
  EXPECT_FALSE(IsLoopback("127.evil.example:7400"));
  EXPECT_FALSE(IsLoopback(":7400"));
  ManualClock clock;
  IntakeQueue queue;
  Board board;
  TraceTap tap;
  const auto server = Server::Start({.listen = "0.0.0.0:0", .insecure = false, .query = {}}, &clock,
                                    &queue, &board, &tap);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("--insecure"));
}

}  // namespace
}  // namespace c4::api
