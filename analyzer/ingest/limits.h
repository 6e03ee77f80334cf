// Bounds on what the analyzer takes from others, network and trace files alike. Each has a reason;
// what goes over a bound is refused and counted, never cut silently (texts for people excepted).
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyzer/model/time.h"

namespace c4::ingest::limits {

// Ranks are global ranks of a job: sixteen times the largest job that is published.
inline constexpr int kRanksMax = 1 << 20;

// Names that act as keys. Kubernetes names are at most 253 characters, Slurm's shorter.
inline constexpr std::size_t kNameBytesMax = 256;

// Texts for people: kernel log lines and exception messages; longer ones are cut.
inline constexpr std::size_t kTextBytesMax = 4096;

// Earlier incidents that a job's record may list; what is over that is left out. An operator who
// has more than that of one job looks at the newest.
inline constexpr std::size_t kPreviousIncidentsMax = 256;

// Frames of a stack; deeper ones are cut at the outer end.
inline constexpr std::size_t kStackFramesMax = 64;

// 2200-01-01. Sums of two times stay inside int64.
inline constexpr model::TimeNs kTimeMax = 7'258'118'400 * model::kSecond;

// start and end may precede enqueue by this much: the GPU's clock is mapped to the host's.
inline constexpr model::DurationNs kOperationSlack = 1 * model::kSecond;

// One trace line: a communicator of kRanksMax members needs 8 MiB.
inline constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;

// One batch. An agent sends every 200 ms: 8 ranks at 1,000 collectives/s, each sent twice, are
// 3,200 records; what the rings hold after a restart (8 x 16,384) comes in several batches.
inline constexpr int kRecordsPerBatchMax = 1 << 16;

// Communicators known at a time, and members in all of them: 64 MiB.
inline constexpr std::size_t kCommunicatorsMax = std::size_t{1} << 18;
inline constexpr std::size_t kMembersMax = std::size_t{1} << 24;

// Ranks whose node is known: two jobs of the largest size, about 200 MiB.
inline constexpr std::size_t kOwnedRanksMax = std::size_t{1} << 21;

// Nodes with an agent: thirty times what one analyzer is built for.
inline constexpr std::size_t kNodesMax = std::size_t{1} << 16;

// Live: a fact may not be further in the future of the analyzer's clock than this. Clocks of a
// cluster differ by seconds; a day is garbage, and would pin memory until then.
inline constexpr model::DurationNs kFutureMax = 24 * 3600 * model::kSecond;

}  // namespace c4::ingest::limits
