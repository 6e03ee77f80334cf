// The communicator table of one hook file: follows its entries, says which have changed, and
// resolves an operation's (index, generation) to the communicator. One owner thread.
//
// An entry is reused when the table is full: the one before is kept as well, because operations of
// it may still be unread. Entries that change between two copies are left for the next pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "agent/rings/header.h"
#include "agent/rings/hook_file.h"
#include "agent/rings/records.h"

namespace c4::agent {

class CommunicatorReader {
 public:
  explicit CommunicatorReader(const FileLayout& layout) : layout_(layout) {}

  // Reads the table and appends those that are new or have changed.
  absl::Status Poll(const HookFile& file, std::vector<CommunicatorInfo>* changed);

  // Null when that generation of the entry was never seen; looks at the file once more before.
  // Its communicator is then appended to `changed` too: an operation must not come before it.
  const CommunicatorInfo* Resolve(const HookFile& file, std::uint32_t index,
                                  std::uint32_t generation, std::vector<CommunicatorInfo>* changed);

  // Everything counts as changed again.
  void Rewind();

 private:
  struct Seen {
    std::uint32_t generation = 0;
    bool is_known = false;
    CommunicatorInfo info;
  };
  struct Entry {
    Seen now;
    Seen before;
  };

  void Take(std::uint32_t index, const std::byte* first, const std::byte* second,
            std::vector<CommunicatorInfo>* changed);

  const FileLayout layout_;
  std::vector<Entry> entries_;  // by index; as long as the part of the table that was ever used
};

}  // namespace c4::agent
