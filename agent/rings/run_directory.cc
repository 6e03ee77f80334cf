#include "agent/rings/run_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "agent/limits.h"

namespace c4::agent {
namespace {

constexpr std::uint32_t kWatched = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM |
                                   IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

RunDirectory::~RunDirectory() {
  CloseDirectory();
  if (inotify_fd_ >= 0) {
    close(inotify_fd_);
  }
}

absl::Status RunDirectory::Start() {
  inotify_fd_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (inotify_fd_ < 0) {
    return absl::ErrnoToStatus(errno, "inotify");
  }
  return absl::OkStatus();
}

void RunDirectory::DrainEvents() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  bool must_refresh = false;
  while (inotify_fd_ >= 0) {
    const ssize_t got = read(inotify_fd_, buffer.data(), buffer.size());
    if (got <= 0) {
      if (got < 0 && errno == EINTR) {
        continue;
      }
      break;
    }
    for (const char* at = buffer.data(); at < buffer.data() + got;) {
      inotify_event event;
      std::memcpy(&event, at, sizeof(event));
      const std::string name =
          event.len > 0 ? std::string(at + sizeof(event), strnlen(at + sizeof(event), event.len))
                        : std::string();
      at += sizeof(event) + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        must_refresh = true;
      } else if (event.wd != watch_) {
        continue;  // of a directory that has been replaced
      } else if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) != 0) {
        must_refresh = true;
      } else if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
        Add(name);
      } else if ((event.mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
        names_.erase(name);
      }
    }
  }
  if (must_refresh) {
    Refresh();
  }
}

void RunDirectory::Refresh() {
  if (directory_fd_ >= 0 && IsReplaced()) {
    CloseDirectory();
  }
  if (directory_fd_ < 0) {
    directory_fd_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd_ < 0) {
      return;
    }
    if (inotify_fd_ >= 0) {
      // Before the listing: what appears in between is seen twice rather than never.
      watch_ = inotify_add_watch(inotify_fd_, path_.c_str(), kWatched);
    }
  }
  List();
}

bool RunDirectory::IsReplaced() const {
  struct stat by_path {};
  struct stat by_fd {};
  return stat(path_.c_str(), &by_path) != 0 || fstat(directory_fd_, &by_fd) != 0 ||
         by_path.st_ino != by_fd.st_ino || by_path.st_dev != by_fd.st_dev;
}

void RunDirectory::List() {
  // A descriptor of its own: the position of a directory stream is shared by duplicates.
  const int fd = openat(directory_fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const directory = fd >= 0 ? fdopendir(fd) : nullptr;
  if (directory == nullptr) {
    if (fd >= 0) {
      close(fd);
    }
    return;
  }
  const auto closer = absl::MakeCleanup([directory] { closedir(directory); });
  names_.clear();
  is_crowded_ = false;
  while (const dirent* const entry = readdir(directory)) {
    Add(entry->d_name);
  }
}

void RunDirectory::Add(const std::string& name) {
  if (!name.ends_with(".c4") || name.starts_with('.')) {
    return;
  }
  if (names_.size() >= kRunDirectoryNamesMax && !names_.contains(name)) {
    is_crowded_ = true;
    return;
  }
  names_.insert(name);
}

void RunDirectory::CloseDirectory() {
  if (directory_fd_ < 0) {
    return;
  }
  if (watch_ >= 0) {
    inotify_rm_watch(inotify_fd_, watch_);
    watch_ = -1;
  }
  close(directory_fd_);
  directory_fd_ = -1;
  names_.clear();
}

}  // namespace c4::agent
