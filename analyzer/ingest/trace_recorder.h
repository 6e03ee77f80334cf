// Writes everything that the engine is given, in that order, as a trace file: what --record does.
// `c4ctl analyze` on the file gives the verdicts of the live run.
//
// The file is handed to the kernel at each watermark, so that it ends, even after a crash, with a
// watermark that the engine has judged. A disk that fails costs the recording, never the service:
// the first error is kept, later writes are counted as lost. Owner thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analyzer/model/trace.h"

namespace c4::ingest {

class TraceRecorder {
 public:
  // Creates the file. One that is there (an earlier run's) is kept as `path`.1, `path`.2 …: an
  // engine that starts anew is another recording.
  static absl::StatusOr<std::unique_ptr<TraceRecorder>> Open(const std::string& path);
  ~TraceRecorder();
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  void Write(const model::Record& record);
  void WriteWatermark(model::TimeNs watermark);

  const absl::Status& status() const { return status_; }
  std::uint64_t lost_lines() const { return lost_lines_; }

 private:
  TraceRecorder(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  void Append(const std::string& line);
  void Flush();

  const std::string path_;
  const int fd_;
  std::string buffer_;
  std::uint64_t buffered_lines_ = 0;
  model::TimeNs last_watermark_ = 0;
  bool ends_with_watermark_ = true;
  absl::Status status_;
  std::uint64_t lost_lines_ = 0;
};

}  // namespace c4::ingest
