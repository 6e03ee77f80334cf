// Where the bytes of a trace go: a file, a compressed file, a stream. Blocking; one owner thread.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace c4::ingest {

// Errors name the sink. After an error nothing more is written.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual absl::Status Write(std::string_view bytes) = 0;
  // What has been written can be read by others, also if this process dies now.
  virtual absl::Status Flush() = 0;
  // Nothing comes any more. Without it a compressed file is cut, and readers say so.
  virtual absl::Status Finish() = 0;
};

// Compresses when the name ends in .zst. A regular file that has something in it is refused
// (kAlreadyExists) unless `overwrite`.
absl::StatusOr<std::unique_ptr<ByteSink>> CreateTrace(const std::string& path, bool overwrite);

class StreamSink final : public ByteSink {
 public:
  StreamSink(std::string name, std::ostream* stream) : name_(std::move(name)), stream_(stream) {}
  absl::Status Write(std::string_view bytes) override {
    stream_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return Check();
  }
  absl::Status Flush() override {
    stream_->flush();
    return Check();
  }
  absl::Status Finish() override { return Flush(); }

 private:
  absl::Status Check() const {
    return *stream_ ? absl::OkStatus() : absl::UnavailableError("cannot write " + name_);
  }

  const std::string name_;
  std::ostream* const stream_;
};

}  // namespace c4::ingest
