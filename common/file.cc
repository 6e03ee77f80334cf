#include "common/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/cleanup/cleanup.h"

namespace c4 {

absl::StatusOr<std::string> ReadFile(const std::string& path, std::size_t bytes_max) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  const auto closer = absl::MakeCleanup([fd] { close(fd); });
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(path + ": not a regular file");
  }
  std::string content;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return absl::ErrnoToStatus(errno, path);
    }
    if (got == 0) {
      return content;
    }
    if (content.size() + static_cast<std::size_t>(got) > bytes_max) {
      return absl::ResourceExhaustedError(path + ": longer than " + std::to_string(bytes_max) +
                                          " bytes");
    }
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace c4
