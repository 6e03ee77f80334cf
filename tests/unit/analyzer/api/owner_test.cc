// The owner without threads and without gRPC: messages in, engine calls and acknowledgements out.
#include "analyzer/api/owner.h"

#include "analyzer/api/verdict_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"
#include "tests/unit/analyzer/api/fake_link.h"
#include "tests/unit/analyzer/api/test_agent.h"

namespace c4::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FakeStore final : public store::VerdictStore {
 public:
  absl::Status Put(const std::vector<v1::Verdict>& verdicts) override {
    if (!healthy) return absl::ResourceExhaustedError("disk full");
    for (const v1::Verdict& verdict : verdicts) kept[verdict.id()] = verdict;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<v1::Verdict>> LoadOpen() override { return Load(false); }
  absl::StatusOr<std::vector<v1::Verdict>> LoadRecent(int) override { return Load(true); }

  bool healthy = true;
  std::map<std::string, v1::Verdict> kept;

 private:
  std::vector<v1::Verdict> Load(bool resolved) const {
    std::vector<v1::Verdict> verdicts;
    for (const auto& [id, verdict] : kept) {
      if (resolved || verdict.status() != "resolved") verdicts.push_back(verdict);
    }
    return verdicts;
  }
};

class OwnerTest : public ::testing::Test {
 protected:
  OwnerTest() {
    Owner::Options options;
    options.analyzer_instance = "analyzer-1";
    options.watermark.settle = 0;
    owner_ = std::make_unique<Owner>(options, Owner::Dependencies{.clock = &clock_,
                                                                  .engine = &engine_,
                                                                  .store = &store_,
                                                                  .board = &board_,
                                                                  .recorder = nullptr});
  }

  std::shared_ptr<FakeLink> Connect(const std::string& node, const std::string& instance = "i1") {
    auto link = std::make_shared<FakeLink>();
    owner_->Take({link, node, clock_.MonotonicNs(), AgentHello{"1.2.3", instance}});
    return link;
  }
  void Send(const std::shared_ptr<FakeLink>& link, const std::string& node, v1::Batch batch) {
    owner_->Take(
        {link, node, clock_.MonotonicNs(),
         ingest::DecodeBatch(std::move(batch), node, clock_.RealtimeNs() + 1'000'000'000)});
  }
  void Leave(const std::shared_ptr<FakeLink>& link, const std::string& node) {
    owner_->Take({link, node, clock_.MonotonicNs(), AgentGone{}});
  }
  model::TimeNs Now() const { return clock_.RealtimeNs(); }

  ManualClock clock_;
  FakeEngine engine_;
  FakeStore store_;
  Board board_;
  std::unique_ptr<Owner> owner_;
};

TEST_F(OwnerTest, GivesABatchToTheEngineInOrderAndAcknowledgesIt) {
  const auto link = Connect("n0");
  EXPECT_THAT(link->welcomed(), ElementsAre(1));
  v1::Batch batch = MakeBatch(1, Now());
  AddRank(batch, 0);
  AddOperation(batch, 0, 0, Now());
  v1::Communicator& communicator = *batch.add_communicators();
  communicator.set_job("j1");
  communicator.set_rank(0);
  communicator.set_id(0xabc);
  communicator.set_member(1);
  communicator.set_size(2);
  communicator.set_async_error(6);
  Send(link, "n0", batch);
  EXPECT_THAT(link->acknowledged(), ElementsAre(1));
  const auto said = engine_.said();
  ASSERT_THAT(said, SizeIs(5));
  EXPECT_EQ(said[0], R"({"job":{"job":"j1","restarts":0,"nccl_version":"2.28.9"}})");
  EXPECT_THAT(said[1], HasSubstr(R"("rank":0,"node":"n0")"));
  EXPECT_THAT(said[2], HasSubstr("asynchronous error 6"));
  EXPECT_THAT(said[3], HasSubstr(R"("id":"0000000000000abc","ranks":[-1,0])"));
  EXPECT_THAT(said[4], HasSubstr(R"("comm":"0000000000000abc","seq":0)"));
}

TEST_F(OwnerTest, AResentBatchIsAcknowledgedAndNotAppliedAgain) {
  const auto link = Connect("n0");
  v1::Batch batch = MakeBatch(1, Now());
  AddError(batch, 0, Now(), "x");
  Send(link, "n0", batch);
  Send(link, "n0", MakeBatch(2, Now()));
  const auto again = Connect("n0");
  EXPECT_THAT(again->welcomed(), ElementsAre(3));
  Send(again, "n0", batch);
  EXPECT_THAT(again->acknowledged(), ElementsAre(2)) << "cumulative";
  EXPECT_THAT(engine_.records(), SizeIs(1));
}

TEST_F(OwnerTest, ANewAgentProcessCountsAnew) {
  Send(Connect("n0", "i1"), "n0", MakeBatch(7, Now()));
  const auto link = Connect("n0", "i2");
  EXPECT_THAT(link->welcomed(), ElementsAre(1));
  Send(link, "n0", MakeBatch(1, Now()));
  EXPECT_THAT(link->acknowledged(), ElementsAre(1));
}

TEST_F(OwnerTest, AnAgentThatKnewAnEarlierAnalyzerMayGoOnCounting) {
  const auto link = Connect("n0");
  Send(link, "n0", MakeBatch(500, Now()));
  Send(link, "n0", MakeBatch(503, Now()));  // its spool dropped two
  EXPECT_THAT(link->acknowledged(), ElementsAre(500, 503));
}

TEST_F(OwnerTest, BatchesAreNumberedFromOne) {
  const auto link = Connect("n0");
  Send(link, "n0", MakeBatch(0, Now()));
  ASSERT_TRUE(link->closed().has_value());
  EXPECT_EQ(link->closed()->code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OwnerTest, TheNewestStreamOfANodeIsTheOne) {
  const auto old_link = Connect("n0", "i1");
  const auto new_link = Connect("n0", "i2");
  ASSERT_TRUE(old_link->closed().has_value());
  EXPECT_EQ(old_link->closed()->code(), absl::StatusCode::kAborted);
  v1::Batch batch = MakeBatch(1, Now());
  AddError(batch, 0, Now(), "from the old one");
  Send(old_link, "n0", batch);
  EXPECT_THAT(old_link->acknowledged(), IsEmpty());
  EXPECT_THAT(engine_.records(), IsEmpty());
  Leave(old_link, "n0");
  Send(new_link, "n0", MakeBatch(1, Now()));
  EXPECT_THAT(new_link->acknowledged(), ElementsAre(1)) << "still connected";
}

TEST_F(OwnerTest, AnAgentSpeaksForItsOwnRanksOnly) {
  const auto n0 = Connect("n0");
  const auto n1 = Connect("n1");
  v1::Batch batch = MakeBatch(1, Now());
  AddRank(batch, 3, /*started_at=*/10);
  Send(n0, "n0", batch);
  v1::Batch forged = MakeBatch(1, Now());
  AddRank(forged, 3, /*started_at=*/10);
  AddError(forged, 3, Now(), "forged");
  AddError(forged, 4, Now(), "own");
  forged.add_communicators()->set_job("j1");
  forged.mutable_communicators(0)->set_rank(3);
  forged.mutable_communicators(0)->set_size(2);
  Send(n1, "n1", forged);
  EXPECT_THAT(n1->acknowledged(), ElementsAre(1)) << "the rest of the batch counts";
  std::string all;
  for (const std::string& line : engine_.said()) all += line;
  EXPECT_THAT(all, HasSubstr("own"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("forged")));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("comm")));
  clock_.Advance(1'000'000'000);
  owner_->Tick();
  EXPECT_EQ(board_.Status().agents(1).node(), "n1");
  EXPECT_EQ(board_.Status().agents(1).rejected_records(), 3);
  EXPECT_EQ(board_.Status().agents(0).rejected_records(), 0);
}

TEST_F(OwnerTest, AVerdictIsStoredBeforeItIsShown) {
  const auto link = Connect("n0");
  engine_.Plan(1, SomeVerdict("v1", Now()));
  Send(link, "n0", MakeBatch(1, Now()));
  store_.healthy = false;
  owner_->Tick();
  EXPECT_EQ(board_.Verdicts({}).size(), 0);
  clock_.Advance(100'000'000);
  store_.healthy = true;
  owner_->Tick();
  EXPECT_EQ(board_.Verdicts({}).size(), 0) << "a disk is not asked ten times a second";
  clock_.Advance(1'000'000'000);
  owner_->Tick();
  ASSERT_EQ(board_.Verdicts({}).size(), 1);
  EXPECT_EQ(store_.kept.at("v1").status(), "suspected");
}

TEST_F(OwnerTest, StartsWithWhatTheStoreHas) {
  store_.kept["open"] = ToProto(SomeVerdict("open", 5));
  store_.kept["done"] = ToProto(SomeVerdict("done", 6));
  store_.kept["done"].set_status("resolved");
  ASSERT_TRUE(owner_->Restore().ok());
  ASSERT_THAT(engine_.restored(), SizeIs(1));
  EXPECT_EQ(engine_.restored()[0].id, "open");
  EXPECT_EQ(board_.Verdicts({}).size(), 2);
}

TEST_F(OwnerTest, ASilentAgentIsToldToTheEngineBeforeTheWatermarkPassesIt) {
  const auto n0 = Connect("n0");
  const auto n1 = Connect("n1");
  Send(n1, "n1", MakeBatch(1, Now()));
  for (std::uint64_t i = 1; i <= 40; ++i) {
    clock_.Advance(100'000'000);
    Send(n0, "n0", MakeBatch(i, Now()));
    owner_->Tick();
  }
  EXPECT_EQ(engine_.watermark(), Now());
  const auto said = engine_.said();
  const auto silent = std::find_if(said.begin(), said.end(), [](const std::string& line) {
    return line.find(R"("node":"n1")") != std::string::npos &&
           line.find(R"("silent":true)") != std::string::npos;
  });
  ASSERT_NE(silent, said.end());
  const auto record =
      std::get<model::AgentRecord>(std::get<model::Record>(*ingest::ParseTraceLine(*silent)));
  for (auto line = said.begin(); line != silent; ++line) {
    const auto parsed = *ingest::ParseTraceLine(*line);
    if (const auto* watermark = std::get_if<ingest::Watermark>(&parsed)) {
      EXPECT_LT(watermark->time, record.time);
    }
  }
}

TEST_F(OwnerTest, TellsJobsAndStatus) {
  const auto link = Connect("n0");
  v1::Batch batch = MakeBatch(1, Now());
  AddRank(batch, 0);
  Send(link, "n0", batch);
  owner_->Tick();
  ASSERT_EQ(board_.Jobs().size(), 1);
  EXPECT_EQ(board_.Jobs()[0].name(), "j1");
  const v1::GetStatusResponse status = board_.Status();
  EXPECT_EQ(status.analyzer_instance(), "analyzer-1");
  EXPECT_EQ(status.watermark(), Now());
  ASSERT_EQ(status.agents_size(), 1);
  EXPECT_TRUE(status.agents(0).connected());
  EXPECT_EQ(status.agents(0).batches(), 1);
  EXPECT_EQ(status.agents(0).records(), 1);
  EXPECT_EQ(status.agents(0).version(), "1.2.3");
  Leave(link, "n0");
  clock_.Advance(1'000'000'000);
  owner_->Tick();
  EXPECT_FALSE(board_.Status().agents(0).connected());
}

}  // namespace
}  // namespace c4::api
