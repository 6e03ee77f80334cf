#include "analyzer/ingest/communicator_assembler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace c4::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Membership Member(int member, int rank, int size = 3, const std::string& id = "c") {
  return {.job = "j1",
          .incarnation = 0,
          .rank = rank,
          .id = id,
          .name = "tp",
          .member = member,
          .size = size,
          .time = 0,
          .gone = false,
          .async_error = 0};
}

Membership Gone(Membership membership) {
  membership.gone = true;
  return membership;
}

TEST(CommunicatorAssembler, CompletesTheListMemberByMember) {
  CommunicatorAssembler assembler;
  ASSERT_TRUE(assembler.Add(Member(2, 6)).ok());
  ASSERT_TRUE(assembler.Add(Member(0, 4)).ok());
  auto changed = assembler.TakeChanged();
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_EQ(changed[0].id, "c");
  EXPECT_EQ(changed[0].name, "tp");
  EXPECT_THAT(changed[0].ranks, ElementsAre(4, -1, 6));

  ASSERT_TRUE(assembler.Add(Member(1, 5)).ok());
  changed = assembler.TakeChanged();
  ASSERT_THAT(changed, SizeIs(1));
  EXPECT_THAT(changed[0].ranks, ElementsAre(4, 5, 6));
  EXPECT_THAT(assembler.TakeChanged(), IsEmpty());
}

TEST(CommunicatorAssembler, TheSameMemberTwiceChangesNothing) {
  CommunicatorAssembler assembler;
  ASSERT_TRUE(assembler.Add(Member(0, 4)).ok());
  assembler.TakeChanged();
  EXPECT_TRUE(assembler.Add(Member(0, 4)).ok());
  EXPECT_THAT(assembler.TakeChanged(), IsEmpty());
}

TEST(CommunicatorAssembler, ContradictionsAreRefused) {
  CommunicatorAssembler assembler;
  ASSERT_TRUE(assembler.Add(Member(0, 4)).ok());
  EXPECT_EQ(assembler.Add(Member(0, 5)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(assembler.Add(Member(1, 4)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(assembler.Add(Member(1, 5, 4)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(assembler.TakeChanged()[0].ranks, ElementsAre(4, -1, -1));
}

TEST(CommunicatorAssembler, IsForgottenWhenAllHaveLeft) {
  CommunicatorAssembler assembler;
  for (int member = 0; member < 3; ++member)
    ASSERT_TRUE(assembler.Add(Member(member, member)).ok());
  ASSERT_TRUE(assembler.Add(Gone(Member(0, 0))).ok());
  ASSERT_TRUE(assembler.Add(Gone(Member(1, 1))).ok());
  ASSERT_TRUE(assembler.Add(Gone(Member(2, 2))).ok());
  EXPECT_EQ(assembler.size(), 1) << "its change was not taken yet";
  EXPECT_THAT(assembler.TakeChanged(), SizeIs(1));
  EXPECT_EQ(assembler.size(), 0);
  EXPECT_TRUE(assembler.Add(Gone(Member(2, 2))).ok());
  EXPECT_EQ(assembler.size(), 0);
}

TEST(CommunicatorAssembler, TheOldestMakesRoom) {
  CommunicatorAssembler assembler({.communicators_max = 4, .members_max = 100});
  for (const char* id : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(assembler.Add(Member(0, 0, 3, id)).ok());
  }
  ASSERT_TRUE(assembler.Add(Member(1, 1, 3, "a")).ok());  // heard of again
  ASSERT_TRUE(assembler.Add(Member(0, 0, 3, "e")).ok());
  std::vector<std::string> ids;
  for (const auto& record : assembler.TakeChanged()) ids.push_back(record.id);
  EXPECT_THAT(ids, ElementsAre("a", "c", "d", "e"));
}

TEST(CommunicatorAssembler, MembersAreBounded) {
  CommunicatorAssembler assembler({.communicators_max = 100, .members_max = 10});
  EXPECT_EQ(assembler.Add(Member(0, 0, 11)).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(assembler.Add(Member(0, 0, 6, "a")).ok());
  ASSERT_TRUE(assembler.Add(Member(0, 0, 6, "b")).ok());
  EXPECT_EQ(assembler.size(), 1);
}

}  // namespace
}  // namespace c4::ingest
