#include "analyzer/ingest/rank_owners.h"

#include "gtest/gtest.h"

namespace c4::ingest {
namespace {

model::RankRecord Rank(int rank, const std::string& node, std::uint32_t incarnation = 0,
                       const std::string& job = "j1") {
  model::RankRecord record;
  record.job = job;
  record.rank = rank;
  record.node = node;
  record.incarnation = incarnation;
  return record;
}

TEST(RankOwners, ANodeSpeaksForTheRanksThatItAnnounced) {
  RankOwners owners;
  ASSERT_TRUE(owners.Claim(Rank(3, "n0"), 10).ok());
  EXPECT_TRUE(owners.Check("j1", 3, "n0").ok());
  EXPECT_EQ(owners.Check("j1", 3, "n1").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(owners.Check("j1", 4, "n1").ok()) << "not announced yet";
  EXPECT_TRUE(owners.Check("j2", 3, "n1").ok()) << "another job";
}

TEST(RankOwners, ALaterProcessTakesARankOver) {
  RankOwners owners;
  ASSERT_TRUE(owners.Claim(Rank(3, "n0"), 10).ok());
  EXPECT_EQ(owners.Claim(Rank(3, "n1"), 10).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(owners.Claim(Rank(3, "n1"), 9).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(owners.Claim(Rank(3, "n1"), 11).ok());
  EXPECT_FALSE(owners.Check("j1", 3, "n0").ok());
  EXPECT_TRUE(owners.Claim(Rank(3, "n2", /*incarnation=*/1), 5).ok());
  EXPECT_TRUE(owners.Check("j1", 3, "n2").ok());
}

TEST(RankOwners, ChecksWhateverRecordIsAboutARank) {
  RankOwners owners;
  ASSERT_TRUE(owners.Claim(Rank(3, "n0"), 10).ok());
  EXPECT_FALSE(owners.Check(model::ErrorRecord{"j1", 3, 5, "x"}, "n1").ok());
  EXPECT_FALSE(owners.Check(model::LossRecord{"n1", "j1", 3, "x", 1}, "n1").ok());
  EXPECT_TRUE(owners.Check(model::LossRecord{"n1", "", -1, "x", 1}, "n1").ok());
  EXPECT_TRUE(owners.Check(model::EventRecord{"n1", 1, "xid", "", 1, "", 0, ""}, "n1").ok());
}

TEST(RankOwners, AtTheLimitTheOldestJobIsForgotten) {
  RankOwners owners(/*ranks_max=*/2);
  ASSERT_TRUE(owners.Claim(Rank(0, "n0", 0, "old"), 1).ok());
  ASSERT_TRUE(owners.Claim(Rank(0, "n0", 0, "new"), 1).ok());
  ASSERT_TRUE(owners.Claim(Rank(1, "n0", 0, "new"), 1).ok());
  EXPECT_TRUE(owners.Check("old", 0, "n1").ok());
  EXPECT_FALSE(owners.Check("new", 0, "n1").ok());
}

}  // namespace
}  // namespace c4::ingest
