// A hook file's first 4 KiB, untrusted, to checked values. Pure functions over bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "agent/rings/records.h"
#include "common/abi/layout.h"

namespace c4::agent {

using HeaderBytes = std::array<std::byte, sizeof(abi::Header)>;

// Where the tables are. Every record of every table lies inside file_bytes.
struct FileLayout {
  std::uint64_t file_bytes = 0;
  std::uint32_t communicator_capacity = 0;
  std::uint64_t communicator_offset = 0;
  std::uint32_t operation_capacity = 0;
  std::uint64_t operation_offset = 0;

  friend bool operator==(const FileLayout&, const FileLayout&) = default;
};

// kUnavailable: the writer has not finished the header. kInvalidArgument: not a hook file that this
// version can read, and why.
absl::StatusOr<FileLayout> ParseLayout(const HeaderBytes& header);

FileIdentity ParseIdentity(const HeaderBytes& header);

FileHealth ParseHealth(const HeaderBytes& header);

}  // namespace c4::agent
