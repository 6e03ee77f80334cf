// Everything that one hook file says, pass by pass: who it belongs to, its communicators, its
// operations. Untrusted: each pass re-reads and re-checks the header, copies what it uses, and
// gives only values that can be true. One owner thread; never blocks.
//
// Does not know processes, directories or the analyzer. A file that breaks the rules is finished:
// Poll() returns why, and its owner drops the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/rings/communicator_reader.h"
#include "agent/rings/header.h"
#include "agent/rings/hook_file.h"
#include "agent/rings/operation_reader.h"
#include "agent/rings/records.h"

namespace c4::agent {

// What one pass found. Reused from pass to pass; Clear() keeps the memory.
struct RingPass {
  bool has_identity_changed = false;
  std::vector<CommunicatorInfo> communicators;  // new or changed; before the operations
  std::vector<OperationInfo> operations;        // new or changed
  // Operations that began at or before this may still be missing. 0: none are.
  std::int64_t hold_ns = 0;

  void Clear();
};

class RingReader {
 public:
  // kUnavailable: the writer has not finished the header, try again later. Other errors are final.
  static absl::StatusOr<std::unique_ptr<RingReader>> Open(HookFile file);

  // One pass. `now_ns` is its start. Errors are final.
  absl::Status Poll(std::int64_t now_ns, RingPass* pass);

  // The next pass gives everything that the file still holds.
  void Rewind();

  const HookFile& file() const { return file_; }
  const FileIdentity& identity() const { return identity_; }
  const FileHealth& health() const { return health_; }
  ReadLosses losses() const;
  std::size_t in_flight() const { return operations_.in_flight(); }

 private:
  RingReader(HookFile file, const FileLayout& layout);

  absl::Status ReadHeader(RingPass* pass);

  HookFile file_;
  const FileLayout layout_;
  FileIdentity identity_;
  bool has_given_identity_ = false;
  FileHealth health_;
  CommunicatorReader communicators_;
  OperationReader operations_;
  std::uint64_t unknown_communicators_ = 0;
};

}  // namespace c4::agent
