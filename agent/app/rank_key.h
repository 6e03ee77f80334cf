// Which process of which job: how everything that the agent says about a rank begins. Text is clean
// (clean_text.h).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace c4::agent {

struct RankKey {
  std::string job;
  std::int32_t rank = -1;
  std::uint32_t incarnation = 0;

  friend auto operator<=>(const RankKey&, const RankKey&) = default;
};

}  // namespace c4::agent
