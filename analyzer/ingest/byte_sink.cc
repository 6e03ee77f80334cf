#include "analyzer/ingest/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::ingest {
namespace {

class FileSink final : public ByteSink {
 public:
  FileSink(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~FileSink() override { Close(); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  absl::Status Write(std::string_view bytes) override {
    while (status_.ok() && !bytes.empty()) {
      const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        Fail();
      }
    }
    return status_;
  }
  absl::Status Flush() override { return status_; }
  absl::Status Finish() override {
    // Network file systems say only now that the disk was full.
    if (fd_ >= 0 && !Close()) Fail();
    return status_;
  }

 private:
  bool Close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }
  void Fail() {
    if (status_.ok()) status_ = absl::ErrnoToStatus(errno, fmt::format("cannot write {}", path_));
  }

  const std::string path_;
  int fd_;
  absl::Status status_;
};

class ZstdSink final : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> compressed)
      : compressed_(std::move(compressed)),
        stream_(ZSTD_createCStream(), ZSTD_freeCStream),
        output_bytes_(ZSTD_CStreamOutSize()) {
    // Readers notice a damaged file.
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }

  absl::Status Write(std::string_view bytes) override { return Compress(bytes, ZSTD_e_continue); }
  absl::Status Flush() override {
    C4_RETURN_IF_ERROR(Compress({}, ZSTD_e_flush));
    return compressed_->Flush();
  }
  absl::Status Finish() override {
    C4_RETURN_IF_ERROR(Compress({}, ZSTD_e_end));
    return compressed_->Finish();
  }

 private:
  absl::Status Compress(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer output{output_bytes_.data(), output_bytes_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_.get(), &output, &input, directive);
      if (ZSTD_isError(left) != 0) {
        return absl::InternalError(fmt::format("cannot compress: {}", ZSTD_getErrorName(left)));
      }
      C4_RETURN_IF_ERROR(compressed_->Write({output_bytes_.data(), output.pos}));
      const bool done = directive == ZSTD_e_continue ? input.pos == input.size : left == 0;
      if (done) return absl::OkStatus();
    }
  }

  std::unique_ptr<ByteSink> compressed_;
  std::unique_ptr<ZSTD_CStream, decltype(&ZSTD_freeCStream)> stream_;
  std::vector<char> output_bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSink>> CreateTrace(const std::string& path, bool overwrite) {
  struct stat status {};
  // Only regular files are worth keeping: /dev/null and pipes are written to as they are.
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (there && !overwrite && S_ISREG(status.st_mode) && status.st_size > 0) {
    return absl::AlreadyExistsError(fmt::format("{} is there already", path));
  }
  // Names of jobs and nodes, texts of errors: not for everybody on the machine.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  if (fd < 0) return absl::ErrnoToStatus(errno, fmt::format("cannot write {}", path));
  auto file = std::make_unique<FileSink>(path, fd);
  if (!path.ends_with(".zst")) return file;
  return std::make_unique<ZstdSink>(std::move(file));
}

}  // namespace c4::ingest
