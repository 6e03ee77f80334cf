// The flags of c4-analyzer.
#pragma once

#include <string>

namespace c4::app {

struct Options {
  std::string listen = "127.0.0.1:7400";
  std::string port_file;
  std::string store = "/var/lib/c4/analyzer.db";
  std::string record;  // empty: none
  bool insecure = false;
  std::string log_level = "info";
};

// True: run with `options`. False: exit with `exit_code` (help, version, or a usage error that has
// been printed).
bool ParseOptions(int argc, const char* const* argv, Options& options, int& exit_code);

}  // namespace c4::app
