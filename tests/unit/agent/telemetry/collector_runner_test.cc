#include "agent/telemetry/collector_runner.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "agent/limits.h"
#include "gtest/gtest.h"

namespace c4::agent {
namespace {

// What a test and its collector share; outlives both.
struct Control {
  std::mutex mutex;
  std::condition_variable changed;
  Outcome outcome = Outcome::kData;
  bool must_hang = false;
  int looks = 0;
  int rewinds = 0;

  void AwaitLooks(int count) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::minutes(1), [&] { return looks >= count; }));
  }
};

constexpr CollectorInfo kInfo = {"fake", kMillisecondNs, kSecondNs, {}};

class FakeCollector final : public Collector {
 public:
  explicit FakeCollector(std::shared_ptr<Control> control) : control_(std::move(control)) {}
  const CollectorInfo& info() const override { return kInfo; }
  Outcome Collect(std::int64_t now_ns, Samples* samples, std::string* error) override {
    std::unique_lock lock(control_->mutex);
    ++control_->looks;
    control_->changed.notify_all();
    control_->changed.wait(lock, [&] { return !control_->must_hang; });
    samples->push_back(GaugeSample{now_ns, "d", "g", 1});
    *error = "why";
    return control_->outcome;
  }
  void Rewind() override {
    const std::lock_guard lock(control_->mutex);
    ++control_->rewinds;
  }

 private:
  const std::shared_ptr<Control> control_;
};

class CollectorRunnerTest : public ::testing::Test {
 protected:
  // The value of the gauge collector_fake_success, -9 when it is not told.
  double Success(CollectorRunner* runner, std::int64_t now_ns) {
    Samples samples;
    runner->Drain(now_ns, &samples);
    double success = -9;
    for (const Sample& sample : samples) {
      const auto& gauge = std::get<GaugeSample>(sample);
      if (gauge.name == "collector_fake_success") success = gauge.value;
    }
    return success;
  }

  std::shared_ptr<Control> control_ = std::make_shared<Control>();
  ManualClock clock_;
  CollectorRunner runner_{std::make_unique<FakeCollector>(control_), &clock_};
};

TEST_F(CollectorRunnerTest, LooksAgainAndAgainAndTellsHowItDoes) {
  runner_.Start();
  control_->AwaitLooks(3);  // so the second is over
  const std::int64_t now_ns = clock_.MonotonicNs();
  EXPECT_EQ(Success(&runner_, now_ns), 1);
  EXPECT_EQ(Success(&runner_, now_ns), -9);
  runner_.Stop();
}

TEST_F(CollectorRunnerTest, FailedAndUnsupportedAreDifferent) {
  control_->outcome = Outcome::kFailed;
  runner_.Start();
  control_->AwaitLooks(2);
  EXPECT_EQ(Success(&runner_, clock_.MonotonicNs()), 0);
  runner_.Stop();
  auto control = std::make_shared<Control>();
  control->outcome = Outcome::kUnsupported;
  CollectorRunner unsupported(std::make_unique<FakeCollector>(control), &clock_);
  unsupported.Start();
  control->AwaitLooks(1);
  unsupported.Stop();  // the look is over then
  EXPECT_EQ(Success(&unsupported, clock_.MonotonicNs()), -1);
  EXPECT_EQ(control->looks, 1);
}

TEST_F(CollectorRunnerTest, AHangIsToldWhileItLastsAndBlocksNobody) {
  control_->must_hang = true;
  runner_.Start();
  control_->AwaitLooks(1);
  EXPECT_EQ(Success(&runner_, clock_.MonotonicNs()), -9);
  clock_.Advance(2 * kSecondNs);
  EXPECT_EQ(Success(&runner_, clock_.MonotonicNs()), 0);
  {
    const std::lock_guard lock(control_->mutex);
    control_->must_hang = false;
    control_->changed.notify_all();
  }
  control_->AwaitLooks(3);
  EXPECT_EQ(Success(&runner_, clock_.MonotonicNs()), 1);
  runner_.Stop();
}

TEST_F(CollectorRunnerTest, RewindReachesTheCollectorOnItsOwnThread) {
  runner_.Rewind();
  runner_.Start();
  control_->AwaitLooks(1);
  runner_.Stop();
  EXPECT_EQ(control_->rewinds, 1);
}

}  // namespace
}  // namespace c4::agent
