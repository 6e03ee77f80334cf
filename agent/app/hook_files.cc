#include "agent/app/hook_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/app/clean_text.h"
#include "agent/limits.h"
#include "spdlog/spdlog.h"

namespace c4::agent {
namespace {

using State = TrackedFile::State;

bool IsOver(State state) { return state == State::kEnded || state == State::kBad; }

}  // namespace

void HookFiles::Sync(std::int64_t now_ns) {
  for (auto file = files_.begin(); file != files_.end();) {
    // Unlinked by its owner: what it held was read in the last pass.
    file = directory_->names().contains(file->first) ? std::next(file) : Drop(file);
  }
  TakeUp(now_ns);
  Supersede();
  RemoveEnded(now_ns);
}

void HookFiles::TakeUp(std::int64_t now_ns) {
  std::size_t living = Count(false);
  bool is_over_limit = false;
  for (const std::string& name : directory_->names()) {
    auto found = files_.find(name);
    if (found == files_.end()) {
      if (living >= kLiveFilesMax) {
        is_over_limit = true;
        continue;
      }
      ++living;
      found = files_.emplace(name, std::make_unique<TrackedFile>(name, now_ns)).first;
    }
    TrackedFile& file = *found->second;
    if (file.state() != State::kOpening) {
      continue;
    }
    file.Open(directory_->fd(), proc_root_, now_ns);
    if (file.state() == State::kBad) {
      ++bad_files_;
    } else if (file.pidfd() >= 0) {
      watch_(file.pidfd(), true);
    }
  }
  if (is_over_limit && !is_over_limit_) {
    ++too_many_files_;
    spdlog::warn("more than {} hook files of living processes: the others are not read",
                 kLiveFilesMax);
  }
  is_over_limit_ = is_over_limit;
}

void HookFiles::Supersede() {
  std::map<std::pair<std::string, std::int32_t>, std::int64_t> latest;
  for (const auto& [name, file] : files_) {
    if (file->key()) {
      std::int64_t& created = latest[{file->key()->job, file->key()->rank}];
      created = std::max(created, file->created_ns());
    }
  }
  for (const auto& [name, file] : files_) {
    if (file->key() && file->state() == State::kEnded &&
        file->created_ns() < latest[{file->key()->job, file->key()->rank}]) {
      file->Supersede();
    }
  }
}

void HookFiles::RemoveEnded(std::int64_t now_ns) {
  std::size_t ended = Count(true);
  while (true) {
    auto oldest = files_.end();
    for (auto file = files_.begin(); file != files_.end(); ++file) {
      if (file->second->state() == State::kEnded &&
          (oldest == files_.end() || file->second->ended_ns() < oldest->second->ended_ns())) {
        oldest = file;
      }
    }
    if (oldest == files_.end() ||
        (ended <= kEndedFilesMax && now_ns - oldest->second->ended_ns() < kEndedFileGraceNs)) {
      return;
    }
    --ended;
    if (Unlink(*oldest->second)) {
      directory_->Forget(oldest->first);
      Drop(oldest);
    } else {
      oldest->second->Retire();
    }
  }
}

std::int64_t HookFiles::Poll(std::int64_t now_ns, BatchBuilder* builder, LossLedger* losses) {
  std::int64_t hold_ns = 0;
  for (const auto& [name, file] : files_) {
    const bool was_bad = file->state() == State::kBad;
    // A file of an ended process does not change any more; it is read again after a Rewind, which
    // makes it kEnding.
    if (was_bad || file->state() == State::kEnded) {
      continue;
    }
    const std::int64_t file_hold_ns = file->Poll(now_ns, &scratch_, builder, losses);
    if (file_hold_ns != 0) {
      hold_ns = hold_ns == 0 ? file_hold_ns : std::min(hold_ns, file_hold_ns);
    }
    bad_files_ += file->state() == State::kBad ? 1 : 0;
    if (IsOver(file->state()) && file->pidfd() >= 0) {
      watch_(file->pidfd(), false);
    }
  }
  losses->Set("files", "", -1, "bad_file", bad_files_);
  losses->Set("files", "", -1, "too_many_files", too_many_files_);
  for (const std::string& source : forgotten_) {
    losses->Forget(source);
  }
  forgotten_.clear();
  return hold_ns;
}

void HookFiles::CheckProcesses(std::int64_t now_ns) {
  for (const auto& [name, file] : files_) {
    file->CheckProcess(now_ns);
    // Its descriptor stays readable from now on: it has said all it can.
    if (file->state() == State::kEnding && file->pidfd() >= 0) {
      watch_(file->pidfd(), false);
    }
  }
}

void HookFiles::Rewind() {
  Supersede();
  for (const auto& [name, file] : files_) {
    file->Rewind();
  }
}

std::vector<const TrackedFile*> HookFiles::Living() const {
  std::vector<const TrackedFile*> living;
  for (const auto& [name, file] : files_) {
    if (file->state() == State::kLive && file->key() && file->pid() > 0) {
      living.push_back(file.get());
    }
  }
  return living;
}

TrackedFile* HookFiles::FindLiving(std::int32_t pid) {
  for (const auto& [name, file] : files_) {
    if (file->state() == State::kLive && file->pid() == pid) {
      return file.get();
    }
  }
  return nullptr;
}

HookFiles::Map::iterator HookFiles::Drop(Map::iterator file) {
  if (file->second->pidfd() >= 0) {
    watch_(file->second->pidfd(), false);
  }
  forgotten_.push_back(file->first);
  return files_.erase(file);
}

bool HookFiles::Unlink(const TrackedFile& file) {
  // The name must still be the file that was read.
  struct stat info {};
  if (fstatat(directory_->fd(), file.name().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      file.reader() == nullptr || info.st_ino != file.reader()->file().inode()) {
    return false;
  }
  if (unlinkat(directory_->fd(), file.name().c_str(), 0) != 0) {
    spdlog::warn("hook file {}: cannot be removed: {}", CleanText(file.name()),
                 std::strerror(errno));
    return false;
  }
  spdlog::info("hook file {}: removed, its process is gone", CleanText(file.name()));
  return true;
}

std::size_t HookFiles::Count(bool is_ended) const {
  return static_cast<std::size_t>(
      std::count_if(files_.begin(), files_.end(), [&](const auto& entry) {
        const State state = entry.second->state();
        return is_ended ? state == State::kEnded : !IsOver(state);
      }));
}

}  // namespace c4::agent
