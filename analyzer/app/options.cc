#include "analyzer/app/options.h"

#include "CLI/CLI.hpp"
#include "common/version.h"

namespace c4::app {
namespace {

constexpr char kDescription[] =
    "c4-analyzer finds the GPU, NIC or link that hurts a distributed training job.\n"
    "It takes in what the agents of all nodes send, and answers c4ctl.";

constexpr char kFooter[] =
    "Examples:\n"
    "  c4-analyzer                                       on this machine only\n"
    "  c4-analyzer --listen 10.0.0.5:7400 --insecure     for a trusted cluster network\n"
    "  c4-analyzer --store :memory: --record run.jsonl   nothing kept but a recording,\n"
    "                                                    for c4ctl analyze run.jsonl\n"
    "\n"
    "SIGTERM ends it cleanly. Exit status: 0 stopped, 1 could not run, 2 usage.";

}  // namespace

bool ParseOptions(int argc, const char* const* argv, Options& options, int& exit_code) {
  CLI::App app(kDescription, "c4-analyzer");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("c4-analyzer ") + kVersion);
  app.add_option("--listen", options.listen,
                 "Address for agents and clients; port 0 takes a free one")
      ->envname("C4_LISTEN")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--port-file", options.port_file,
                 "File that gets the port once it listens, for scripts that use port 0")
      ->envname("C4_PORT_FILE")
      ->type_name("PATH");
  app.add_option("--store", options.store,
                 "SQLite file that keeps verdicts over restarts; :memory: keeps nothing")
      ->envname("C4_STORE")
      ->type_name("PATH")
      ->capture_default_str();
  app.add_option("--record", options.record,
                 "Write everything taken in to a trace file; an earlier one is kept as FILE.1 …")
      ->envname("C4_RECORD")
      ->type_name("FILE");
  app.add_flag("--insecure", options.insecure,
               "Allow an address that other machines reach, without TLS")
      ->envname("C4_INSECURE");
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
  return true;
}

}  // namespace c4::app
