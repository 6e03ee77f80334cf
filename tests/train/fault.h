// What is to go wrong, where and when; as words on the command line or in a trigger file.
//
// The words are `key=value` pairs: fault=slow-gpu rank=5 step=30 percent=20 ms=60 kind=count.
// Thread: any; a value. What it is not: the doing, which is injector.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace c4::train {

struct Fault {
  enum class Kind {
    kNone,
    kSlowGpu,   // compute kernels take `percent` longer
    kSlowHost,  // the host is `ms` late with each microbatch's work
    kHangHost,  // the host stops calling; its thread lives on
    kHangGpu,   // a kernel that never ends, on the compute stream
    kDeadRank,  // SIGKILL
    kMismatch,  // one rank calls something else than the others
  };
  enum class MismatchKind { kCount, kOperation };

  Kind kind = Kind::kNone;
  int rank = 0;
  int64_t step = 0;  // the first step with the fault
  int percent = 20;
  int ms = 60;
  MismatchKind mismatch_kind = MismatchKind::kCount;

  bool ActiveAt(int64_t at_step) const { return kind != Kind::kNone && at_step >= step; }
  bool operator==(const Fault&) const = default;
};

// Changes what the words name; false, and *fault as it was, when a word is unknown or malformed.
bool ApplyFaultWords(std::string_view words, Fault* fault);

// What the trigger file says now; nothing while it is absent, incomplete or not understood.
std::optional<Fault> ReadTrigger(const std::string& path);

}  // namespace c4::train
