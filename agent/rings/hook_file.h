// One file of the run directory, opened for reading by pread and nothing else: never mmap, because
// its owner may truncate it at any moment and a mapping would then kill the agent with SIGBUS.
//
// Opening never blocks (FIFOs, leases), never follows a symbolic link, and takes regular files
// only. Knows bytes, not their meaning (layout_check.h, operation_cursor.h). One owner thread.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace c4::agent {

class HookFile {
 public:
  // `name` is a plain name inside the directory. Errors name the file.
  static absl::StatusOr<HookFile> Open(int directory_fd, const std::string& name);
  // Takes over `fd`; the same checks.
  static absl::StatusOr<HookFile> FromDescriptor(int fd, const std::string& name);

  HookFile(HookFile&& other) noexcept;
  HookFile& operator=(HookFile&&) = delete;
  ~HookFile();

  // Fills all of `bytes`. kOutOfRange when the file ends before: it was truncated.
  absl::Status ReadAt(std::uint64_t offset, std::span<std::byte> bytes) const;

  // Its size now: it is still growing when the hook has just created it.
  absl::StatusOr<std::uint64_t> SizeBytes() const;

  const std::string& name() const { return name_; }
  uid_t owner() const { return owner_; }
  ino_t inode() const { return inode_; }

 private:
  HookFile(int fd, std::string name, const struct stat& info)
      : fd_(fd), name_(std::move(name)), owner_(info.st_uid), inode_(info.st_ino) {}

  int fd_;
  std::string name_;
  uid_t owner_;
  ino_t inode_;
};

}  // namespace c4::agent
