#include "nccl_hook/run_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "nccl_hook/clock.h"

namespace c4::hook {
namespace {

constexpr char kDefaultDirectory[] = "/run/c4";
constexpr char kHookVersion[] = C4_VERSION;
constexpr int kStartTimeField = 22;

// Reads a small file of /proc as text; false when it cannot be read.
bool ReadText(const char* path, char* buffer, std::size_t capacity) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  const ssize_t bytes = read(fd, buffer, capacity - 1);
  close(fd);
  if (bytes <= 0) {
    return false;
  }
  buffer[bytes] = '\0';
  return true;
}

// The directory, opened; -1 when there is none that is safe to write to. A directory that we make
// ourselves under /tmp must be ours: another user could have placed it there first.
int OpenDirectory(const char* chosen) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  if (chosen != nullptr && chosen[0] != '\0') {
    mkdir(chosen, 0700);
    return open(chosen, kFlags);
  }
  if (access(kDefaultDirectory, W_OK | X_OK) == 0) {
    return open(kDefaultDirectory, kFlags);
  }
  char path[64];
  std::snprintf(path, sizeof(path), "/tmp/c4-%u", static_cast<unsigned>(geteuid()));
  mkdir(path, 0700);
  const int fd = open(path, kFlags | O_NOFOLLOW);
  if (fd < 0) {
    return -1;
  }
  // The system call itself: glibc's fstat has a version newer than 2.17.
  struct stat status;
  if (syscall(SYS_fstat, fd, &status) != 0 || status.st_uid != geteuid()) {
    close(fd);
    return -1;
  }
  return fd;
}

// Reserves every page now. A sparse file would be cheaper by less than a ring's lap, and a full
// tmpfs would then kill the job with SIGBUS at some collective instead of failing here.
bool Reserve(int fd) {
  if (ftruncate(fd, static_cast<off_t>(abi::kFileBytes)) != 0) {
    return false;
  }
  if (fallocate(fd, 0, 0, static_cast<off_t>(abi::kFileBytes)) == 0) {
    return true;
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS) {
    return false;
  }
  static constexpr char kZeros[abi::kHeaderBytes] = {};
  for (std::uint64_t offset = 0; offset < abi::kFileBytes; offset += sizeof(kZeros)) {
    const std::uint64_t left = abi::kFileBytes - offset;
    const std::size_t bytes = left < sizeof(kZeros) ? left : sizeof(kZeros);
    if (pwrite(fd, kZeros, bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes)) {
      return false;
    }
  }
  return true;
}

void FillLayout(abi::Header* header) {
  header->magic = abi::kMagic;
  header->version = abi::kVersion;
  header->header_bytes = abi::kHeaderBytes;
  header->file_bytes = abi::kFileBytes;
  header->communicator_capacity = abi::kCommunicatorCapacity;
  header->communicator_bytes = sizeof(abi::CommunicatorRecord);
  header->communicator_offset = abi::kCommunicatorOffset;
  header->operation_capacity = abi::kOperationCapacity;
  header->operation_bytes = sizeof(abi::OperationRecord);
  header->operation_offset = abi::kOperationOffset;
  header->flow_capacity = abi::kFlowCapacity;
  header->flow_bytes = sizeof(abi::FlowRecord);
  header->flow_offset = abi::kFlowOffset;
}

void FillIdentity(const Identity& identity, std::uint64_t start_ticks, abi::Header* header) {
  header->pid = getpid();
  header->global_rank = identity.global_rank;
  header->world_size = identity.world_size;
  header->local_rank = identity.local_rank;
  header->process_start_ticks = start_ticks;
  header->restart_count = identity.restart_count;
  header->device = -1;
  std::memcpy(header->job, identity.job, sizeof(header->job));
  std::memcpy(header->node, identity.node, sizeof(header->node));
  if (header->node[0] == '\0') {
    gethostname(header->node, sizeof(header->node));
  }
  CopyLabel(header->hook_version, sizeof(header->hook_version), kHookVersion);
  char command[64] = {};
  if (ReadText("/proc/self/comm", command, sizeof(command))) {
    command[std::strcspn(command, "\n")] = '\0';
    CopyLabel(header->command, sizeof(header->command), command);
  }
  header->anchor_monotonic_ns = NowNs();
  header->anchor_realtime_ns = ReadClockNs(CLOCK_REALTIME);
}

}  // namespace

std::uint64_t ParseStartTicks(const char* stat) {
  // The command is in brackets and may contain anything, so count fields from the last bracket.
  const char* next = std::strrchr(stat, ')');
  if (next == nullptr) {
    return 0;
  }
  for (int field = 2; field < kStartTimeField; ++field) {
    next = std::strchr(next + 1, ' ');
    if (next == nullptr) {
      return 0;
    }
  }
  std::uint64_t ticks = 0;
  for (++next; *next >= '0' && *next <= '9'; ++next) {
    ticks = ticks * 10 + static_cast<std::uint64_t>(*next - '0');
  }
  return ticks;
}

bool CreateRunFile(const char* directory, const Identity& identity, RunFile* file) {
  char stat[1024];
  if (!ReadText("/proc/self/stat", stat, sizeof(stat))) {
    return false;
  }
  const std::uint64_t start_ticks = ParseStartTicks(stat);
  const int directory_fd = OpenDirectory(directory);
  if (directory_fd < 0) {
    return false;
  }
  char name[64];
  std::snprintf(name, sizeof(name), "%d-%llu.c4", static_cast<int>(getpid()),
                static_cast<unsigned long long>(start_ticks));
  const int fd =
      openat(directory_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  void* memory = MAP_FAILED;
  if (fd >= 0 && Reserve(fd)) {
    // Populated: no collective of the first lap shall pay for a page fault.
    memory =
        mmap(nullptr, abi::kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  }
  if (fd >= 0) {
    close(fd);
    if (memory == MAP_FAILED) {
      unlinkat(directory_fd, name, 0);
    }
  }
  close(directory_fd);
  if (memory == MAP_FAILED) {
    return false;
  }
  auto* base = static_cast<char*>(memory);
  file->header = reinterpret_cast<abi::Header*>(base);
  file->communicators = reinterpret_cast<abi::CommunicatorRecord*>(base + abi::kCommunicatorOffset);
  file->operations = reinterpret_cast<abi::OperationRecord*>(base + abi::kOperationOffset);
  file->flows = reinterpret_cast<abi::FlowRecord*>(base + abi::kFlowOffset);
  FillLayout(file->header);
  FillIdentity(identity, start_ticks, file->header);
  return true;
}

void PublishRunFile(RunFile* file) {
  // Release; pairs with the reader's check of the state before it reads anything else.
  file->header->state.store(static_cast<std::uint32_t>(abi::WriterState::kRecording),
                            std::memory_order_release);
}

}  // namespace c4::hook
