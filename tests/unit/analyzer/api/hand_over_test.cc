// The hand-overs between threads, without gRPC (whose own synchronisation ThreadSanitizer does not
// see): streams push, the owner takes and answers, clients read the board.
#include <atomic>
#include <thread>
#include <vector>

#include "analyzer/api/intake_queue.h"
#include "analyzer/api/owner_thread.h"
#include "analyzer/store/sqlite_store.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/analyzer/api/fake_engine.h"
#include "tests/unit/analyzer/api/fake_link.h"
#include "tests/unit/analyzer/api/test_agent.h"

namespace c4::api {
namespace {

// A stream without gRPC: sends its next batch when it may.
class PushingLink final : public AgentLink, public std::enable_shared_from_this<PushingLink> {
 public:
  PushingLink(IntakeQueue* queue, std::string node, std::uint64_t batches, model::TimeNs now)
      : queue_(queue), node_(std::move(node)), batches_(batches), now_(now) {}

  void Run() {
    Push(AgentHello{"1.2.3", "i1"});
    for (std::uint64_t i = 1; i <= batches_; ++i) {
      v1::Batch batch = MakeBatch(i, now_);
      AddError(batch, 0, now_, "x");
      Push(ingest::DecodeBatch(std::move(batch), node_, now_ + 1));
    }
    const MutexLock lock(&mutex_);
    EXPECT_TRUE(mutex_.AwaitFor(kPatience, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return acknowledged_ == batches_;
    }));
  }

  void Welcome(const std::string&, std::uint64_t) override {}
  void Acknowledge(std::uint64_t sequence) override {
    const MutexLock lock(&mutex_);
    EXPECT_GE(sequence, acknowledged_);
    acknowledged_ = sequence;
    mutex_.Notify();
  }
  void Close(const absl::Status&) override {}
  void Resume() override {
    const MutexLock lock(&mutex_);
    ++resumed_;
    mutex_.Notify();
  }

 private:
  template <typename Message>
  void Push(Message message) {
    Intake intake;
    intake.link = shared_from_this();
    intake.node = node_;
    intake.received = 1;
    intake.message = std::move(message);
    if (queue_->Push(std::move(intake))) return;
    const MutexLock lock(&mutex_);
    ++pauses_;
    EXPECT_TRUE(mutex_.AwaitFor(
        kPatience, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return resumed_ == pauses_; }));
  }

  IntakeQueue* const queue_;
  const std::string node_;
  const std::uint64_t batches_;
  const model::TimeNs now_;
  Mutex mutex_;
  std::uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  int pauses_ ABSL_GUARDED_BY(mutex_) = 0;
  int resumed_ ABSL_GUARDED_BY(mutex_) = 0;
};

class CountingListener final : public VerdictListener {
 public:
  void OnVerdict(const SharedVerdict& /*verdict*/) override { ++heard; }
  std::atomic<int> heard{0};
};

TEST(HandOver, ManyStreamsOneOwnerManyReaders) {
  constexpr int kStreams = 4;
  constexpr std::uint64_t kBatches = 100;
  ManualClock clock;
  FakeEngine engine;
  const auto store = *store::SqliteStore::Open(":memory:");
  Board board;
  IntakeQueue queue({.messages_max = 3, .bytes_max = 1 << 20});  // full most of the time
  Owner::Options options;
  options.watermark.settle = 0;
  Owner owner(options, {.clock = &clock,
                        .engine = &engine,
                        .store = store.get(),
                        .board = &board,
                        .recorder = nullptr});
  engine.Plan(1, SomeVerdict("v1", 5));
  CountingListener listener;
  board.Subscribe({}, &listener);
  {
    OwnerThread owner_thread({.tick = absl::Milliseconds(1)}, &queue, &owner);
    std::vector<std::thread> threads;
    for (int n = 0; n < kStreams; ++n) {
      threads.emplace_back([&, n] {
        std::make_shared<PushingLink>(&queue, fmt::format("n{}", n), kBatches, clock.RealtimeNs())
            ->Run();
      });
    }
    std::atomic<bool> done{false};
    std::thread reader([&] {
      while (!done) {
        board.Verdicts({});
        board.Jobs();
        board.Status();
        clock.Advance(1'000'000);
      }
    });
    for (std::thread& thread : threads) thread.join();
    done = true;
    reader.join();
  }
  // The clock runs fast: agents fall silent in between, which is told to the engine as well.
  std::uint64_t errors = 0;
  for (const model::Record& record : engine.records()) {
    if (std::holds_alternative<model::ErrorRecord>(record)) ++errors;
  }
  EXPECT_EQ(errors, kStreams * kBatches);
  EXPECT_EQ(listener.heard, 1);
  board.Unsubscribe(&listener);
}

}  // namespace
}  // namespace c4::api
