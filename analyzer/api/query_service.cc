#include "analyzer/api/query_service.h"

#include <deque>
#include <optional>
#include <utility>

#include "analyzer/api/mutex.h"
#include "analyzer/api/record_stream.h"

namespace c4::api {
namespace {

// One watching client. Lock order: the board's, then this one's; the board is never called with
// this one's held. Start…() and Finish() are called as in telemetry_service.cc.
class WatchReactor final : public grpc::ServerWriteReactor<v1::WatchVerdictsResponse>,
                           public VerdictListener {
 public:
  WatchReactor(VerdictFilter filter, std::size_t backlog_max, Board* board)
      : filter_(std::move(filter)), backlog_max_(backlog_max), board_(board) {}

  void Start() {
    // A verdict that is published in between is in the queue already when the present ones are put
    // before it, and nothing is written until then.
    std::vector<SharedVerdict> present = board_->Subscribe(filter_, this);
    const MutexLock lock(&mutex_);
    present_ = present.size();
    queue_.insert(queue_.begin(), present.begin(), present.end());
    started_ = true;
    // Tells the client that it is watching, also while there is nothing to see.
    StartSendInitialMetadata();
    Pump();
  }

  void OnVerdict(const SharedVerdict& verdict) override {
    if (!filter_.Matches(*verdict)) return;
    const MutexLock lock(&mutex_);
    if (finish_) return;
    if (queue_.size() - present_ >= backlog_max_) {
      finish_ = grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                             "too slow: verdicts were lost, ask again for the present ones");
      queue_.clear();
      present_ = 0;
    } else {
      queue_.push_back(verdict);
    }
    Pump();
  }

  void OnWriteDone(bool ok) override {
    const MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok && !finish_) finish_ = grpc::Status::CANCELLED;
    Pump();
  }

  void OnCancel() override {
    const MutexLock lock(&mutex_);
    if (!finish_) finish_ = grpc::Status::CANCELLED;
    Pump();
  }

  void OnDone() override {
    board_->Unsubscribe(this);
    delete this;
  }

 private:
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!started_ || writing_ || finished_) return;
    if (finish_) {
      finished_ = true;
      Finish(*finish_);
    } else if (!queue_.empty()) {
      *response_.mutable_verdict() = *queue_.front();
      queue_.pop_front();
      if (present_ > 0) --present_;
      writing_ = true;
      StartWrite(&response_);
    }
  }

  const VerdictFilter filter_;
  const std::size_t backlog_max_;
  Board* const board_;

  Mutex mutex_;
  v1::WatchVerdictsResponse response_ ABSL_GUARDED_BY(mutex_);
  std::deque<SharedVerdict> queue_ ABSL_GUARDED_BY(mutex_);
  std::size_t present_ ABSL_GUARDED_BY(mutex_) = 0;  // of the queue, at its front
  std::optional<grpc::Status> finish_ ABSL_GUARDED_BY(mutex_);
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

grpc::ServerUnaryReactor* Done(grpc::CallbackServerContext* context) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* QueryService::ListJobs(grpc::CallbackServerContext* context,
                                                 const v1::ListJobsRequest* /*request*/,
                                                 v1::ListJobsResponse* response) {
  for (v1::Job& job : board_->Jobs()) *response->add_jobs() = std::move(job);
  return Done(context);
}

grpc::ServerUnaryReactor* QueryService::ListVerdicts(grpc::CallbackServerContext* context,
                                                     const v1::ListVerdictsRequest* request,
                                                     v1::ListVerdictsResponse* response) {
  for (const SharedVerdict& verdict : board_->Verdicts({request->job(), request->include_info()})) {
    *response->add_verdicts() = *verdict;
  }
  return Done(context);
}

grpc::ServerWriteReactor<v1::WatchVerdictsResponse>* QueryService::WatchVerdicts(
    grpc::CallbackServerContext* /*context*/, const v1::WatchVerdictsRequest* request) {
  auto* reactor = new WatchReactor({request->job(), request->include_info()},
                                   options_.watch_backlog_max, board_);
  reactor->Start();
  return reactor;
}

grpc::ServerUnaryReactor* QueryService::GetStatus(grpc::CallbackServerContext* context,
                                                  const v1::GetStatusRequest* /*request*/,
                                                  v1::GetStatusResponse* response) {
  *response = board_->Status();
  return Done(context);
}

grpc::ServerWriteReactor<v1::RecordTraceResponse>* QueryService::RecordTrace(
    grpc::CallbackServerContext* /*context*/, const v1::RecordTraceRequest* request) {
  return StartRecordStream(request->job(), options_.record_backlog_bytes_max, tap_);
}

}  // namespace c4::api
