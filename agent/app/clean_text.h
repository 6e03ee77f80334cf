// Text from outside (names of jobs, communicators, kernel symbols, interfaces) as it may travel:
// valid UTF-8 without control characters. Anything else would make a protobuf parser refuse the
// whole batch, again and again. What does not fit becomes '?'. Pure.
#pragma once

#include <string>
#include <string_view>

namespace c4::agent {

std::string CleanText(std::string_view text);

}  // namespace c4::agent
