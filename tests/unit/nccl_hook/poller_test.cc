// The poller against a driver made of plain variables and a clock set by hand.
#include "nccl_hook/timing/poller.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace c4::hook {
namespace {

std::int64_t g_now_ns = 0;
std::int64_t g_gpu_ahead_ns = 0;  // the GPU's clock minus ours
struct FakeEvent {
  bool is_done = true;
  std::int64_t gpu_ns = 0;
};
std::map<cuda::Event, FakeEvent> g_events;
bool g_is_stream_open = true;  // events complete as they are recorded
int g_query_status = 0;        // instead of an answer
int g_queries = 0;

std::int64_t Now() { return g_now_ns; }

cuda::Status RecordEvent(cuda::Event event, cuda::Stream stream) {
  const bool is_anchor = stream == nullptr;
  g_events[event] = {is_anchor || g_is_stream_open, g_now_ns + g_gpu_ahead_ns};
  return cuda::kSuccess;
}
cuda::Status QueryEvent(cuda::Event event) {
  ++g_queries;
  if (g_query_status != 0) {
    return g_query_status;
  }
  return g_events[event].is_done ? cuda::kSuccess : cuda::kNotReady;
}
cuda::Status Elapsed(float* ms, cuda::Event start, cuda::Event end) {
  *ms =
      static_cast<float>(static_cast<double>(g_events[end].gpu_ns - g_events[start].gpu_ns) / 1e6);
  return cuda::kSuccess;
}

Driver MakeDriver() {
  static std::uintptr_t next_event;
  next_event = 0;
  Driver driver;
  driver.context_get_current = [](cuda::Context* context) {
    *context = reinterpret_cast<cuda::Context>(0xc0);
    return cuda::kSuccess;
  };
  driver.stream_create = [](cuda::Stream* stream, unsigned int) {
    *stream = nullptr;
    return cuda::kSuccess;
  };
  driver.stream_is_capturing = [](cuda::Stream, int* status) {
    *status = 0;
    return cuda::kSuccess;
  };
  driver.exchange_capture_mode = [](int*) { return cuda::kSuccess; };
  driver.event_create = [](cuda::Event* event, unsigned int) {
    *event = reinterpret_cast<cuda::Event>(++next_event);
    return cuda::kSuccess;
  };
  driver.event_record = RecordEvent;
  driver.event_query = QueryEvent;
  driver.event_elapsed_time = Elapsed;
  return driver;
}

class PollerTest : public testing::Test {
 protected:
  PollerTest() {
    g_now_ns = 1'000'000'000;
    g_gpu_ahead_ns = 555'000'000;
    g_events.clear();
    g_is_stream_open = true;
    g_query_status = 0;
    Use(abi::TimingMode::kEvents);
  }

  void Use(abi::TimingMode mode) {
    contexts_ = std::make_unique<Contexts>();
    contexts_->Configure(&driver_, mode);
    context_ = contexts_->PrepareCurrent();
    ring_.Attach(header_.get(), slots_.get(), sides_.get(), kCapacity);
    communicators_->Attach(header_.get(), records_.get());
    poller_ = std::make_unique<Poller>();
    poller_->Attach(header_.get(), &ring_, communicators_.get(), contexts_.get(), Now);
    poller_->Step();  // takes the base
  }

  // An operation whose call has begun; returns its interval.
  std::uint32_t Begin(std::uintptr_t stream, std::uint32_t* slot) {
    const OperationRing::Claim claim = ring_.TryClaim();
    ring_.side(claim.slot).next = kNoSlot;
    abi::OperationRecord& record = ring_.record(claim.slot);
    record.enqueue_ns = g_now_ns;
    record.start_ns = 0;
    record.end_ns = 0;
    record.flags = 0;
    ring_.Publish(claim);
    *slot = claim.slot;
    std::uint8_t flags = 0;
    return contexts_->Start(context_, reinterpret_cast<cuda::Stream>(stream), claim.slot, g_now_ns,
                            &flags);
  }
  FakeEvent& StartOf(std::uint32_t interval) {
    return g_events[contexts_->interval(interval).start_event];
  }
  FakeEvent& EndOf(std::uint32_t interval) {
    return g_events[contexts_->interval(interval).end_event];
  }
  void Complete(FakeEvent* event) { *event = {true, g_now_ns + g_gpu_ahead_ns}; }

  static constexpr std::uint32_t kCapacity = 64;
  Driver driver_ = MakeDriver();
  std::unique_ptr<abi::Header> header_ = std::make_unique<abi::Header>();
  std::unique_ptr<abi::OperationRecord[]> slots_ =
      std::make_unique<abi::OperationRecord[]>(kCapacity);
  std::unique_ptr<SlotSide[]> sides_ = std::make_unique<SlotSide[]>(kCapacity);
  std::unique_ptr<abi::CommunicatorRecord[]> records_ =
      std::make_unique<abi::CommunicatorRecord[]>(abi::kCommunicatorCapacity);
  std::unique_ptr<CommunicatorTable> communicators_ = std::make_unique<CommunicatorTable>();
  OperationRing ring_;
  std::unique_ptr<Contexts> contexts_;
  std::unique_ptr<Poller> poller_;
  std::uint32_t context_ = 0;
};

TEST_F(PollerTest, TakesTimesFromTheEvents) {
  std::uint32_t slot = 0;
  const std::uint32_t interval = Begin(8, &slot);
  g_now_ns += 3'000'000;
  contexts_->End(interval);
  const std::int64_t enqueue_ns = slots_[slot].enqueue_ns;
  g_now_ns += 50'000'000;  // late, and no matter
  const Poller::Pass pass = poller_->Step();
  EXPECT_TRUE(pass.has_moved);
  EXPECT_FALSE(pass.is_busy);
  EXPECT_NEAR(static_cast<double>(slots_[slot].start_ns - enqueue_ns), 0, 1000);
  EXPECT_NEAR(static_cast<double>(slots_[slot].end_ns - slots_[slot].start_ns), 3e6, 1000);
  EXPECT_EQ(slots_[slot].in_flight, 0U);
  EXPECT_EQ(sides_[slot].held, 0U);
}

TEST_F(PollerTest, ShowsAStartThatHasNoEnd) {
  g_is_stream_open = false;
  std::uint32_t slot = 0;
  const std::uint32_t interval = Begin(8, &slot);
  poller_->Step();
  EXPECT_EQ(slots_[slot].start_ns, 0);
  g_now_ns += 1'000'000;
  Complete(&StartOf(interval));  // while the application is still inside the call
  poller_->Step();
  EXPECT_NEAR(static_cast<double>(slots_[slot].start_ns), static_cast<double>(g_now_ns), 1000);
  EXPECT_EQ(slots_[slot].end_ns, 0);
  EXPECT_EQ(slots_[slot].in_flight, 1U);
  contexts_->End(interval);
  EXPECT_TRUE(poller_->Step().is_busy);
  g_now_ns += 2'000'000;
  Complete(&EndOf(interval));
  poller_->Step();
  EXPECT_NEAR(static_cast<double>(slots_[slot].end_ns - slots_[slot].start_ns), 2e6, 1000);
}

TEST_F(PollerTest, AsksOnlyTheHeadOfAStream) {
  g_is_stream_open = false;
  std::uint32_t slot = 0;
  for (int i = 0; i < 20; ++i) {
    contexts_->End(Begin(8, &slot));
    contexts_->End(Begin(16, &slot));
  }
  poller_->Step();
  g_queries = 0;
  poller_->Step();
  EXPECT_EQ(g_queries, 2);
}

TEST_F(PollerTest, GivesBackWhatWasRefused) {
  g_is_stream_open = false;
  std::uint32_t slot = 0;
  for (std::uint32_t i = 0; i < 3 * kIntervalsPerContext; ++i) {
    const std::uint32_t interval = Begin(8, &slot);
    ASSERT_NE(interval, kNoInterval) << i;
    contexts_->Cancel(interval);
    poller_->Step();
  }
  EXPECT_EQ(header_->operations_dropped, 0U);
}

TEST_F(PollerTest, RunsOutOfEventsWithoutHarm) {
  std::uint32_t slot = 0;
  std::uint8_t flags = 0;
  for (std::uint32_t i = 0; i < kIntervalsPerContext; ++i) {
    ASSERT_NE(contexts_->Start(context_, nullptr, kNoSlot, 0, &flags), kNoInterval);
  }
  EXPECT_EQ(flags, 0);
  EXPECT_EQ(contexts_->Start(context_, nullptr, slot, 0, &flags), kNoInterval);
  EXPECT_EQ(flags, abi::kOperationUntimed);
}

TEST_F(PollerTest, KeepsDurationsExactAcrossANewBase) {
  g_is_stream_open = false;
  std::uint32_t slot = 0;
  const std::uint32_t interval = Begin(8, &slot);
  Complete(&StartOf(interval));
  poller_->Step();
  contexts_->End(interval);
  g_now_ns += 5'000'000'000;
  g_gpu_ahead_ns += 40'000;  // the clocks have drifted apart: the new base will not fit the old
  poller_->Step();
  g_now_ns += 1'000'000;
  Complete(&EndOf(interval));
  poller_->Step();
  EXPECT_NEAR(static_cast<double>(slots_[slot].end_ns - slots_[slot].start_ns), 5.00104e9, 1000);
}

TEST_F(PollerTest, NeverStartsBeforeItWasEnqueued) {
  std::uint32_t slot = 0;
  const std::uint32_t interval = Begin(8, &slot);
  StartOf(interval).gpu_ns -= 700'000;  // an anchor that is off
  contexts_->End(interval);
  poller_->Step();
  EXPECT_EQ(slots_[slot].start_ns, slots_[slot].enqueue_ns);
  EXPECT_GE(slots_[slot].end_ns, slots_[slot].start_ns);
}

TEST_F(PollerTest, UsesItsOwnClockWithoutTimingEvents) {
  Use(abi::TimingMode::kProgress);
  g_is_stream_open = false;
  std::uint32_t slot = 0;
  const std::uint32_t interval = Begin(8, &slot);
  contexts_->End(interval);
  poller_->Step();
  Complete(&StartOf(interval));
  g_now_ns += 1'000'000;
  poller_->Step();
  EXPECT_EQ(slots_[slot].start_ns, g_now_ns);
  g_now_ns += 1'000'000;
  Complete(&EndOf(interval));
  poller_->Step();
  EXPECT_EQ(slots_[slot].end_ns - slots_[slot].start_ns, 1'000'000);
}

TEST_F(PollerTest, AbandonsWhatAnAbortLeavesBehind) {
  g_is_stream_open = false;
  Registration registration;
  registration.peer_count = 2;
  const std::uint32_t communicator = communicators_->Reserve(registration);
  std::uint32_t slot = 0;
  const std::uint32_t interval = Begin(8, &slot);
  slots_[slot].communicator = communicator;
  slots_[slot].communicator_generation = records_[communicator].generation;
  contexts_->End(interval);
  poller_->Step();
  communicators_->SetState(communicator, abi::CommunicatorState::kAborted);
  poller_->Step();
  EXPECT_EQ(slots_[slot].flags, abi::kOperationAbandoned);
  EXPECT_EQ(slots_[slot].in_flight, 0U);
  EXPECT_EQ(sides_[slot].held, 1U);  // its events are still out there
  Complete(&StartOf(interval));
  Complete(&EndOf(interval));
  poller_->Step();
  EXPECT_EQ(slots_[slot].end_ns, 0);
  EXPECT_EQ(sides_[slot].held, 0U);
}

TEST_F(PollerTest, LeavesTheTruthWhenCudaDies) {
  g_is_stream_open = false;
  std::uint32_t slot = 0;
  contexts_->End(Begin(8, &slot));
  g_query_status = 719;
  poller_->Step();
  EXPECT_EQ(slots_[slot].in_flight, 1U);
  EXPECT_EQ(header_->disarm_reason, static_cast<std::uint32_t>(abi::DisarmReason::kCudaError));
  g_queries = 0;
  g_now_ns += 10'000'000'000;
  poller_->Step();
  EXPECT_EQ(g_queries, 0);
  std::uint8_t flags = 0;
  EXPECT_EQ(contexts_->Start(context_, nullptr, kNoSlot, 0, &flags), kNoInterval);
  EXPECT_EQ(header_->heartbeat_ns, g_now_ns);
}

TEST_F(PollerTest, LetsGoOfEventsThatWereCaptured) {
  std::uint32_t slot = 0;
  contexts_->End(Begin(8, &slot));
  g_query_status = cuda::kCapturedEvent;
  poller_->Step();
  EXPECT_EQ(slots_[slot].in_flight, 0U);
  EXPECT_EQ(slots_[slot].end_ns, 0);
  EXPECT_EQ(header_->disarm_reason, 0U);
}

}  // namespace
}  // namespace c4::hook
