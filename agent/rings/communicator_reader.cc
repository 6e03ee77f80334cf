#include "agent/rings/communicator_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "agent/rings/bytes.h"
#include "common/abi/communicator_record.h"
#include "common/status_macros.h"

namespace c4::agent {
namespace {

constexpr std::size_t kRecordBytes = sizeof(abi::CommunicatorRecord);
constexpr std::size_t kRecordsPerRead = 16;
static_assert(std::is_standard_layout_v<abi::CommunicatorRecord>);

#define C4_COMMUNICATOR_FIELD(type, name) \
  FieldAt<type>(record, offsetof(abi::CommunicatorRecord, name))

abi::CommunicatorState StateAt(const std::byte* record) {
  return static_cast<abi::CommunicatorState>(C4_COMMUNICATOR_FIELD(std::uint32_t, state));
}

CommunicatorInfo Parse(const std::byte* record) {
  CommunicatorInfo info;
  info.id = C4_COMMUNICATOR_FIELD(std::uint64_t, id);
  info.nccl_hash = C4_COMMUNICATOR_FIELD(std::uint64_t, nccl_hash);
  info.parent_id = C4_COMMUNICATOR_FIELD(std::uint64_t, parent_id);
  info.member = C4_COMMUNICATOR_FIELD(std::int32_t, rank);
  info.size = C4_COMMUNICATOR_FIELD(std::int32_t, rank_count);
  info.state = StateAt(record);
  info.async_error = C4_COMMUNICATOR_FIELD(std::int32_t, async_error);
  const auto ended_ns = C4_COMMUNICATOR_FIELD(std::int64_t, ended_ns);
  info.changed_ns = ended_ns > 0 ? ended_ns : C4_COMMUNICATOR_FIELD(std::int64_t, created_ns);
  info.name = TextAt<sizeof(abi::CommunicatorRecord::name)>(
      record, offsetof(abi::CommunicatorRecord, name));
  return info;
}

bool IsUnused(const std::byte* record) {
  return C4_COMMUNICATOR_FIELD(std::uint32_t, generation) == 0 &&
         StateAt(record) == abi::CommunicatorState::kEmpty;
}

#undef C4_COMMUNICATOR_FIELD

// The counter of collectives moves all the time and says nothing about the rest.
bool IsSameRecord(const std::byte* first, const std::byte* second) {
  constexpr std::size_t kCounter = offsetof(abi::CommunicatorRecord, collectives);
  constexpr std::size_t kAfter = kCounter + sizeof(std::uint64_t);
  return std::memcmp(first, second, kCounter) == 0 &&
         std::memcmp(first + kAfter, second + kAfter, kRecordBytes - kAfter) == 0;
}

}  // namespace

absl::Status CommunicatorReader::Poll(const HookFile& file,
                                      std::vector<CommunicatorInfo>* changed) {
  std::array<std::byte, kRecordsPerRead * kRecordBytes> first;
  std::array<std::byte, kRecordsPerRead * kRecordBytes> second;
  for (std::uint32_t index = 0; index < layout_.communicator_capacity;) {
    const std::uint32_t count =
        std::min<std::uint32_t>(kRecordsPerRead, layout_.communicator_capacity - index);
    const std::uint64_t offset = layout_.communicator_offset + index * kRecordBytes;
    C4_RETURN_IF_ERROR(file.ReadAt(offset, {first.data(), count * kRecordBytes}));
    C4_RETURN_IF_ERROR(file.ReadAt(offset, {second.data(), count * kRecordBytes}));
    for (std::uint32_t i = 0; i < count; ++i, ++index) {
      const std::byte* const record = first.data() + i * kRecordBytes;
      // Entries are used from the first on: behind an unused one there are only unused ones.
      if (IsUnused(record)) {
        return absl::OkStatus();
      }
      Take(index, record, second.data() + i * kRecordBytes, changed);
    }
  }
  return absl::OkStatus();
}

const CommunicatorInfo* CommunicatorReader::Resolve(const HookFile& file, std::uint32_t index,
                                                    std::uint32_t generation,
                                                    std::vector<CommunicatorInfo>* changed) {
  if (index >= layout_.communicator_capacity) {
    return nullptr;
  }
  const auto find = [&]() -> const CommunicatorInfo* {
    if (index >= entries_.size()) {
      return nullptr;
    }
    for (const Seen* seen : {&entries_[index].now, &entries_[index].before}) {
      if (seen->is_known && seen->generation == generation) {
        return &seen->info;
      }
    }
    return nullptr;
  };
  if (const CommunicatorInfo* const known = find()) {
    return known;
  }
  std::array<std::byte, kRecordBytes> first;
  std::array<std::byte, kRecordBytes> second;
  const std::uint64_t offset = layout_.communicator_offset + index * kRecordBytes;
  if (!file.ReadAt(offset, first).ok() || !file.ReadAt(offset, second).ok()) {
    return nullptr;
  }
  Take(index, first.data(), second.data(), changed);
  return find();
}

void CommunicatorReader::Take(std::uint32_t index, const std::byte* first, const std::byte* second,
                              std::vector<CommunicatorInfo>* changed) {
  if (StateAt(first) == abi::CommunicatorState::kEmpty || !IsSameRecord(first, second)) {
    return;
  }
  const auto generation =
      FieldAt<std::uint32_t>(first, offsetof(abi::CommunicatorRecord, generation));
  CommunicatorInfo info = Parse(first);
  if (index >= entries_.size()) {
    entries_.resize(index + 1);
  }
  Entry& entry = entries_[index];
  if (entry.now.is_known && entry.now.generation != generation) {
    entry.before = std::exchange(entry.now, Seen{});
  }
  if (entry.now.is_known && entry.now.info == info) {
    return;
  }
  entry.now = {generation, true, std::move(info)};
  changed->push_back(entry.now.info);
}

void CommunicatorReader::Rewind() {
  for (Entry& entry : entries_) {
    // An info that no record equals: the next Poll reports the entry, and until then it resolves.
    entry.now.info.changed_ns = -1;
  }
}

}  // namespace c4::agent
