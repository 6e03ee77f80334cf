// What the host of a rank is seen to do: from its process state and stack. Pure functions.
#pragma once

#include <string>

#include "analyzer/localise/context.h"

namespace c4::localise {

enum class HostActivity : unsigned char {
  kUnknown,   // nobody looked, or too long ago
  kIdle,      // asleep or blocked, without CPU time or I/O, each time somebody looked
  kBusy,      // uses CPU time
  kInOut,     // reads or writes
  kInLaunch,  // inside a call of the communication library
  kInDriver,  // blocked in the kernel, in the GPU's driver
  kLeaving,   // tears its process group down, or exits
};

struct HostClue {
  HostActivity activity = HostActivity::kUnknown;
  model::TimeNs since = 0;  // first of the unbroken row of samples that say the same
  model::TimeNs last = 0;
  std::string frame;  // the innermost telling one
  std::string text;   // for people
};

// Of the samples since `since`.
HostClue HostOf(const Context& context, int rank, model::TimeNs since);

// The newest error that the program itself reported at or after `from` and that is not merely a
// complaint about others (watchdogs, time-outs, transport); nullptr: none.
const model::ErrorRecord* OwnErrorOf(const Context& context, int rank, model::TimeNs from);

}  // namespace c4::localise
