#include "nccl_hook/operation_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace c4::hook {
namespace {

constexpr std::uint32_t kCapacity = 8;

class OperationRingTest : public testing::Test {
 protected:
  OperationRingTest() { ring_.Attach(header_.get(), slots_.get(), sides_.get(), kCapacity); }

  OperationRing::Claim Write() {
    const OperationRing::Claim claim = ring_.TryClaim();
    if (claim.slot != kNoSlot) {
      ring_.Publish(claim);
    }
    return claim;
  }
  void Finish(std::uint32_t slot) {
    ring_.End(slot);
    ring_.Release(slot);
  }

  std::unique_ptr<abi::Header> header_ = std::make_unique<abi::Header>();
  std::unique_ptr<abi::OperationRecord[]> slots_ =
      std::make_unique<abi::OperationRecord[]>(kCapacity);
  std::unique_ptr<SlotSide[]> sides_ = std::make_unique<SlotSide[]>(kCapacity);
  OperationRing ring_;
};

TEST_F(OperationRingTest, PublishesTicketsInOrder) {
  for (std::uint64_t position = 0; position < 3; ++position) {
    const OperationRing::Claim claim = Write();
    EXPECT_EQ(claim.position, position);
    EXPECT_EQ(slots_[claim.slot].ticket.load(), position + 1);
    EXPECT_EQ(slots_[claim.slot].in_flight.load(), 1U);
  }
  EXPECT_EQ(header_->operation_head.load(), 3U);
}

TEST_F(OperationRingTest, HidesASlotWhileItIsWritten) {
  Finish(Write().slot);
  for (std::uint32_t i = 1; i < kCapacity; ++i) {
    Finish(Write().slot);
  }
  const OperationRing::Claim claim = ring_.TryClaim();
  EXPECT_EQ(claim.slot, 0U);
  EXPECT_EQ(slots_[0].ticket.load(), 0U);
  EXPECT_EQ(slots_[0].in_flight.load(), 0U);
  ring_.Publish(claim);
  EXPECT_EQ(slots_[0].ticket.load(), kCapacity + 1U);
}

TEST_F(OperationRingTest, SkipsWhatIsInFlight) {
  for (std::uint32_t i = 0; i < kCapacity; ++i) {
    const OperationRing::Claim claim = Write();
    if (i != 2) {
      Finish(claim.slot);
    }
  }
  std::vector<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < kCapacity; ++i) {
    slots.push_back(Write().slot);
  }
  EXPECT_EQ(slots, (std::vector<std::uint32_t>{0, 1, kNoSlot, 3, 4, 5, 6, 7}));
  EXPECT_EQ(header_->operations_dropped.load(), 1U);
  EXPECT_EQ(slots_[2].ticket.load(), 3U);  // the stuck operation stays readable
  EXPECT_EQ(slots_[2].in_flight.load(), 1U);
}

TEST_F(OperationRingTest, KeepsASlotThatIsAbandonedButStillHeld) {
  const std::uint32_t slot = Write().slot;
  ring_.End(slot);
  for (std::uint32_t i = 1; i < kCapacity; ++i) {
    Finish(Write().slot);
  }
  EXPECT_EQ(Write().slot, kNoSlot);
  ring_.Release(slot);
  for (std::uint32_t i = 1; i < kCapacity; ++i) {
    Finish(Write().slot);
  }
  EXPECT_EQ(Write().slot, slot);
}

TEST_F(OperationRingTest, NeverGoesBackInTime) {
  // A writer claimed position 0, slept a full lap, and finds position 8 in its slot.
  slots_[0].ticket.store(kCapacity + 1);
  EXPECT_EQ(Write().slot, kNoSlot);
  EXPECT_EQ(slots_[0].ticket.load(), kCapacity + 1U);
  EXPECT_EQ(sides_[0].held.load(), 0U);
  EXPECT_EQ(header_->operations_dropped.load(), 1U);
}

TEST_F(OperationRingTest, KeepsEveryRecordWholeUnderContention) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kPerThread = 20'000;
  std::atomic<std::uint64_t> recorded{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kPerThread; ++i) {
        const OperationRing::Claim claim = ring_.TryClaim();
        if (claim.slot == kNoSlot) {
          continue;
        }
        abi::OperationRecord& record = ring_.record(claim.slot);
        record.thread = static_cast<std::uint32_t>(t);
        record.sequence = claim.position;
        record.count = claim.position * 2;
        ring_.Publish(claim);
        // Nobody else wrote to it meanwhile.
        EXPECT_EQ(record.thread, static_cast<std::uint32_t>(t));
        EXPECT_EQ(record.count, record.sequence * 2);
        EXPECT_EQ(record.ticket.load(), claim.position + 1);
        recorded.fetch_add(1, std::memory_order_relaxed);
        Finish(claim.slot);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(header_->operation_head.load(), kThreads * kPerThread);
  EXPECT_EQ(recorded.load() + header_->operations_dropped.load(), kThreads * kPerThread);
}

}  // namespace
}  // namespace c4::hook
