#include "agent/telemetry/collector_runner.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "agent/limits.h"
#include "fmt/format.h"
#include "spdlog/spdlog.h"

namespace c4::agent {
namespace {

constexpr std::int64_t kGaugePeriodNs = 60 * kSecondNs;
// What is not there now may come with a driver; nobody waits for it.
constexpr std::int64_t kUnsupportedPeriodNs = 30 * kSecondNs;
constexpr std::chrono::milliseconds kStopPatience(500);

}  // namespace

CollectorRunner::CollectorRunner(std::unique_ptr<Collector> collector, const Clock* clock)
    : shared_(std::make_shared<Shared>()), info_(collector->info()) {
  shared_->collector = std::move(collector);
  shared_->clock = clock;
}

CollectorRunner::~CollectorRunner() { Stop(); }

void CollectorRunner::Start() { thread_ = std::thread(&CollectorRunner::Run, shared_); }

void CollectorRunner::Run(const std::shared_ptr<Shared>& shared) {
  const CollectorInfo& info = shared->collector->info();
  std::unique_lock lock(shared->mutex);
  while (!shared->is_stopping) {
    const std::int64_t begin_ns = shared->clock->MonotonicNs();
    shared->running_since_ns = begin_ns;
    const bool must_rewind = std::exchange(shared->must_rewind, false);
    lock.unlock();
    Samples samples;
    std::string error;
    if (must_rewind) {
      shared->collector->Rewind();
    }
    const Outcome outcome = shared->collector->Collect(begin_ns, &samples, &error);
    lock.lock();
    shared->running_since_ns = 0;
    shared->duration_ns = shared->clock->MonotonicNs() - begin_ns;
    shared->outcome = outcome;
    shared->error = std::move(error);
    ++shared->looks;
    if (shared->samples.size() + samples.size() > kSamplesMax) {
      shared->dropped += shared->samples.size();
      shared->samples.clear();
    }
    std::move(samples.begin(), samples.end(), std::back_inserter(shared->samples));
    const std::int64_t wait_ns =
        outcome == Outcome::kUnsupported ? kUnsupportedPeriodNs : info.period_ns;
    shared->changed.wait_for(lock, std::chrono::nanoseconds(wait_ns),
                             [&] { return shared->is_stopping; });
  }
  shared->has_ended = true;
  shared->changed.notify_all();
}

void CollectorRunner::Drain(std::int64_t now_ns, Samples* samples) {
  const std::lock_guard lock(shared_->mutex);
  std::move(shared_->samples.begin(), shared_->samples.end(), std::back_inserter(*samples));
  shared_->samples.clear();
  const bool hangs =
      shared_->running_since_ns != 0 && now_ns - shared_->running_since_ns > info_.timeout_ns;
  if (shared_->looks == 0 && !hangs) {
    return;
  }
  int success = 1;
  if (hangs || shared_->outcome == Outcome::kFailed) {
    success = 0;
  } else if (shared_->outcome == Outcome::kUnsupported) {
    success = -1;
  }
  if (success == 0 && told_success_ != 0) {
    spdlog::warn("collector {}: {}", info_.name,
                 hangs ? fmt::format("hangs for more than {} ms", info_.timeout_ns / kMillisecondNs)
                       : shared_->error);
  }
  if (success == told_success_ && now_ns - told_ns_ < kGaugePeriodNs) {
    return;
  }
  told_success_ = success;
  told_ns_ = now_ns;
  const std::string name = std::string("collector_") + info_.name;
  samples->push_back(GaugeSample{now_ns, "agent", name + "_success", static_cast<double>(success)});
  const std::int64_t duration_ns =
      hangs ? now_ns - shared_->running_since_ns : shared_->duration_ns;
  samples->push_back(
      GaugeSample{now_ns, "agent", name + "_seconds", static_cast<double>(duration_ns) / 1e9});
}

void CollectorRunner::Rewind() {
  told_success_ = 2;
  const std::lock_guard lock(shared_->mutex);
  shared_->must_rewind = true;
}

std::uint64_t CollectorRunner::dropped() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->dropped;
}

void CollectorRunner::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  bool has_ended = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->is_stopping = true;
    shared_->changed.notify_all();
    has_ended = shared_->changed.wait_for(lock, kStopPatience, [&] { return shared_->has_ended; });
  }
  if (has_ended) {
    thread_.join();
  } else {
    spdlog::warn("collector {}: hangs, and is left behind", info_.name);
    thread_.detach();
  }
}

}  // namespace c4::agent
