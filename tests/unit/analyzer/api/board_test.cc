#include "analyzer/api/board.h"

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::api {
namespace {

using ::testing::ElementsAre;

v1::Verdict Verdict(const std::string& id, std::int64_t detected, const std::string& job = "j1",
                    const std::string& severity = "fault",
                    const std::string& status = "confirmed") {
  v1::Verdict verdict;
  verdict.set_id(id);
  verdict.set_detected(detected);
  verdict.set_job(job);
  verdict.set_severity(severity);
  verdict.set_status(status);
  return verdict;
}

std::vector<std::string> Ids(const std::vector<SharedVerdict>& verdicts) {
  std::vector<std::string> ids;
  for (const SharedVerdict& verdict : verdicts) ids.push_back(verdict->id());
  return ids;
}

class Listener final : public VerdictListener {
 public:
  void OnVerdict(const SharedVerdict& verdict) override { heard.push_back(verdict); }
  std::vector<SharedVerdict> heard;
};

TEST(Board, ShowsNewestFirstAndFilters) {
  Board board;
  board.Publish({Verdict("a", 1), Verdict("b", 3, "j2"), Verdict("c", 2, "j1", "info")});
  EXPECT_THAT(Ids(board.Verdicts({})), ElementsAre("b", "a"));
  EXPECT_THAT(Ids(board.Verdicts({.job = "", .include_info = true})), ElementsAre("b", "c", "a"));
  EXPECT_THAT(Ids(board.Verdicts({.job = "j1", .include_info = true})), ElementsAre("c", "a"));
}

TEST(Board, AChangedVerdictReplacesItself) {
  Board board;
  board.Publish({Verdict("a", 1, "j1", "fault", "suspected")});
  board.Publish({Verdict("a", 1, "j1", "fault", "confirmed")});
  ASSERT_EQ(board.Verdicts({}).size(), 1);
  EXPECT_EQ(board.Verdicts({})[0]->status(), "confirmed");
}

TEST(Board, ForgetsTheOldestThatAreResolved) {
  Board board(/*verdicts_max=*/3);
  board.Publish({Verdict("open", 1)});
  for (int i = 2; i < 10; ++i) {
    board.Publish({Verdict(fmt::format("r{}", i), i, "j1", "fault", "resolved")});
  }
  EXPECT_THAT(Ids(board.Verdicts({})), ElementsAre("r9", "r8", "open"));
}

TEST(Board, AListenerGetsThePresentOnceAndThenEachChange) {
  Board board;
  board.Publish({Verdict("a", 1), Verdict("b", 2)});
  Listener listener;
  EXPECT_THAT(Ids(board.Subscribe({}, &listener)), ElementsAre("a", "b"));
  EXPECT_EQ(listener.heard.size(), 0);
  board.Publish({Verdict("b", 2, "j1", "fault", "resolved"), Verdict("c", 3)});
  EXPECT_THAT(Ids(listener.heard), ElementsAre("b", "c"));
  board.Unsubscribe(&listener);
  board.Publish({Verdict("d", 4)});
  EXPECT_EQ(listener.heard.size(), 2);
}

}  // namespace
}  // namespace c4::api
