#include "nccl_hook/communicator_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace c4::hook {
namespace {

using State = abi::CommunicatorState;

CommHandle Handle(std::uintptr_t number) { return reinterpret_cast<CommHandle>(number << 12); }

class CommunicatorTableTest : public testing::Test {
 protected:
  CommunicatorTableTest() { table_->Attach(header_.get(), records_.get()); }

  std::uint32_t Make(std::uintptr_t number, int rank_count = 4) {
    Registration registration;
    registration.id = number;
    registration.rank = 1;
    registration.rank_count = rank_count;
    registration.peer_count = rank_count;
    const std::uint32_t index = table_->Reserve(registration);
    if (index != kNoCommunicator) {
      table_->Bind(index, Handle(number));
    }
    return index;
  }
  void Destroy(std::uintptr_t number) {
    const std::uint32_t index = table_->Find(Handle(number));
    table_->Unbind(Handle(number));
    table_->SetState(index, State::kDestroyed);
  }
  State StateOf(std::uint32_t index) { return static_cast<State>(records_[index].state.load()); }

  std::unique_ptr<abi::Header> header_ = std::make_unique<abi::Header>();
  std::unique_ptr<abi::CommunicatorRecord[]> records_ =
      std::make_unique<abi::CommunicatorRecord[]>(abi::kCommunicatorCapacity);
  std::unique_ptr<CommunicatorTable> table_ = std::make_unique<CommunicatorTable>();
};

TEST_F(CommunicatorTableTest, FollowsALife) {
  const std::uint32_t index = Make(7);
  EXPECT_EQ(StateOf(index), State::kInitialising);
  EXPECT_EQ(table_->Find(Handle(7)), index);
  table_->SetReady(index);
  EXPECT_EQ(StateOf(index), State::kReady);
  table_->SetState(index, State::kFinalizing);
  Destroy(7);
  EXPECT_EQ(StateOf(index), State::kDestroyed);
  EXPECT_NE(records_[index].ended_ns, 0);
  EXPECT_EQ(table_->Find(Handle(7)), kNoCommunicator);
}

TEST_F(CommunicatorTableTest, EndsOnlyOnce) {
  const std::uint32_t index = Make(7);
  table_->SetState(index, State::kAborted);
  table_->SetState(index, State::kDestroyed);
  table_->SetReady(index);
  EXPECT_EQ(StateOf(index), State::kAborted);
  EXPECT_EQ(table_->abort_epoch().load(), 1U);
}

TEST_F(CommunicatorTableTest, ReusesTheEntryThatEndedFirst) {
  for (std::uintptr_t i = 1; i <= abi::kCommunicatorCapacity; ++i) {
    ASSERT_EQ(Make(i), i - 1);
  }
  EXPECT_EQ(Make(1000), kNoCommunicator);
  EXPECT_EQ(header_->communicators_dropped.load(), 1U);
  Destroy(20);
  Destroy(10);
  records_[19].ended_ns = 5;
  records_[9].ended_ns = 4;
  EXPECT_EQ(Make(1001), 9U);
  EXPECT_EQ(records_[9].generation.load(), 2U);
  EXPECT_EQ(StateOf(9), State::kInitialising);
  EXPECT_EQ(Make(1002), 19U);
  EXPECT_EQ(Make(1003), kNoCommunicator);
}

TEST_F(CommunicatorTableTest, CountsPerPeerAndDirection) {
  using Kind = abi::OperationKind;
  const std::uint32_t index = Make(7);
  ASSERT_NE(table_->Counter(index, Kind::kSend, 2), nullptr);
  EXPECT_NE(table_->Counter(index, Kind::kSend, 2), table_->Counter(index, Kind::kRecv, 2));
  EXPECT_NE(table_->Counter(index, Kind::kSend, 2), table_->Counter(index, Kind::kSend, 3));
  EXPECT_EQ(table_->Counter(index, Kind::kPutSignal, 2), table_->Counter(index, Kind::kSignal, 2));
  EXPECT_NE(table_->Counter(index, Kind::kWaitSignal, -1), nullptr);
  EXPECT_EQ(table_->Counter(index, Kind::kSend, 4), nullptr);
  EXPECT_EQ(table_->Counter(index, Kind::kRecv, -1), nullptr);
  EXPECT_EQ(table_->Counter(index, Kind::kAllReduce, -1), &records_[index].collectives);
}

TEST_F(CommunicatorTableTest, StartsCountingAnewInAReusedEntry) {
  for (std::uintptr_t i = 1; i <= abi::kCommunicatorCapacity; ++i) {
    Make(i);
  }
  table_->Counter(0, abi::OperationKind::kSend, 0)->store(5);
  records_[0].collectives.store(5);
  Destroy(1);
  ASSERT_EQ(Make(1000), 0U);
  EXPECT_EQ(table_->Counter(0, abi::OperationKind::kSend, 0)->load(), 0U);
  EXPECT_EQ(records_[0].collectives.load(), 0U);
}

TEST_F(CommunicatorTableTest, TellsRootsWithTheSameIdApart) {
  Registration registration;
  registration.nccl_hash = 0xabc;
  registration.rank = 1;
  EXPECT_EQ(table_->CountRootsLike(0xabc, 1), 0U);
  table_->Reserve(registration);
  EXPECT_EQ(table_->CountRootsLike(0xabc, 1), 1U);
  EXPECT_EQ(table_->CountRootsLike(0xabc, 0), 0U);  // another rank of the same communicator
}

}  // namespace
}  // namespace c4::hook
