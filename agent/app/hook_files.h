// All hook files of the node: takes up new ones, reads them in passes, and removes those whose
// process ended long enough ago. Within bounds (limits.h): what is over them waits and is counted.
//
// Of two processes of one rank the later counts; the earlier one's file stays for its grace but is
// not told to a new analyzer. Files that are not hook files are named once and left alone: they are
// not ours to delete. One owner thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/app/batch_builder.h"
#include "agent/app/loss_ledger.h"
#include "agent/app/tracked_file.h"
#include "agent/rings/run_directory.h"

namespace c4::agent {

class HookFiles {
 public:
  // Called with the descriptor that becomes readable when a file's process ends (watch it), and
  // with false before it is closed (watch it no longer).
  using WatchFunction = std::function<void(int pidfd, bool is_new)>;

  HookFiles(RunDirectory* directory, std::string proc_root, WatchFunction watch)
      : directory_(directory), proc_root_(std::move(proc_root)), watch_(std::move(watch)) {}

  // Follows the directory: new names, vanished ones, files whose time is over.
  void Sync(std::int64_t now_ns);

  // One pass over all files. Says how far back something may be missing; 0: nothing is.
  std::int64_t Poll(std::int64_t now_ns, BatchBuilder* builder, LossLedger* losses);

  // A process has ended: learn how before its parent makes it unlearnable.
  void CheckProcesses(std::int64_t now_ns);

  // The next pass tells everything.
  void Rewind();

  // Of the ranks that live: for the collectors.
  std::vector<const TrackedFile*> Living() const;
  // Null when that process has no file.
  TrackedFile* FindLiving(std::int32_t pid);

 private:
  using Map = std::map<std::string, std::unique_ptr<TrackedFile>>;

  void TakeUp(std::int64_t now_ns);
  void Supersede();
  void RemoveEnded(std::int64_t now_ns);
  Map::iterator Drop(Map::iterator file);
  bool Unlink(const TrackedFile& file);
  std::size_t Count(bool is_ended) const;

  RunDirectory* const directory_;
  const std::string proc_root_;
  const WatchFunction watch_;
  Map files_;
  RingPass scratch_;
  std::uint64_t bad_files_ = 0;
  std::uint64_t too_many_files_ = 0;  // names that had to wait, each counted once a pass
  bool is_over_limit_ = false;
  std::vector<std::string> forgotten_;  // sources whose losses are settled
};

}  // namespace c4::agent
