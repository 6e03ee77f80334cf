#include "tests/unit/nccl_hook/probe_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace c4::hook {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kRetry = std::chrono::milliseconds(5);

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& text : *strings) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string ProbeProgram() { return C4_PROBE; }
std::string UnlinkedProgram() { return C4_PROBE_UNLINKED; }

ProbeRun::ProbeRun(std::vector<std::string> command, Options options) {
  std::string name = testing::TempDir() + "c4-hook-XXXXXX";
  directory_ = mkdtemp(name.data());
  Start(command, options);
}

ProbeRun::~ProbeRun() {
  if (pid_ > 0) {
    Kill();
    Wait();
  }
  close(to_child_);
  close(from_child_);
  std::filesystem::remove_all(directory_);
}

void ProbeRun::Start(const std::vector<std::string>& command, const Options& options) {
  std::map<std::string, std::string> environment = {
      {"PATH", "/usr/bin:/bin"},
      {"C4_RUN_DIR", directory_},
      {"LD_LIBRARY_PATH",
       std::string(C4_FAKES) + (options.nccl.empty() ? "" : ":" C4_FAKES "/" + options.nccl)},
  };
  if (options.has_hook) {
    environment["LD_PRELOAD"] = C4_HOOK_LIBRARY;
  }
  for (const auto& [key, value] : options.environment) {
    environment[key] = value;
  }
  std::vector<std::string> variables;
  for (const auto& [key, value] : environment) {
    variables.push_back(key + "=" + value);
  }
  std::vector<std::string> arguments = command;
  int input[2];
  int output[2];
  ASSERT_EQ(pipe2(input, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(output, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  ASSERT_EQ(posix_spawnp(&pid_, command[0].c_str(), &actions, nullptr, Pointers(&arguments).data(),
                         Pointers(&variables).data()),
            0)
      << command[0];
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  to_child_ = input[1];
  from_child_ = output[0];
}

bool ProbeRun::WaitReady() {
  std::string line;
  char byte;
  while (read(from_child_, &byte, 1) == 1) {
    if (byte == '\n') {
      return line == "ready";
    }
    line += byte;
  }
  return false;
}

void ProbeRun::Go() { ASSERT_EQ(write(to_child_, "g", 1), 1); }

void ProbeRun::Kill() { kill(pid_, SIGKILL); }

int ProbeRun::Wait() {
  char buffer[256];
  for (ssize_t bytes; (bytes = read(from_child_, buffer, sizeof(buffer))) > 0;) {
    output_.append(buffer, static_cast<std::size_t>(bytes));
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::vector<std::string> ProbeRun::Files() const {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    files.push_back(entry.path());
  }
  return files;
}

HookFile ProbeRun::File(const std::function<bool(const HookFile&)>& condition) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const std::vector<std::string> files = Files();
    std::optional<HookFile> file;
    if (files.size() == 1) {
      file = ReadHookFile(files[0]);
    }
    if (file.has_value() && (condition == nullptr || condition(*file))) {
      return *file;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << files.size() << " files; the condition did not come true";
      return file.value_or(HookFile{});
    }
    std::this_thread::sleep_for(kRetry);
  }
}

HookFile RunScenario(const std::string& scenario, ProbeRun::Options options) {
  ProbeRun run({ProbeProgram(), scenario}, std::move(options));
  EXPECT_EQ(run.Wait(), 0) << run.output();
  return run.File();
}

}  // namespace c4::hook
