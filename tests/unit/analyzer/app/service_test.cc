// The service put together, over its whole life: start, agents, stop, start again.
#include "analyzer/app/service.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analyzer/ingest/trace_reader.h"
#include "c4/v1/service.grpc.pb.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"
#include "tests/unit/analyzer/api/test_agent.h"

namespace c4::app {
namespace {

using ::testing::HasSubstr;

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest()
      : directory_(std::filesystem::path(::testing::TempDir()) /
                   fmt::format("service_{}", ::getpid())) {
    std::filesystem::create_directories(directory_);
    options_.listen = "127.0.0.1:0";
    options_.store = directory_ / "analyzer.db";
    options_.record = directory_ / "run.jsonl";
    options_.port_file = directory_ / "port";
  }
  ~ServiceTest() override {
    service_.reset();
    std::filesystem::remove_all(directory_);
  }

  absl::Status Start() {
    auto engine = std::make_unique<api::FakeEngine>();
    engine_ = engine.get();
    auto service = Service::Start(options_, &clock_, std::move(engine));
    if (!service.ok()) return service.status();
    service_ = *std::move(service);
    channel_ = grpc::CreateChannel(service_->address(), grpc::InsecureChannelCredentials());
    return absl::OkStatus();
  }
  // Lets an agent send until the watermark has passed the start's grace.
  void RunAgent(std::uint64_t batches) {
    api::TestAgent agent(channel_, "n0");
    std::uint64_t next = agent.Connect();
    ASSERT_EQ(next, 1);
    for (; next <= batches; ++next) {
      clock_.Advance(1'000'000'000);
      ASSERT_TRUE(agent.SendBatch(api::MakeBatch(next, clock_.RealtimeNs())));
      ASSERT_TRUE(agent.AwaitAck(next));
    }
  }
  std::vector<v1::Verdict> Verdicts() {
    grpc::ClientContext context;
    v1::ListVerdictsResponse response;
    EXPECT_TRUE(v1::QueryService::NewStub(channel_)->ListVerdicts(&context, {}, &response).ok());
    return {response.verdicts().begin(), response.verdicts().end()};
  }

  const std::filesystem::path directory_;
  Options options_;
  ManualClock clock_;
  api::FakeEngine* engine_ = nullptr;
  std::unique_ptr<Service> service_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ServiceTest, TellsItsPort) {
  ASSERT_TRUE(Start().ok());
  int port = 0;
  std::ifstream(options_.port_file) >> port;
  EXPECT_EQ(port, service_->port());
}

TEST_F(ServiceTest, VerdictsOutliveIt) {
  ASSERT_TRUE(Start().ok());
  engine_->Plan(1, api::SomeVerdict("v1", clock_.RealtimeNs()));
  RunAgent(5);
  service_.reset();
  ASSERT_TRUE(Start().ok());
  ASSERT_EQ(engine_->restored().size(), 1);
  EXPECT_EQ(engine_->restored()[0].id, "v1");
  ASSERT_EQ(Verdicts().size(), 1);
  EXPECT_EQ(Verdicts()[0].id(), "v1");
}

TEST_F(ServiceTest, RecordsWhatTheEngineWasGiven) {
  ASSERT_TRUE(Start().ok());
  RunAgent(6);
  const std::vector<std::string> said = engine_->said();
  service_->Stop();
  std::vector<std::string> recorded;
  ingest::TraceStats stats;
  const auto source = ingest::OpenTrace(options_.record);
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_TRUE(ingest::ReadTrace(**source, {.strict = true},
                                {.record =
                                     [&](const model::Record& record) {
                                       recorded.push_back(ingest::FormatTraceLine(record));
                                     },
                                 .watermark =
                                     [&](model::TimeNs time) {
                                       recorded.push_back(
                                           ingest::FormatTraceLine(ingest::Watermark{time}));
                                     },
                                 .bad_line = {}},
                                stats)
                  .ok());
  EXPECT_GT(stats.watermarks, 0);
  // The owner may have ticked between the question and the stop.
  ASSERT_GE(recorded.size(), said.size());
  recorded.resize(said.size());
  EXPECT_EQ(recorded, said);
}

TEST_F(ServiceTest, RefusesAnOpenAddress) {
  options_.listen = "0.0.0.0:0";
  const absl::Status status = Start();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--insecure"));
  options_.insecure = true;
  EXPECT_TRUE(Start().ok());
}

TEST_F(ServiceTest, NamesWhatIsInTheWay) {
  std::ofstream(options_.store) << "this is not a database, it is a long enough text";
  EXPECT_THAT(std::string(Start().message()), HasSubstr(options_.store));
  std::filesystem::remove(options_.store);
  options_.record = "/nonexistent/run.jsonl";
  EXPECT_THAT(std::string(Start().message()), HasSubstr("/nonexistent/run.jsonl"));
}

}  // namespace
}  // namespace c4::app
