#include "analyzer/api/known_facts.h"

#include <string>
#include <vector>

#include "analyzer/ingest/trace_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::api {
namespace {

model::JobRecord Job(const char* name, std::uint32_t restarts, const char* nccl_version) {
  model::JobRecord record;
  record.job = name;
  record.restarts = restarts;
  record.nccl_version = nccl_version;
  return record;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> All(const KnownFacts& facts) {
  std::vector<std::string> lines;
  facts.Visit(
      [&](const model::Record& record) { lines.push_back(ingest::FormatTraceLine(record)); });
  return lines;
}

model::RankRecord Rank(const std::string& job, int rank, std::uint32_t incarnation = 0) {
  model::RankRecord record;
  record.job = job;
  record.rank = rank;
  record.incarnation = incarnation;
  record.node = "n0";
  return record;
}
model::ProcessRecord Process(int rank, const std::string& state, std::uint32_t incarnation = 0) {
  return {"a", rank, incarnation, 5, state, -1, 9};
}

TEST(KnownFacts, KeepsWhatDoesNotComeAgain) {
  KnownFacts facts;
  facts.Note(Job("a", 0, "2.28.9"));
  facts.Note(Rank("a", 1));
  facts.Note(Rank("a", 0));
  facts.Note(Rank("a", 0));
  facts.Note(model::PhaseRecord{"a", 5, "train"});
  facts.Note(model::AgentRecord{"n0", 5, true});
  facts.Note(model::AgentRecord{"n1", 5, true});
  facts.Note(model::AgentRecord{"n0", 6, false});
  EXPECT_THAT(All(facts), ElementsAre(HasSubstr("2.28.9"), HasSubstr("\"rank\":0"),
                                      HasSubstr("\"rank\":1"), HasSubstr("\"n1\"")));
}

TEST(KnownFacts, AnExitIsOfTheProcessThatExited) {
  KnownFacts facts;
  facts.Note(Process(0, "exited"));
  EXPECT_THAT(All(facts), IsEmpty()) << "of a rank that nobody announced";
  facts.Note(Rank("a", 0));
  facts.Note(Process(0, "exited"));
  EXPECT_THAT(All(facts), ElementsAre(HasSubstr("\"rank\""), HasSubstr("\"exited\"")));
  facts.Note(Rank("a", 0, /*incarnation=*/1));
  EXPECT_THAT(All(facts), SizeIs(1)) << "it runs again";
  facts.Note(Process(0, "exited", /*incarnation=*/0));
  EXPECT_THAT(All(facts), SizeIs(1)) << "of the one before";
}

TEST(KnownFacts, IsBoundedByForgettingTheOldestJob) {
  KnownFacts facts(/*size_max=*/10);
  for (int rank = 0; rank < 4; ++rank) facts.Note(Rank("old", rank));
  for (int rank = 0; rank < 4; ++rank) facts.Note(Rank("new", rank));
  EXPECT_THAT(All(facts), SizeIs(8));
  facts.Note(Rank("new", 4));
  EXPECT_THAT(All(facts), SizeIs(5));
  for (int rank = 0; rank < 100; ++rank) facts.Note(Rank("new", rank));
  EXPECT_LE(All(facts).size(), 10);
}

}  // namespace
}  // namespace c4::api
