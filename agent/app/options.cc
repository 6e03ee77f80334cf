#include "agent/app/options.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "CLI/CLI.hpp"
#include "common/version.h"

namespace c4::agent {
namespace {

constexpr char kDescription[] =
    "c4-agent reads what the hook records in every training process of this node, watches the\n"
    "node's own health, and sends both to c4-analyzer. Run one per node.";

constexpr char kFooter[] =
    "Examples:\n"
    "  c4-agent                                      analyzer on this machine\n"
    "  c4-agent --analyzer c4.cluster.local:7400     one analyzer for the cluster\n"
    "  c4-agent --run-dir /run/c4 --proc-root /host/proc --sys-root /host/sys\n"
    "                                                in a container, the host's mounted\n"
    "\n"
    "It needs to read the files in the run directory and /proc of the training processes: run it "
    "as\n"
    "root, or as their user. It may be restarted at any time; the hook's files remember.\n"
    "SIGTERM ends it cleanly. Exit status: 0 stopped, 1 could not run, 2 usage.";

std::string NodeName() {
  for (const char* const variable : {"C4_NODE_NAME", "SLURMD_NODENAME"}) {
    const char* const name = std::getenv(variable);
    if (name != nullptr && name[0] != '\0') {
      return name;
    }
  }
  std::array<char, 256> host{};
  return gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "localhost";
}

}  // namespace

bool ParseOptions(int argc, const char* const* argv, Options& options, int& exit_code) {
  CLI::App app(kDescription, "c4-agent");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("c4-agent ") + kVersion);
  app.add_option("--analyzer", options.analyzer, "Where c4-analyzer listens")
      ->envname("C4_ANALYZER")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--node", options.node,
                 "Name of this node in verdicts. Default: C4_NODE_NAME, SLURMD_NODENAME, or the "
                 "host name; the hook chooses likewise")
      ->type_name("NAME");
  app.add_option("--run-dir", options.run_dir, "Where the hook keeps its files; may appear later")
      ->envname("C4_RUN_DIR")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--proc-root", options.proc_root, "Where the node's /proc is mounted")
      ->envname("C4_PROC_ROOT")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--sys-root", options.sys_root, "Where the node's /sys is mounted")
      ->envname("C4_SYS_ROOT")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off")
      ->envname("C4_LOG_LEVEL")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Prints help or the error; its own codes are over 100.
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return false;
  }
  if (options.node.empty()) {
    options.node = NodeName();
  }
  return true;
}

}  // namespace c4::agent
