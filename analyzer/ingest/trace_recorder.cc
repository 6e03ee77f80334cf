#include "analyzer/ingest/trace_recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "analyzer/ingest/trace_json.h"
#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::ingest {
namespace {

// A watermark comes several times a second; a burst in between is written in pieces of this size.
constexpr std::size_t kBufferBytesMax = std::size_t{1} << 22;

constexpr int kEarlierRecordingsMax = 10'000;

absl::Status MoveAside(const std::string& path) {
  for (int number = 1; number <= kEarlierRecordingsMax; ++number) {
    const std::string aside = fmt::format("{}.{}", path, number);
    if (::access(aside.c_str(), F_OK) == 0) continue;
    if (::rename(path.c_str(), aside.c_str()) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, fmt::format("cannot rename {} to {}", path, aside));
  }
  return absl::ResourceExhaustedError(
      fmt::format("{}: {} earlier recordings are there already", path, kEarlierRecordingsMax));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceRecorder>> TraceRecorder::Open(const std::string& path) {
  struct stat status {};
  // Only regular files are kept: /dev/null and pipes are written to as they are.
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    C4_RETURN_IF_ERROR(MoveAside(path));
  }
  // Names of jobs and nodes, texts of errors: not for everybody on the machine.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd < 0) return absl::ErrnoToStatus(errno, fmt::format("cannot write {}", path));
  auto recorder = std::unique_ptr<TraceRecorder>(new TraceRecorder(path, fd));
  recorder->Append(FormatTraceLine(TraceVersion{kTraceVersion}));
  return recorder;
}

TraceRecorder::~TraceRecorder() {
  // Records after the last watermark were given and never judged. Saying the watermark again keeps
  // a replay from judging them.
  if (!ends_with_watermark_ && last_watermark_ != 0) WriteWatermark(last_watermark_);
  Flush();
  ::close(fd_);
}

void TraceRecorder::Write(const model::Record& record) {
  ends_with_watermark_ = false;
  Append(FormatTraceLine(record));
  if (buffer_.size() >= kBufferBytesMax) Flush();
}

void TraceRecorder::WriteWatermark(model::TimeNs watermark) {
  last_watermark_ = watermark;
  ends_with_watermark_ = true;
  Append(FormatTraceLine(Watermark{watermark}));
  Flush();
}

void TraceRecorder::Append(const std::string& line) {
  buffer_ += line;
  buffer_ += '\n';
  ++buffered_lines_;
}

void TraceRecorder::Flush() {
  std::size_t written = 0;
  while (status_.ok() && written < buffer_.size()) {
    const ssize_t count = ::write(fd_, buffer_.data() + written, buffer_.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      status_ = absl::ErrnoToStatus(errno, fmt::format("cannot write {}", path_));
    }
  }
  if (!status_.ok()) lost_lines_ += buffered_lines_;
  buffer_.clear();
  buffered_lines_ = 0;
}

}  // namespace c4::ingest
