#include "agent/app/tracked_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "agent/app/clean_text.h"
#include "agent/app/words.h"
#include "agent/limits.h"
#include "agent/telemetry/process_locator.h"
#include "common/string_view.h"
#include "fmt/format.h"
#include "spdlog/spdlog.h"

namespace c4::agent {
namespace {

// Ranks of jobs that do not say who they are: one job per cluster is then assumed.
constexpr char kNamelessJob[] = "default";

// How long the way a process ended may stay unknown before its end is told without: a parent
// usually fetches it at once, and only then do some kernels say it.
constexpr std::int64_t kExitStatusPatienceNs = 400 * kMillisecondNs;

// The hook's own thread writes a heartbeat at least once a second.
constexpr std::int64_t kHeartbeatPatienceNs = 3 * kSecondNs;

}  // namespace

void TrackedFile::Fail(const absl::Status& why) {
  state_ = State::kBad;
  reader_.reset();
  spdlog::warn("hook file {}: not read: {}", CleanText(name_), CleanText(ToStd(why.message())));
}

void TrackedFile::Open(int directory_fd, const std::string& proc_root, std::int64_t now_ns) {
  absl::StatusOr<HookFile> file = HookFile::Open(directory_fd, name_);
  if (absl::IsNotFound(file.status())) {
    return;  // removed meanwhile; the directory will say so
  }
  if (!file.ok()) {
    Fail(file.status());
    return;
  }
  const uid_t file_owner = file->owner();
  absl::StatusOr<std::unique_ptr<RingReader>> reader = RingReader::Open(*std::move(file));
  if (!reader.ok()) {
    if (reader.status().code() != absl::StatusCode::kUnavailable ||
        now_ns - seen_ns_ > kHeaderPatienceNs) {
      Fail(reader.status());
    }
    return;
  }
  const FileIdentity& identity = (*reader)->identity();
  const std::optional<LocatedProcess> process =
      LocateProcess(proc_root, identity.pid, identity.process_start_ticks);
  if (process && file_owner != process->owner && file_owner != 0 && file_owner != geteuid()) {
    Fail(absl::PermissionDeniedError(fmt::format("user {} may not speak for process {} of user {}",
                                                 file_owner, process->pid, process->owner)));
    return;
  }
  if (!process && IsUndecided((*reader)->health().heartbeat_ns, now_ns)) {
    return;
  }
  reader_ = *std::move(reader);
  state_ = State::kLive;
  if (process) {
    pid_ = process->pid;
    watch_.emplace(proc_root, process->pid, identity.process_start_ticks);
    CheckProcess(now_ns);
  } else if (reader_->health().heartbeat_ns > first_heartbeat_ns_ && first_heartbeat_ns_ != 0) {
    spdlog::warn(
        "hook file {}: its process lives and cannot be seen: its end will not be known. The agent "
        "needs the host's pid namespace, and root where /proc hides processes",
        CleanText(name_));
  } else {
    FindEnded(now_ns);
  }
}

// No process is to be seen, but something wrote to the file a moment ago. Another heartbeat will
// tell whether it lives out of sight (a pid namespace, hidepid) or has just ended.
bool TrackedFile::IsUndecided(std::int64_t heartbeat_ns, std::int64_t now_ns) {
  if (first_heartbeat_ns_ == 0) {
    first_heartbeat_ns_ = heartbeat_ns;
  }
  return heartbeat_ns != 0 && heartbeat_ns == first_heartbeat_ns_ &&
         std::abs(now_ns - heartbeat_ns) < kHeartbeatPatienceNs;
}

// Its process ended before this agent looked; the last sign of life is the best that is known.
void TrackedFile::FindEnded(std::int64_t now_ns) {
  pid_ = reader_->identity().pid;
  exit_status_ = ExitStatus{};
  ended_ns_ = std::max(reader_->health().heartbeat_ns, reader_->identity().created_ns);
  state_ = State::kEnding;
  // Old news, or of an earlier boot (the clock starts anew): nobody is told, its time is over.
  if (now_ns - ended_ns_ >= kEndedFileGraceNs || ended_ns_ > now_ns + kTimeSlackNs) {
    state_ = State::kEnded;
    is_superseded_ = true;
    ended_ns_ = now_ns - kEndedFileGraceNs;
  }
}

void TrackedFile::CheckProcess(std::int64_t now_ns) {
  if (state_ == State::kLive && !watch_ &&
      now_ns - reader_->health().heartbeat_ns >= kEndedFileGraceNs) {
    // Out of sight and silent for this long: nobody is told of an end that nobody saw.
    state_ = State::kEnded;
    is_superseded_ = true;
    ended_ns_ = now_ns;
  }
  if (state_ == State::kLive && watch_ && watch_->HasEnded()) {
    state_ = State::kEnding;
    ended_ns_ = now_ns;
  }
  if (state_ == State::kEnding && !exit_status_ && watch_) {
    exit_status_ = watch_->ReadExitStatus();
  }
}

std::int64_t TrackedFile::Poll(std::int64_t now_ns, RingPass* scratch, BatchBuilder* builder,
                               LossLedger* losses) {
  if (reader_ == nullptr || is_superseded_) {
    return 0;
  }
  // Before the pass: what a process wrote before it ended is then read before its end is told.
  CheckProcess(now_ns);
  const bool was_ending = state_ == State::kEnding;
  scratch->Clear();
  if (const absl::Status status = reader_->Poll(now_ns, scratch); !status.ok()) {
    ReportLosses(losses);
    if (was_ending) ReportEnd(now_ns, builder);
    Fail(status);
    return 0;
  }
  if (scratch->has_identity_changed) {
    Identify();
  }
  if (!key_) {
    // Nobody to speak for yet: NCCL is not up. What is in the ring waits there.
    reader_->Rewind();
    return 0;
  }
  if (must_tell_rank_) {
    builder->AddRank(*key_, reader_->identity(), pid_, nic_);
    must_tell_rank_ = false;
  }
  if (std::exchange(must_tell_running_, false)) {
    builder->AddRunning(*key_, now_ns);
  }
  for (const CommunicatorInfo& communicator : scratch->communicators) {
    // Non-blocking ones do not know their size at first.
    if (communicator.member >= 0 && communicator.member < communicator.size) {
      builder->AddCommunicator(*key_, communicator);
    }
  }
  for (const OperationInfo& operation : scratch->operations) {
    GiveOperation(operation, builder);
  }
  ReportLosses(losses);
  if (was_ending) {
    ReportEnd(now_ns, builder);
    // While it waits for the exit status, its end is something that has not been told.
    return state_ == State::kEnding ? ended_ns_ : 0;
  }
  return scratch->hold_ns;
}

void TrackedFile::Identify() {
  const FileIdentity& identity = reader_->identity();
  if (identity.global_rank < 0) {
    return;
  }
  RankKey key{identity.job.empty() ? kNamelessJob : CleanText(identity.job), identity.global_rank,
              identity.restart_count};
  if (!std::exchange(has_logged_, true)) {
    spdlog::info("hook file {}: job {} rank {} incarnation {}, process {}", CleanText(name_),
                 key.job, key.rank, key.incarnation, pid_);
  }
  if (!key_ || *key_ != key) {
    key_ = std::move(key);
    must_tell_running_ = state_ == State::kLive;
  }
  must_tell_rank_ = true;
}

void TrackedFile::GiveOperation(const OperationInfo& operation, BatchBuilder* builder) {
  if ((operation.flags & abi::kOperationFailed) == 0) {
    builder->AddOperation(*key_, operation);
    return;
  }
  // NCCL refused the call, and its sequence number is used again: it never was an operation.
  if (operation.is_update) {
    builder->AddOperation(*key_, operation);
  }
  builder->AddError(*key_, operation.return_ns != 0 ? operation.return_ns : operation.enqueue_ns,
                    fmt::format("nccl{} was refused with result {}", OperationName(operation.kind),
                                operation.result));
}

void TrackedFile::ReportLosses(LossLedger* losses) const {
  if (!key_) {
    return;
  }
  const auto set = [&](const char* cause, std::uint64_t total) {
    losses->Set(name_, key_->job, key_->rank, cause, total);
  };
  const ReadLosses read = reader_->losses();
  const FileHealth& health = reader_->health();
  set("ring_overwritten", read.overwritten);
  set("ring_unpublished", read.unpublished);
  set("bad_record", read.bad_records);
  set("unknown_communicator", read.unknown_communicators + health.operations_unknown_communicator);
  set("hook_dropped", health.operations_dropped);
  set("hook_untimed", health.operations_untimed);
  set("hook_communicators_dropped", health.communicators_dropped);
}

void TrackedFile::ReportEnd(std::int64_t now_ns, BatchBuilder* builder) {
  if (!exit_status_ && now_ns - ended_ns_ < kExitStatusPatienceNs) {
    return;  // the next pass tries again
  }
  state_ = State::kEnded;
  if (!key_) {
    return;
  }
  const ExitStatus status = exit_status_.value_or(ExitStatus{});
  builder->AddExited(*key_, ended_ns_, status);
  const bool is_orderly = reader_->health().state == abi::WriterState::kExited;
  if (status.code < 0 && status.signal == 0 && !is_orderly) {
    builder->AddError(*key_, ended_ns_,
                      "the process ended without running its exit handlers: killed, or _exit()");
  }
  spdlog::info("job {} rank {}: process {} ended, {}", key_->job, key_->rank, pid_,
               status.signal != 0 ? fmt::format("signal {}", status.signal)
               : status.code >= 0 ? fmt::format("status {}", status.code)
               : is_orderly       ? "orderly"
                                  : "nobody says how");
}

void TrackedFile::Retire() {
  state_ = State::kBad;
  reader_.reset();
}

void TrackedFile::Rewind() {
  if (reader_ == nullptr || is_superseded_) {
    return;
  }
  reader_->Rewind();
  key_.reset();
  if (state_ == State::kEnded) {
    // Its end must be told again too.
    state_ = State::kEnding;
    if (!exit_status_) exit_status_ = ExitStatus{};
  }
}

void TrackedFile::SetNic(const std::string& nic) {
  if (nic != nic_) {
    nic_ = nic;
    must_tell_rank_ = key_.has_value();
  }
}

}  // namespace c4::agent
