// The command line of c4-agent. Every flag can also be given by an environment variable, C4_… .
#pragma once

#include <string>

namespace c4::agent {

struct Options {
  std::string analyzer = "127.0.0.1:7400";
  std::string node;  // filled in by ParseOptions
  std::string run_dir = "/run/c4";
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string log_level = "info";
};

// False when the program is to end now with `exit_code`: after --help and the like, or wrong usage.
bool ParseOptions(int argc, const char* const* argv, Options& options, int& exit_code);

}  // namespace c4::agent
