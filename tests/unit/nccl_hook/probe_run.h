// Starts an application with the hook preloaded, in an environment and a run directory of its own,
// and finds the hook files that it left.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/nccl_hook/hook_file.h"

namespace c4::hook {

class ProbeRun {
 public:
  struct Options {
    std::string nccl = "new";  // which fake: "new" or "old"; empty: none on the library path
    std::map<std::string, std::string> environment;
    bool has_hook = true;
  };

  ProbeRun(std::vector<std::string> command, Options options);
  ~ProbeRun();
  ProbeRun(const ProbeRun&) = delete;
  ProbeRun& operator=(const ProbeRun&) = delete;

  // Waits for the application's next line "ready"; false when it ended instead.
  bool WaitReady();
  void Go();
  void Kill();
  // Exit status, or minus the signal. What it printed is in output().
  int Wait();

  const std::string& output() const { return output_; }
  std::vector<std::string> Files() const;
  // The only hook file, which must exist; repeats until `condition` holds or 10 s are over.
  HookFile File(const std::function<bool(const HookFile&)>& condition = nullptr) const;

 private:
  void Start(const std::vector<std::string>& command, const Options& options);

  std::string directory_;
  std::string output_;
  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
};

// Runs a scenario of hook_probe to its end and expects it to be content.
HookFile RunScenario(const std::string& scenario, ProbeRun::Options options = {});
std::string ProbeProgram();
std::string UnlinkedProgram();

}  // namespace c4::hook
