#include "agent/rings/hook_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace c4::agent {

absl::StatusOr<HookFile> HookFile::Open(int directory_fd, const std::string& name) {
  const int fd =
      openat(directory_fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    if (errno == ELOOP) {
      return absl::FailedPreconditionError(name + ": is a symbolic link");
    }
    return absl::ErrnoToStatus(errno, name);
  }
  return FromDescriptor(fd, name);
}

absl::StatusOr<HookFile> HookFile::FromDescriptor(int fd, const std::string& name) {
  struct stat info {};
  const int failed = fstat(fd, &info) != 0 ? errno : 0;
  // From here on the object closes the descriptor.
  HookFile file(fd, name, info);
  if (failed != 0) {
    return absl::ErrnoToStatus(failed, name);
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(name + ": is not a regular file");
  }
  return file;
}

HookFile::HookFile(HookFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      name_(std::move(other.name_)),
      owner_(other.owner_),
      inode_(other.inode_) {}

HookFile::~HookFile() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

absl::Status HookFile::ReadAt(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return absl::ErrnoToStatus(errno, name_);
    }
    if (got == 0) {
      return absl::OutOfRangeError(name_ + ": ends before what its header promises");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> HookFile::SizeBytes() const {
  struct stat info {};
  if (fstat(fd_, &info) != 0) {
    return absl::ErrnoToStatus(errno, name_);
  }
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace c4::agent
