// c4ctl. Finds out what kind of terminal it talks to, and hands over to RunCli().
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <thread>

#include "analyzer/api/real_engine.h"
#include "analyzer/cli/cli.h"
#include "common/backoff.h"
#include "common/clock.h"
#include "common/stop.h"

namespace {

// https://no-color.org: any value but the empty one.
bool WantsColor() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

int TerminalWidth() {
  winsize size{};
  // 80 where a terminal does not say.
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::max<int>(size.ws_col, 40);
}

}  // namespace

int main(int argc, char** argv) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const c4::cli::Output output{.out = &std::cout,
                               .err = &std::cerr,
                               .color = terminal && WantsColor(),
                               .width = terminal ? TerminalWidth() : 0,
                               .now = [] { return c4::SystemClock().RealtimeNs(); },
                               .progress = isatty(STDERR_FILENO) == 1};
  std::mt19937_64 random(std::random_device{}());
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  c4::Backoff backoff({.maximum_ns = 5'000'000'000}, [&] { return uniform(random); });
  std::optional<c4::StopSignal> stop;
  const c4::cli::CliDependencies dependencies{
      .make_engine = [] { return std::make_unique<c4::api::RealEngine>(); },
      .pause =
          [&] {
            std::this_thread::sleep_for(std::chrono::nanoseconds(backoff.NextNs()));
            return true;
          },
      .stop_fd = [&]() -> absl::StatusOr<int> {
        auto created = c4::StopSignal::Create();
        if (!created.ok()) return created.status();
        return stop.emplace(*std::move(created)).fd();
      }};
  const int status = c4::cli::RunCli(argc, argv, dependencies, output);
  std::cout.flush();
  // A full disk behind a redirection must not look like success.
  return status == c4::cli::kExitOk && !std::cout ? c4::cli::kExitError : status;
}
