#include "analyzer/api/record_stream.h"

#include <optional>
#include <utility>

#include "analyzer/api/grpc_status.h"
#include "analyzer/api/mutex.h"
#include "fmt/format.h"

namespace c4::api {
namespace {

// Lock order: the tap's, then this one's; the tap is never called with this one's held. Start…()
// and Finish() are called as in telemetry_service.cc.
class RecordReactor final : public grpc::ServerWriteReactor<v1::RecordTraceResponse>,
                            public TraceListener {
 public:
  RecordReactor(std::size_t backlog_bytes_max, TraceTap* tap)
      : backlog_bytes_max_(backlog_bytes_max), backlog_(backlog_bytes_max), tap_(tap) {}

  void Start(const std::string& job) {
    const absl::Status status = tap_->Add(job, this);
    const MutexLock lock(&mutex_);
    if (!status.ok()) end_ = ToGrpc(status);
    Pump();
  }

  bool OnChunk(TraceChunk chunk) override {
    const MutexLock lock(&mutex_);
    if (end_) return false;
    if (!backlog_.Push(std::move(chunk))) {
      end_ = grpc::Status(
          grpc::StatusCode::RESOURCE_EXHAUSTED,
          fmt::format("too slow: more than {} MiB were waiting", backlog_bytes_max_ >> 20));
    }
    Pump();
    return !end_;
  }

  void OnEnd(const absl::Status& why) override {
    const MutexLock lock(&mutex_);
    if (!end_) end_ = ToGrpc(why);
    Pump();
  }

  void OnWriteDone(bool ok) override {
    const MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok) Abandon();
    Pump();
  }

  void OnCancel() override {
    const MutexLock lock(&mutex_);
    Abandon();
    Pump();
  }

  void OnDone() override {
    tap_->Remove(this);
    delete this;
  }

 private:
  // Nobody reads any more.
  void Abandon() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    backlog_.Clear();
    if (!end_) end_ = grpc::Status::CANCELLED;
  }

  // What waits goes out before the end does.
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_) return;
    if (std::optional<TraceChunk> chunk = backlog_.Pop()) {
      response_.set_lines(std::move(chunk->lines));
      response_.set_records(chunk->records);
      response_.set_watermark(chunk->watermark);
      response_.set_ends_with_watermark(chunk->ends_with_watermark);
      writing_ = true;
      StartWrite(&response_);
    } else if (end_) {
      finished_ = true;
      Finish(*end_);
    }
  }

  const std::size_t backlog_bytes_max_;
  Mutex mutex_;
  TraceBacklog backlog_ ABSL_GUARDED_BY(mutex_);
  v1::RecordTraceResponse response_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  TraceTap* const tap_;
};

}  // namespace

grpc::ServerWriteReactor<v1::RecordTraceResponse>* StartRecordStream(const std::string& job,
                                                                     std::size_t backlog_bytes_max,
                                                                     TraceTap* tap) {
  auto* reactor = new RecordReactor(backlog_bytes_max, tap);
  reactor->Start(job);
  return reactor;
}

}  // namespace c4::api
