#include "analyzer/ingest/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <vector>

#include "common/status_macros.h"
#include "fmt/format.h"

namespace c4::ingest {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, int fd, bool owned)
      : name_(std::move(name)), fd_(fd), owned_(owned) {}
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  absl::StatusOr<std::size_t> Read(std::span<char> buffer) override {
    while (true) {
      const ssize_t count = ::read(fd_, buffer.data(), buffer.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return absl::ErrnoToStatus(errno, fmt::format("cannot read {}", name_));
    }
  }

 private:
  std::string name_;
  int fd_;
  bool owned_;
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::string name, std::unique_ptr<ByteSource> compressed)
      : name_(std::move(name)),
        compressed_(std::move(compressed)),
        stream_(ZSTD_createDStream(), ZSTD_freeDStream),
        input_bytes_(ZSTD_DStreamInSize()) {}

  absl::StatusOr<std::size_t> Read(std::span<char> buffer) override {
    ZSTD_outBuffer output{buffer.data(), buffer.size(), 0};
    while (output.pos == 0) {
      if (input_.pos == input_.size) {
        C4_ASSIGN_OR_RETURN(const std::size_t count, compressed_->Read(input_bytes_));
        if (count == 0) {
          // Half a frame: the recorder died, or the file was cut. What came before is good.
          if (frame_open_) return absl::DataLossError(fmt::format("{}: ends too early", name_));
          return 0;
        }
        input_ = {input_bytes_.data(), count, 0};
      }
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_isError(left) != 0) {
        return absl::DataLossError(fmt::format("{}: {}", name_, ZSTD_getErrorName(left)));
      }
      frame_open_ = left != 0;
    }
    return output.pos;
  }

 private:
  std::string name_;
  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::vector<char> input_bytes_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool frame_open_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenTrace(const std::string& path) {
  if (path == "-") return std::make_unique<FileSource>("standard input", STDIN_FILENO, false);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, fmt::format("cannot open {}", path));
  auto file = std::make_unique<FileSource>(path, fd, true);
  if (!path.ends_with(".zst")) return file;
  return std::make_unique<ZstdSource>(path, std::move(file));
}

}  // namespace c4::ingest
