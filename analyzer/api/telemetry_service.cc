#include "analyzer/api/telemetry_service.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/api/grpc_status.h"
#include "analyzer/ingest/limits.h"
#include "analyzer/ingest/validate.h"
#include "common/status_macros.h"

namespace c4::api {
namespace {

absl::StatusOr<AgentHello> CheckHello(v1::Hello& hello) {
  C4_RETURN_IF_ERROR(ingest::CheckName("hello.node", hello.node()));
  C4_RETURN_IF_ERROR(ingest::CheckName("hello.agent_instance", hello.agent_instance()));
  if (!hello.agent_version().empty()) {
    C4_RETURN_IF_ERROR(ingest::CheckName("hello.agent_version", hello.agent_version()));
  }
  return AgentHello{std::move(*hello.mutable_agent_version()),
                    std::move(*hello.mutable_agent_instance())};
}

// One stream. Reactions come on gRPC's threads, AgentLink calls on the owner's.
//
//   reading --Push() says full--> paused --Resume()--> reading
//      |                             |
//      +-- half-close, error, Close(), cancel --> closing --last write done--> finished
//
// Every Start…() and Finish() is called under the mutex with finished_ still false: after Finish()
// the call may be gone at any moment. gRPC runs no reaction inside these calls. The reactor holds
// itself until OnDone(); the queue and the owner share it.
class StreamReactor final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::AnalyzerMessage>,
                            public AgentLink,
                            public std::enable_shared_from_this<StreamReactor> {
 public:
  StreamReactor(const Clock* clock, IntakeQueue* queue) : clock_(clock), queue_(queue) {}

  // The reactor keeps itself alive from here on.
  grpc::ServerBidiReactor<v1::AgentMessage, v1::AnalyzerMessage>* Start() {
    self_ = shared_from_this();
    const MutexLock lock(&mutex_);
    StartRead(&incoming_);
    return this;
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      EndOfStream();
      return;
    }
    Intake intake;
    intake.link = shared_from_this();
    intake.received = clock_->MonotonicNs();
    if (const absl::Status status = Decode(intake); !status.ok()) {
      Close(status);
      return;
    }
    // Exactly one of the two starts the next read: this thread when there is room, else the owner,
    // perhaps before Push() has returned.
    if (queue_->Push(std::move(intake))) Resume();
  }

  void OnWriteDone(bool ok) override {
    const MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok && !close_) close_ = absl::CancelledError("the agent is gone");
    Pump();
  }

  void OnCancel() override {
    const MutexLock lock(&mutex_);
    if (!close_) close_ = absl::CancelledError("cancelled");
    Pump();
  }

  void OnDone() override {
    if (!node_.empty()) {
      Intake gone;
      gone.link = shared_from_this();
      gone.node = node_;
      gone.message = AgentGone{};
      queue_->Push(std::move(gone));
    }
    self_.reset();
  }

  void Welcome(const std::string& analyzer_instance, std::uint64_t next_sequence) override {
    const MutexLock lock(&mutex_);
    welcome_.emplace();
    welcome_->set_analyzer_instance(analyzer_instance);
    welcome_->set_next_sequence(next_sequence);
    Pump();
  }

  void Acknowledge(std::uint64_t sequence) override {
    const MutexLock lock(&mutex_);
    acknowledge_ = sequence;
    Pump();
  }

  void Close(const absl::Status& why) override {
    const MutexLock lock(&mutex_);
    if (!close_) close_ = why;
    Pump();
  }

  void Resume() override {
    const MutexLock lock(&mutex_);
    if (finished_ || close_) return;
    StartRead(&incoming_);
  }

 private:
  absl::Status Decode(Intake& intake) {
    if (incoming_.has_hello()) {
      if (!node_.empty()) return absl::InvalidArgumentError("a second Hello");
      C4_ASSIGN_OR_RETURN(intake.message, CheckHello(*incoming_.mutable_hello()));
      node_ = std::move(*incoming_.mutable_hello()->mutable_node());
    } else if (incoming_.has_batch()) {
      if (node_.empty()) return absl::InvalidArgumentError("a Batch before the Hello");
      intake.message = ingest::DecodeBatch(std::move(*incoming_.mutable_batch()), node_,
                                           clock_->RealtimeNs() + ingest::limits::kFutureMax);
    } else {
      return absl::InvalidArgumentError("neither Hello nor Batch");
    }
    intake.node = node_;
    return absl::OkStatus();
  }

  void EndOfStream() {
    const MutexLock lock(&mutex_);
    if (!close_) close_ = absl::OkStatus();
    Pump();
  }

  // Starts what can be started next.
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_) return;
    if (close_) {
      finished_ = true;
      Finish(ToGrpc(*close_));
    } else if (welcome_ || acknowledge_) {
      outgoing_.Clear();
      if (welcome_) {
        *outgoing_.mutable_welcome() = *std::exchange(welcome_, std::nullopt);
      } else {
        outgoing_.mutable_ack()->set_sequence(*std::exchange(acknowledge_, std::nullopt));
      }
      writing_ = true;
      StartWrite(&outgoing_);
    }
  }

  const Clock* const clock_;
  IntakeQueue* const queue_;
  std::shared_ptr<StreamReactor> self_;  // until OnDone
  v1::AgentMessage incoming_;            // of the read in flight, then of the reaction to it
  std::string node_;                     // reactions to reads, which never overlap, and OnDone

  Mutex mutex_;
  v1::AnalyzerMessage outgoing_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::Welcome> welcome_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> acknowledge_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> close_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<v1::AgentMessage, v1::AnalyzerMessage>* TelemetryService::Stream(
    grpc::CallbackServerContext* /*context*/) {
  return std::make_shared<StreamReactor>(clock_, queue_)->Start();
}

}  // namespace c4::api
