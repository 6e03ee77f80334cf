// Says which hook files the run directory has. inotify tells at once; a periodic look tells what
// inotify missed (queue overflow, a directory that was not there or was replaced). One owner
// thread.
//
// The directory may be missing: it is looked for again at every Refresh(). Names only; opening and
// judging files is for others.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace c4::agent {

class RunDirectory {
 public:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  // Creates the inotify instance. Without one (limits of the machine), Refresh() alone finds files.
  absl::Status Start();

  // Readable when something happened in the directory; -1 without inotify.
  int inotify_fd() const { return inotify_fd_; }
  // Takes in what inotify has to say. Cheap when nothing.
  void DrainEvents();

  // Looks at the directory itself, again if it has been replaced, and lists it. For every few
  // seconds and at start.
  void Refresh();

  // Names ending in ".c4", at most kRunDirectoryNamesMax.
  const std::set<std::string>& names() const { return names_; }
  // The caller has removed it.
  void Forget(const std::string& name) { names_.erase(name); }
  // More names than that were there.
  bool is_crowded() const { return is_crowded_; }

  // For openat() and unlinkat(); -1 while there is no directory.
  int fd() const { return directory_fd_; }
  const std::string& path() const { return path_; }

 private:
  void CloseDirectory();
  bool IsReplaced() const;
  void List();
  void Add(const std::string& name);

  const std::string path_;
  int inotify_fd_ = -1;
  int watch_ = -1;
  int directory_fd_ = -1;
  std::set<std::string> names_;
  bool is_crowded_ = false;
};

}  // namespace c4::agent
