// A random 128-bit identifier as 32 hex digits, from the kernel: tells one incarnation of a process
// from the next. Not a secret.
#pragma once

#include <string>

namespace c4 {

std::string RandomId();

}  // namespace c4
