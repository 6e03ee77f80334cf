#include "agent/uplink/uplink.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "agent/uplink/frame.h"
#include "spdlog/spdlog.h"

namespace c4::agent {
namespace {

constexpr std::size_t kInstanceBytesMax = 256;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

gpr_timespec In(std::int64_t wait_ns) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(wait_ns, GPR_TIMESPAN));
}

}  // namespace

Uplink::Uplink(Options options, const Clock* clock, std::function<double()> uniform)
    : options_(std::move(options)),
      clock_(clock),
      backoff_(options_.backoff, std::move(uniform)),
      spool_(options_.spool) {}

Uplink::~Uplink() { Stop(0); }

void Uplink::Start() { thread_ = std::thread(&Uplink::Run, this); }

void Uplink::Push(Payload payload) {
  const std::lock_guard lock(mutex_);
  spool_.Push(std::move(payload));
  Wake();
}

bool Uplink::TakeRestartRequest() {
  const std::lock_guard lock(mutex_);
  return std::exchange(is_restart_wanted_, false);
}

void Uplink::PushRestart(Payload first) {
  const std::lock_guard lock(mutex_);
  spool_.Restart(std::move(first));
  // Unless yet another analyzer has answered meanwhile.
  is_restart_awaited_ = is_restart_wanted_;
  Wake();
}

Uplink::Stats Uplink::GetStats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.spool_bytes = spool_.bytes();
  stats.dropped = spool_.dropped();
  stats.rejected = spool_.rejected();
  return stats;
}

void Uplink::Stop(std::int64_t flush_ns) {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    stop_at_ns_ = clock_->MonotonicNs() + flush_ns;
    Wake();
  }
  thread_.join();
}

// Under the mutex. The alarm's tag, null, comes out of the queue at once.
void Uplink::Wake() {
  if (is_woken_) {
    return;
  }
  is_woken_ = true;
  alarm_ = std::make_unique<grpc::Alarm>();
  alarm_->Set(&queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), nullptr);
}

void Uplink::Run() {
  while (true) {
    const std::int64_t now_ns = clock_->MonotonicNs();
    if (ShouldEnd(now_ns)) {
      break;
    }
    CheckTimeouts(now_ns);
    if (connection_ == nullptr && now_ns >= connect_at_ns_) {
      Connect();
    }
    void* tag = nullptr;
    bool ok = false;
    const std::int64_t deadline_ns = NextDeadlineNs(now_ns);
    const gpr_timespec deadline =
        deadline_ns == kNever ? gpr_inf_future(GPR_CLOCK_MONOTONIC) : In(deadline_ns - now_ns);
    if (queue_.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::GOT_EVENT) {
      if (tag == nullptr) {
        const std::lock_guard lock(mutex_);
        is_woken_ = false;
      } else {
        HandleConnection(tag, ok);
      }
    }
    Pump();
  }
  // Cancelled operations come back at once; the queue is empty when all have.
  if (connection_ != nullptr) {
    connection_->Close();
  }
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;  // no alarm any more
  }
  void* tag = nullptr;
  bool ok = false;
  while (connection_ != nullptr && queue_.Next(&tag, &ok)) {
    if (tag != nullptr && connection_->Handle(tag, ok) == Connection::Event::kFinished) {
      connection_.reset();
    }
  }
  queue_.Shutdown();
  while (queue_.Next(&tag, &ok)) {
  }
}

bool Uplink::ShouldEnd(std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  // What is not connected by now will hardly be in two seconds, but those were promised.
  return is_stopping_ && (spool_.empty() || now_ns >= stop_at_ns_);
}

std::int64_t Uplink::NextDeadlineNs(std::int64_t now_ns) const {
  std::int64_t deadline_ns = kNever;
  if (connection_ == nullptr) {
    deadline_ns = connect_at_ns_;
  } else if (!connection_->is_closing()) {
    deadline_ns = is_welcomed_ ? progress_at_ns_ + options_.progress_timeout_ns
                               : connected_at_ns_ + options_.welcome_timeout_ns;
  }
  const std::lock_guard lock(mutex_);
  if (is_stopping_) {
    deadline_ns = std::min(deadline_ns, stop_at_ns_);
  }
  return std::max(deadline_ns, now_ns);
}

void Uplink::CheckTimeouts(std::int64_t now_ns) {
  if (connection_ == nullptr || connection_->is_closing()) {
    return;
  }
  if (!is_welcomed_) {
    if (now_ns - connected_at_ns_ >= options_.welcome_timeout_ns) {
      Fail("no Welcome");
    }
    return;
  }
  const std::unique_lock lock(mutex_);
  if (!spool_.HasUnacknowledged()) {
    progress_at_ns_ = now_ns;
  } else if (now_ns - progress_at_ns_ >= options_.progress_timeout_ns) {
    Fail("batches are not acknowledged");
  }
}

void Uplink::Connect() {
  connection_ = std::make_unique<Connection>(options_.address, &queue_);
  connected_at_ns_ = clock_->MonotonicNs();
  is_welcomed_ = has_progressed_ = false;
  why_.clear();
}

void Uplink::Fail(const std::string& why) {
  if (why_.empty()) {
    why_ = why;
  }
  connection_->Close();
}

void Uplink::HandleConnection(void* tag, bool ok) {
  switch (connection_->Handle(tag, ok)) {
    case Connection::Event::kOpened:
      connection_->Write(HelloFrame(options_.hello));
      break;
    case Connection::Event::kMessage:
      HandleMessage();
      break;
    case Connection::Event::kWritten:
    case Connection::Event::kClosing:
      break;
    case Connection::Event::kFinished:
      Ended();
      break;
  }
}

void Uplink::HandleMessage() {
  const std::optional<v1::AnalyzerMessage> message = ParseFrame(connection_->message());
  bool is_sensible = false;
  if (message && message->has_welcome()) {
    is_sensible = !is_welcomed_ && HandleWelcome(message->welcome());
  } else if (message && message->has_ack()) {
    const std::lock_guard lock(mutex_);
    is_sensible = is_welcomed_ && spool_.Acknowledge(message->ack().sequence());
    if (is_sensible) {
      stats_.acknowledged = std::max(stats_.acknowledged, message->ack().sequence());
      progress_at_ns_ = clock_->MonotonicNs();
      has_progressed_ = true;
    }
  } else if (message) {
    is_sensible = true;  // a command of a newer analyzer
  }
  if (!is_sensible) {
    Fail("the analyzer talks nonsense");
    return;
  }
  if (has_progressed_) {
    backoff_.Reset();
  }
  connection_->ReadNext();
}

bool Uplink::HandleWelcome(const v1::Welcome& welcome) {
  if (welcome.analyzer_instance().empty() ||
      welcome.analyzer_instance().size() > kInstanceBytesMax || welcome.next_sequence() == 0) {
    return false;
  }
  is_welcomed_ = true;
  progress_at_ns_ = clock_->MonotonicNs();
  const std::lock_guard lock(mutex_);
  spool_.Unsend();
  stats_.is_connected = true;
  ++stats_.connects;
  if (welcome.analyzer_instance() != analyzer_instance_) {
    spdlog::info("analyzer {} at {}: telling it everything", welcome.analyzer_instance(),
                 options_.address);
    analyzer_instance_ = welcome.analyzer_instance();
    is_restart_wanted_ = is_restart_awaited_ = true;
    return true;
  }
  spdlog::info("analyzer {} at {}: connected again", welcome.analyzer_instance(), options_.address);
  return spool_.Acknowledge(welcome.next_sequence() - 1);
}

// Sends the next batch if one may be sent now.
void Uplink::Pump() {
  if (connection_ == nullptr || !is_welcomed_ || !connection_->can_write()) {
    return;
  }
  grpc::ByteBuffer frame;
  {
    const std::lock_guard lock(mutex_);
    if (is_restart_awaited_) {
      return;
    }
    const bool was_idle = !spool_.HasUnacknowledged();
    const Spool::Entry* const entry = spool_.NextToSend();
    if (entry == nullptr) {
      return;
    }
    if (was_idle) {
      progress_at_ns_ = clock_->MonotonicNs();
    }
    frame = BatchFrame(*entry);
  }
  connection_->Write(frame);
}

// The stream is over, whoever ended it.
void Uplink::Ended() {
  const std::string why = why_.empty() ? (connection_->status().error_message().empty()
                                              ? std::string("the analyzer ended the stream")
                                              : connection_->status().error_message())
                                       : why_;
  connection_.reset();
  const std::int64_t wait_ns = backoff_.NextNs();
  connect_at_ns_ = clock_->MonotonicNs() + wait_ns;
  const std::lock_guard lock(mutex_);
  spool_.Unsend();
  if (is_welcomed_ && !has_progressed_ && spool_.DropPoison(kAttemptsPerBatchMax)) {
    spdlog::error("analyzer {}: dropped a batch that ended {} streams", options_.address,
                  kAttemptsPerBatchMax);
  }
  stats_.is_connected = false;
  is_welcomed_ = false;
  spdlog::warn("analyzer {}: {}; trying again in {} ms", options_.address, why,
               wait_ns / kMillisecondNs);
}

}  // namespace c4::agent
