#include "analyzer/localise/host_clues.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "analyzer/localise/nic_errors.h"

namespace c4::localise {
namespace {

using model::HostStateRecord;

// Less than this is a process that sleeps and wakes to look.
constexpr double kBusyCores = 0.2;
constexpr double kInOutBytesPerSecond = 1e5;

bool ContainsAny(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

// The outermost frames come first; what a process waits in is at the end.
HostActivity ActivityOf(const HostStateRecord& host, std::string* frame) {
  bool in_library = false;
  for (const std::string& name : host.stack) {
    if (ContainsAny(name, {"destroy_process_group", "ncclCommDestroy", "ncclCommAbort",
                           "ncclCommFinalize", "Py_Finalize", "atexit", "exit_handlers"})) {
      *frame = name;
      return HostActivity::kLeaving;
    }
    // Setting a communicator up waits for the others; so does a call to wait for the GPU.
    if (name.rfind("nccl", 0) == 0 &&
        !ContainsAny(name, {"CommInit", "CommSplit", "GetUniqueId"})) {
      in_library = true;
      *frame = name;
    }
    if (ContainsAny(name, {"CommInit", "bootstrap", "Synchronize"})) {
      in_library = false;
    }
  }
  if (host.state == "D" &&
      (ContainsAny(host.wchan, {"nvidia", "uvm", "os_acquire", "rm_"}) ||
       (!host.stack.empty() && ContainsAny(host.stack.back(), {"nvidia", "uvm_", "ioctl"})))) {
    *frame = host.wchan;
    return HostActivity::kInDriver;
  }
  if (in_library) {
    return HostActivity::kInLaunch;
  }
  *frame = host.stack.empty() ? host.wchan : host.stack.back();
  if (host.read_bytes_per_s + host.write_bytes_per_s >= kInOutBytesPerSecond) {
    return HostActivity::kInOut;
  }
  return host.cpu >= kBusyCores ? HostActivity::kBusy : HostActivity::kIdle;
}

}  // namespace

HostClue HostOf(const Context& context, int rank, model::TimeNs since) {
  HostClue clue;
  const auto found = context.job.ranks().find(rank);
  if (found == context.job.ranks().end()) {
    return clue;
  }
  for (const HostStateRecord& host : found->second.hosts) {
    if (host.time < since || host.time > context.now) {
      continue;
    }
    std::string frame;
    const HostActivity activity = ActivityOf(host, &frame);
    if (activity != clue.activity) {
      clue.activity = activity;
      clue.since = host.time;
    }
    clue.last = host.time;
    clue.frame = frame;
    clue.text = fmt::format("process of rank {} is in state {}{}{}", rank, host.state,
                            host.wchan.empty() || host.wchan == "0" ? "" : " in " + host.wchan,
                            frame.empty() || frame == host.wchan ? "" : ", at " + frame);
  }
  return clue;
}

const model::ErrorRecord* OwnErrorOf(const Context& context, int rank, model::TimeNs from) {
  const auto found = context.job.ranks().find(rank);
  if (found == context.job.ranks().end()) {
    return nullptr;
  }
  const model::ErrorRecord* newest = nullptr;
  for (const model::ErrorRecord& error : found->second.errors) {
    const bool complaint =
        IsTransportFailure(error.text) ||
        ContainsAny(error.text, {"atchdog", "timeout", "timed out", "Timeout", "status=5 ",
                                 "vendor err", "remote process exited", "Connection closed",
                                 "Connection reset", "collective check failed", "Broken pipe"});
    if (error.time >= from && error.time <= context.now && !complaint &&
        (newest == nullptr || error.time > newest->time)) {
      newest = &error;
    }
  }
  return newest;
}

}  // namespace c4::localise
