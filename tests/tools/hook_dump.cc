// c4-hook-dump: prints what is in a hook file, for people. Reads it as the agent does, with pread
// and without trust: sizes and counts come from this build's layout, not from the file.
//
// Usage: c4-hook-dump FILE [OPERATIONS]    the header, all communicators, the last OPERATIONS (20)
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "common/abi/enums.h"
#include "common/abi/layout.h"

namespace c4 {
namespace {

constexpr const char* kKinds[abi::kOperationKindCount] = {
    "Unknown", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll",
    "Gather",  "Scatter",   "Send",      "Recv",          "PutSignal", "Signal", "WaitSignal"};
constexpr const char* kStates[] = {"empty",     "initialising", "ready", "finalizing",
                                   "destroyed", "aborted",      "failed"};
constexpr const char* kWriterStates[] = {"starting", "recording", "disarmed", "exited"};
constexpr const char* kTimings[] = {"host", "events", "progress"};

template <std::size_t kSize>
const char* Name(const char* const (&names)[kSize], std::uint32_t index) {
  return index < kSize ? names[index] : "?";
}

template <std::size_t kSize>
std::string Text(const char (&field)[kSize]) {
  return std::string(field, std::find(field, field + kSize, '\0'));
}

bool ReadAt(int fd, std::uint64_t offset, void* destination, std::size_t bytes) {
  return pread(fd, destination, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

void PrintHeader(const abi::Header& header) {
  std::printf("state %s  disarm_reason %u  pid %d  start %" PRIu64 "  command %s  hook %s\n",
              Name(kWriterStates, header.state), header.disarm_reason.load(), header.pid,
              header.process_start_ticks, Text(header.command).c_str(),
              Text(header.hook_version).c_str());
  std::printf("job %s  node %s  rank %d/%d  local %d  restart %u\n", Text(header.job).c_str(),
              Text(header.node).c_str(), header.global_rank, header.world_size, header.local_rank,
              header.restart_count);
  std::printf("nccl %u  cuda %d  timing %s  device %d  uuid %s  pci %s\n", header.nccl_version,
              header.cuda_driver_version, Name(kTimings, header.timing_mode), header.device,
              Text(header.gpu_uuid).c_str(), Text(header.gpu_pci).c_str());
  std::printf(
      "heartbeat_ns %" PRId64 "  operations %" PRIu64 "  dropped %" PRIu64 "  untimed %" PRIu64
      "  captured %" PRIu64 "  unknown %" PRIu64 "  communicators_dropped %" PRIu64 "\n",
      header.heartbeat_ns.load(), header.operation_head.load(), header.operations_dropped.load(),
      header.operations_untimed.load(), header.operations_captured.load(),
      header.operations_unknown_communicator.load(), header.communicators_dropped.load());
}

void PrintCommunicators(int fd) {
  for (std::uint32_t i = 0; i < abi::kCommunicatorCapacity; ++i) {
    abi::CommunicatorRecord record;
    if (!ReadAt(fd, abi::kCommunicatorOffset + i * sizeof(record), &record, sizeof(record)) ||
        record.state == 0) {
      return;
    }
    std::printf(
        "comm %u.%u  %s  id %016" PRIx64 "  hash %016" PRIx64 "  parent %016" PRIx64
        "  rank %d/%d  color %d  key %d  device %d  error %d  collectives %" PRIu64 "  name '%s'\n",
        i, record.generation.load(), Name(kStates, record.state), record.id, record.nccl_hash,
        record.parent_id, record.rank, record.rank_count, record.split_color, record.split_key,
        record.device, record.async_error, record.collectives.load(), Text(record.name).c_str());
  }
}

void PrintOperation(const abi::OperationRecord& record, std::uint64_t position) {
  if (record.ticket != position + 1) {
    std::printf("op %" PRIu64 "  (slot holds ticket %" PRIu64 ")\n", position,
                record.ticket.load());
    return;
  }
  const auto after_enqueue = [&record](std::int64_t time_ns) {
    return time_ns == 0 ? -1 : time_ns - record.enqueue_ns;
  };
  std::printf(
      "op %" PRIu64 "  comm %u.%u  seq %" PRIu64 "  %s  count %" PRIu64
      "  type %u  root %d  peer %d  group %u  stream %" PRIx64 "  enqueue %" PRId64
      "  return +%" PRId64 "  start +%" PRId64 "  end +%" PRId64 "  result %d  flags %u  %s\n",
      position, record.communicator, record.communicator_generation, record.sequence,
      Name(kKinds, record.kind), record.count, record.datatype, record.root, record.peer,
      record.group, record.stream, record.enqueue_ns.load(), after_enqueue(record.return_ns),
      after_enqueue(record.start_ns), after_enqueue(record.end_ns), record.result.load(),
      record.flags.load(), record.in_flight != 0 ? "IN FLIGHT" : "");
}

int Dump(const char* path, std::uint64_t operations) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  abi::Header header;
  if (fd < 0 || !ReadAt(fd, 0, &header, sizeof(header))) {
    std::fprintf(stderr, "c4-hook-dump: cannot read %s\n", path);
    return 1;
  }
  if (header.magic != abi::kMagic || header.version != abi::kVersion) {
    std::fprintf(stderr, "c4-hook-dump: %s is not a hook file of version %u\n", path,
                 abi::kVersion);
    return 1;
  }
  PrintHeader(header);
  PrintCommunicators(fd);
  const std::uint64_t head = header.operation_head;
  operations = std::min({operations, head, std::uint64_t{abi::kOperationCapacity}});
  for (std::uint64_t position = head - operations; position < head; ++position) {
    abi::OperationRecord record;
    if (ReadAt(fd, abi::kOperationOffset + position % abi::kOperationCapacity * sizeof(record),
               &record, sizeof(record))) {
      PrintOperation(record, position);
    }
  }
  close(fd);
  return 0;
}

}  // namespace
}  // namespace c4

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: c4-hook-dump FILE [OPERATIONS]\n");
    return 2;
  }
  constexpr std::uint64_t kDefaultOperations = 20;
  return c4::Dump(argv[1], argc == 3 ? std::strtoull(argv[2], nullptr, 10) : kDefaultOperations);
}
