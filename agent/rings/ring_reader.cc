#include "agent/rings/ring_reader.h"

#include <span>
#include <utility>

#include "common/status_macros.h"
#include "common/string_view.h"
#include "fmt/format.h"

namespace c4::agent {
namespace {

// A head that a process could not reach in a year of 1 M operations/s: from a broken writer.
constexpr std::uint64_t kHeadMax = std::uint64_t{1} << 45;

absl::Status ReadHeaderBytes(const HookFile& file, HeaderBytes* bytes) {
  return file.ReadAt(0, *bytes);
}

absl::Status WithName(const HookFile& file, const absl::Status& status) {
  return {status.code(), fmt::format("{}: {}", file.name(), ToStd(status.message()))};
}

}  // namespace

void RingPass::Clear() {
  has_identity_changed = false;
  communicators.clear();
  operations.clear();
  hold_ns = 0;
}

absl::StatusOr<std::unique_ptr<RingReader>> RingReader::Open(HookFile file) {
  C4_ASSIGN_OR_RETURN(const std::uint64_t size_bytes, file.SizeBytes());
  if (size_bytes < abi::kHeaderBytes) {
    return absl::UnavailableError(file.name() + ": has no header yet");
  }
  HeaderBytes header;
  C4_RETURN_IF_ERROR(ReadHeaderBytes(file, &header));
  const absl::StatusOr<FileLayout> layout = ParseLayout(header);
  if (!layout.ok()) {
    return WithName(file, layout.status());
  }
  if (layout->file_bytes > size_bytes) {
    return absl::InvalidArgumentError(fmt::format("{}: {} bytes, its header promises {}",
                                                  file.name(), size_bytes, layout->file_bytes));
  }
  return std::unique_ptr<RingReader>(new RingReader(std::move(file), *layout));
}

RingReader::RingReader(HookFile file, const FileLayout& layout)
    : file_(std::move(file)), layout_(layout), communicators_(layout), operations_(layout) {
  HeaderBytes header;
  if (ReadHeaderBytes(file_, &header).ok()) {
    identity_ = ParseIdentity(header);
    health_ = ParseHealth(header);
    health_.operation_head = 0;
  }
}

absl::Status RingReader::ReadHeader(RingPass* pass) {
  HeaderBytes first;
  HeaderBytes second;
  C4_RETURN_IF_ERROR(ReadHeaderBytes(file_, &first));
  C4_RETURN_IF_ERROR(ReadHeaderBytes(file_, &second));
  const absl::StatusOr<FileLayout> layout = ParseLayout(second);
  if (!layout.ok() || *layout != layout_) {
    return absl::InvalidArgumentError(file_.name() + ": its header has changed");
  }
  const FileHealth health = ParseHealth(second);
  if (health.operation_head < health_.operation_head || health.operation_head > kHeadMax) {
    return absl::InvalidArgumentError(fmt::format("{}: the head of its ring went from {} to {}",
                                                  file_.name(), health_.operation_head,
                                                  health.operation_head));
  }
  health_ = health;
  // Rank, GPU and versions are filled in later, field by field: taken when nothing moved.
  FileIdentity identity = ParseIdentity(second);
  if (identity == ParseIdentity(first) && (!has_given_identity_ || identity != identity_)) {
    if (identity.pid != identity_.pid ||
        identity.process_start_ticks != identity_.process_start_ticks) {
      return absl::InvalidArgumentError(file_.name() + ": says that it is another process's");
    }
    identity_ = std::move(identity);
    has_given_identity_ = true;
    pass->has_identity_changed = true;
  }
  return absl::OkStatus();
}

absl::Status RingReader::Poll(std::int64_t now_ns, RingPass* pass) {
  C4_RETURN_IF_ERROR(ReadHeader(pass));
  C4_RETURN_IF_ERROR(communicators_.Poll(file_, &pass->communicators));
  const std::size_t begin = pass->operations.size();
  C4_RETURN_IF_ERROR(operations_.Poll(file_, health_.operation_head, now_ns, &pass->operations));
  pass->hold_ns = operations_.hold_ns();
  std::size_t kept = begin;
  for (std::size_t i = begin; i < pass->operations.size(); ++i) {
    OperationInfo& operation = pass->operations[i];
    const CommunicatorInfo* const communicator =
        communicators_.Resolve(file_, operation.communicator_index,
                               operation.communicator_generation, &pass->communicators);
    if (communicator == nullptr) {
      ++unknown_communicators_;
      continue;
    }
    operation.communicator = communicator->id;
    pass->operations[kept++] = operation;
  }
  pass->operations.resize(kept);
  return absl::OkStatus();
}

void RingReader::Rewind() {
  communicators_.Rewind();
  operations_.Rewind();
  has_given_identity_ = false;
}

ReadLosses RingReader::losses() const {
  ReadLosses losses = operations_.losses();
  losses.unknown_communicators = unknown_communicators_;
  return losses;
}

}  // namespace c4::agent
