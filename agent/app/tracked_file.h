// One hook file from its discovery to its removal: its reader, its process, and what the analyzer
// has been told about the two. One owner thread.
//
//   opening ──header complete──> live ──process gone──> ending ──last pass──> ended ──grace──> done
//      │                           │                      (its end is told)
//      └── not a hook file ────────┴──> bad: named once in the log, never read again
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/app/batch_builder.h"
#include "agent/app/loss_ledger.h"
#include "agent/app/rank_key.h"
#include "agent/rings/ring_reader.h"
#include "agent/telemetry/process_watch.h"

namespace c4::agent {

class TrackedFile {
 public:
  enum class State { kOpening, kLive, kEnding, kEnded, kBad };

  TrackedFile(std::string name, std::int64_t now_ns) : name_(std::move(name)), seen_ns_(now_ns) {}

  // Opens and judges it. Again while it is kOpening.
  void Open(int directory_fd, const std::string& proc_root, std::int64_t now_ns);

  // One pass. `scratch` is working memory. What is new goes to `builder` and `losses`. Says how far
  // back something may be missing; 0: nothing is.
  std::int64_t Poll(std::int64_t now_ns, RingPass* scratch, BatchBuilder* builder,
                    LossLedger* losses);

  // Looks whether the process lives; called often, and at once when its descriptor says so.
  void CheckProcess(std::int64_t now_ns);

  // Tells everything again at the next Poll.
  void Rewind();

  void SetNic(const std::string& nic);

  const std::string& name() const { return name_; }
  State state() const { return state_; }
  const std::optional<RankKey>& key() const { return key_; }
  const RingReader* reader() const { return reader_.get(); }
  std::int32_t pid() const { return pid_; }  // under proc_root; 0 unknown
  int pidfd() const { return watch_ ? watch_->fd() : -1; }
  std::int64_t ended_ns() const { return ended_ns_; }
  // When its process began: the later of two files of one rank is the one that counts.
  std::int64_t created_ns() const { return reader_ ? reader_->identity().created_ns : 0; }
  // A later process of the same rank exists: nobody wants to hear of this one again.
  void Supersede() { is_superseded_ = true; }
  // It cannot be removed: it is left where it is, and alone.
  void Retire();

 private:
  void Fail(const absl::Status& why);
  bool IsUndecided(std::int64_t heartbeat_ns, std::int64_t now_ns);
  void FindEnded(std::int64_t now_ns);
  void Identify();
  void GiveOperation(const OperationInfo& operation, BatchBuilder* builder);
  void ReportLosses(LossLedger* losses) const;
  void ReportEnd(std::int64_t now_ns, BatchBuilder* builder);

  const std::string name_;
  const std::int64_t seen_ns_;
  State state_ = State::kOpening;
  std::unique_ptr<RingReader> reader_;
  std::optional<ProcessWatch> watch_;
  std::optional<RankKey> key_;
  std::int32_t pid_ = 0;
  std::string nic_;
  bool must_tell_rank_ = false;
  bool must_tell_running_ = false;
  bool has_logged_ = false;
  bool is_superseded_ = false;
  std::int64_t first_heartbeat_ns_ = 0;  // seen while no process was to be seen
  std::int64_t ended_ns_ = 0;
  std::optional<ExitStatus> exit_status_;
};

}  // namespace c4::agent
