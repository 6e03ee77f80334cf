// Bounds on what the agent reads, keeps and sends. Each has a reason; going over one is counted and
// travels to the analyzer as a Loss, never a silent cut. Memory at all limits together stays under
// the 100 MiB that the agent may use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace c4::agent {

inline constexpr std::int64_t kMillisecondNs = 1'000'000;
inline constexpr std::int64_t kSecondNs = 1'000'000'000;

// Hook files of living processes that are read. One process per GPU; the most that one machine
// offers is 8 GPUs of 7 MIG slices each. Costs at most 0.6 MiB per file (kInFlightMax).
inline constexpr std::size_t kLiveFilesMax = 64;

// Files of ended processes that are kept: 2.3 MiB of tmpfs each. A job that crashes every few
// seconds must not fill the machine's memory; the oldest go first.
inline constexpr std::size_t kEndedFilesMax = 64;

// How long the file of an ended process stays: for people who look, for an agent or an analyzer
// that is restarted after the crash. Until then its operations can still be sent again.
inline constexpr std::int64_t kEndedFileGraceNs = 600 * kSecondNs;

// Names in the run directory that are looked at: the files above, and as many strangers.
inline constexpr std::size_t kRunDirectoryNamesMax = 1024;

// A file whose writer does not finish the header in this time is not a hook file.
inline constexpr std::int64_t kHeaderPatienceNs = 10 * kSecondNs;

// Operations of one file in flight that are followed. CUDA queues about 1,000 launches per stream
// before it blocks the caller; an operation over the limit is given as "untimed" and not followed.
inline constexpr std::size_t kInFlightMax = 4096;

// Positions that were claimed and are not yet published. As many threads as a process has at the
// most inside NCCL calls at one time; each is there for 100 ns unless it is preempted.
inline constexpr std::size_t kPendingPositionsMax = 1024;

// A claimed position holds complete_until back for this long. A thread that is preempted between
// two stores for longer than that is starving, and its operation arrives late.
inline constexpr std::int64_t kPendingHoldNs = 500 * kMillisecondNs;
// ... and is looked at for this long before it counts as skipped by the hook.
inline constexpr std::int64_t kPendingGiveUpNs = 30 * kSecondNs;

// Slots read with one system call: 16 KiB, fits L1 and keeps the copies' distance in time short.
inline constexpr std::size_t kSlotsPerRead = 128;

// A slot that changes between two copies is read again at once this often. Its writer needs
// nanoseconds, so a second failure means that it was preempted meanwhile.
inline constexpr int kSlotReadAttempts = 4;

// One pass over all rings, one batch. The contract with the analyzer is at most 500 ms; a ring of
// 16,384 slots lasts 16 s at 1,000 collectives/s.
inline constexpr std::int64_t kPassPeriodNs = 200 * kMillisecondNs;

// complete_until lags the start of the pass by this much, because the hook's poller publishes start
// and end after the fact: every <= 5 ms while anything is in flight, every 50 ms when idle; a call
// publishes its enqueue within microseconds. Twice the worst of them. Collectors name the moment at
// which a look began, and a look takes a few milliseconds.
inline constexpr std::int64_t kPublishDelayNs = 100 * kMillisecondNs;

// Times in a file may be this far ahead of the pass: the mapping from GPU to host time.
inline constexpr std::int64_t kTimeSlackNs = kSecondNs;

// Operations of one batch: 0.4 MiB, a tenth of gRPC's default limit of a message, and far below
// the analyzer's 65,536 records.
inline constexpr std::size_t kOperationsPerBatch = 4096;
// Other records of one batch. A node has 64 ranks of 256 communicators: a new analyzer gets them in
// several batches.
inline constexpr std::size_t kControlRecordsPerBatch = 4096;

// What is kept for an analyzer that is away: 40 s of 8 ranks at 1,000 operations/s each.
inline constexpr std::size_t kSpoolBytesMax = std::size_t{32} << 20;
// What may be under way without an acknowledgement. The analyzer acknowledges after applying; 4 MiB
// are ten full batches, or two seconds of the busiest node.
inline constexpr std::size_t kUnacknowledgedBytesMax = std::size_t{4} << 20;
// One message of the analyzer is a few dozen bytes.
inline constexpr int kReceivedMessageBytesMax = 64 << 10;
// A batch that ends this many streams without an acknowledgement is what ends them.
inline constexpr int kAttemptsPerBatchMax = 5;

// Results of collectors that the event loop has not fetched. It fetches every 200 ms; a collector
// gives dozens.
inline constexpr std::size_t kSamplesMax = 8192;

// Small files of /proc and /sys. environ is bounded by the kernel's ARG_MAX, 2 MiB by default.
inline constexpr std::size_t kProcFileBytesMax = std::size_t{4} << 10;
inline constexpr std::size_t kEnvironBytesMax = std::size_t{2} << 20;

// Network interfaces and InfiniBand ports that are watched: a node has up to 16; container hosts
// have hundreds of virtual ones, which are left out by name.
inline constexpr std::size_t kInterfacesMax = 64;

}  // namespace c4::agent
