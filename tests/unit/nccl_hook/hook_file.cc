#include "tests/unit/nccl_hook/hook_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace c4::hook {
namespace {

template <std::size_t kSize>
std::string Text(const char (&field)[kSize]) {
  return std::string(field, std::find(field, field + kSize, '\0'));
}

SeenCommunicator Copy(const abi::CommunicatorRecord& record) {
  return {static_cast<abi::CommunicatorState>(record.state.load()),
          record.generation.load(),
          record.id,
          record.nccl_hash,
          record.parent_id,
          record.rank,
          record.rank_count,
          record.split_color,
          record.device,
          record.async_error,
          record.collectives.load(),
          Text(record.name)};
}

SeenOperation Copy(const abi::OperationRecord& record) {
  return {record.ticket - 1,
          record.in_flight != 0,
          record.communicator,
          record.communicator_generation,
          record.group,
          record.sequence,
          record.count,
          record.stream,
          record.enqueue_ns,
          record.return_ns,
          record.start_ns,
          record.end_ns,
          record.root,
          record.peer,
          record.reduction,
          record.result,
          static_cast<abi::OperationKind>(record.kind),
          record.datatype,
          record.flags};
}

}  // namespace

std::optional<HookFile> ReadHookFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  const std::string bytes = content.str();
  if (bytes.size() != abi::kFileBytes) {
    return std::nullopt;
  }
  // Records are aligned to 128 bytes, which std::string does not promise.
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(4096, bytes.size()),
                                                           &std::free);
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  const auto* base = static_cast<const char*>(memory.get());
  const auto& header = *reinterpret_cast<const abi::Header*>(base);
  if (header.magic != abi::kMagic || header.version != abi::kVersion || header.state == 0) {
    return std::nullopt;
  }
  HookFile file = {static_cast<abi::WriterState>(header.state.load()),
                   static_cast<abi::DisarmReason>(header.disarm_reason.load()),
                   static_cast<abi::TimingMode>(header.timing_mode),
                   header.pid,
                   header.global_rank,
                   header.world_size,
                   header.device,
                   header.nccl_version,
                   Text(header.job),
                   Text(header.node),
                   Text(header.command),
                   Text(header.gpu_uuid),
                   Text(header.gpu_pci),
                   header.heartbeat_ns,
                   header.operation_head,
                   header.operations_dropped,
                   header.operations_untimed,
                   header.operations_captured,
                   header.operations_unknown_communicator,
                   header.communicators_dropped,
                   {},
                   {}};
  const auto* communicators =
      reinterpret_cast<const abi::CommunicatorRecord*>(base + abi::kCommunicatorOffset);
  for (std::uint32_t i = 0; i < abi::kCommunicatorCapacity && communicators[i].state != 0; ++i) {
    file.communicators.push_back(Copy(communicators[i]));
  }
  const auto* operations =
      reinterpret_cast<const abi::OperationRecord*>(base + abi::kOperationOffset);
  for (std::uint32_t i = 0; i < abi::kOperationCapacity; ++i) {
    if (operations[i].ticket != 0) {
      file.operations.push_back(Copy(operations[i]));
    }
  }
  std::sort(file.operations.begin(), file.operations.end(),
            [](const auto& a, const auto& b) { return a.position < b.position; });
  return file;
}

}  // namespace c4::hook
