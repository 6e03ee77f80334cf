#include "tests/unit/agent/rings/fake_hook.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "common/abi/enums.h"
#include "common/check.h"

namespace c4::agent::testing {

FakeHook::FakeHook(const std::string& path, const Options& options) {
  communicator_offset_ = abi::kHeaderBytes;
  operation_offset_ =
      communicator_offset_ + options.communicator_capacity * sizeof(abi::CommunicatorRecord);
  const std::uint64_t flow_offset =
      operation_offset_ + options.operation_capacity * sizeof(abi::OperationRecord);
  bytes_ = flow_offset + sizeof(abi::FlowRecord);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  C4_CHECK(fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes_)) == 0);
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  C4_CHECK(memory != MAP_FAILED);
  close(fd);
  base_ = static_cast<char*>(memory);
  abi::Header& h = header();
  h.magic = abi::kMagic;
  h.version = abi::kVersion;
  h.header_bytes = abi::kHeaderBytes;
  h.file_bytes = bytes_;
  h.communicator_capacity = options.communicator_capacity;
  h.communicator_bytes = sizeof(abi::CommunicatorRecord);
  h.communicator_offset = communicator_offset_;
  h.operation_capacity = options.operation_capacity;
  h.operation_bytes = sizeof(abi::OperationRecord);
  h.operation_offset = operation_offset_;
  h.flow_capacity = 1;
  h.flow_bytes = sizeof(abi::FlowRecord);
  h.flow_offset = flow_offset;
  h.pid = options.pid;
  h.process_start_ticks = options.start_ticks;
  h.global_rank = options.rank;
  h.world_size = 8;
  h.local_rank = 1;
  h.restart_count = options.restart_count;
  h.device = 1;
  options.job.copy(h.job, sizeof(h.job));
  std::strncpy(h.node, "node1", sizeof(h.node) - 1);
  std::strncpy(h.command, "python3", sizeof(h.command) - 1);
  h.anchor_monotonic_ns = 1'000'000;
  if (options.is_published) {
    h.state.store(static_cast<std::uint32_t>(abi::WriterState::kRecording));
  }
}

FakeHook::~FakeHook() { munmap(base_, bytes_); }

abi::CommunicatorRecord& FakeHook::communicator(std::uint32_t index) {
  return reinterpret_cast<abi::CommunicatorRecord*>(base_ + communicator_offset_)[index];
}

abi::OperationRecord& FakeHook::slot(std::uint64_t position) {
  return reinterpret_cast<abi::OperationRecord*>(
      base_ + operation_offset_)[position % header().operation_capacity];
}

void FakeHook::AddCommunicator(std::uint32_t index, std::uint64_t id, std::int32_t rank,
                               std::int32_t size) {
  abi::CommunicatorRecord& record = communicator(index);
  record.state = static_cast<std::uint32_t>(abi::CommunicatorState::kEmpty);
  record.generation.fetch_add(1);
  record.id = id;
  record.rank = rank;
  record.rank_count = size;
  record.created_ns = 2'000'000;
  std::memset(record.name, 0, sizeof(record.name));
  std::strncpy(record.name, "dp", sizeof(record.name) - 1);
  record.state = static_cast<std::uint32_t>(abi::CommunicatorState::kReady);
}

void FakeHook::Publish(std::uint64_t position, std::int64_t enqueue_ns,
                       std::uint32_t communicator_index) {
  abi::OperationRecord& record = slot(position);
  record.ticket.store(0);
  record.communicator = communicator_index;
  record.communicator_generation = communicator(communicator_index).generation;
  record.group = 0;
  record.sequence = position;
  record.count = 1024;
  record.stream = 5;
  record.enqueue_ns = enqueue_ns;
  record.return_ns = 0;
  record.start_ns = 0;
  record.end_ns = 0;
  record.root = -1;
  record.peer = -1;
  record.reduction = 0;
  record.result = -1;
  record.kind = static_cast<std::uint8_t>(abi::OperationKind::kAllReduce);
  record.datatype = 9;
  record.flags = 0;
  record.in_flight.store(1);
  record.ticket.store(position + 1);
}

std::uint64_t FakeHook::Begin(std::int64_t enqueue_ns, std::uint32_t communicator_index) {
  const std::uint64_t position = Claim();
  Publish(position, enqueue_ns, communicator_index);
  return position;
}

void FakeHook::End(std::uint64_t position, std::int64_t start_ns, std::int64_t end_ns) {
  abi::OperationRecord& record = slot(position);
  record.return_ns = record.enqueue_ns + 10;
  record.result = 0;
  record.start_ns = start_ns;
  record.end_ns = end_ns;
  record.in_flight.store(0);
}

std::uint64_t FakeHook::Run(std::int64_t enqueue_ns) {
  const std::uint64_t position = Begin(enqueue_ns);
  End(position, enqueue_ns + 100, enqueue_ns + 200);
  return position;
}

}  // namespace c4::agent::testing
