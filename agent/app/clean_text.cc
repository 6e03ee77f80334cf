#include "agent/app/clean_text.h"

#include <cstddef>
#include <cstdint>

namespace c4::agent {
namespace {

// Bytes of the character that begins `text` (RFC 3629, table 3-7 of Unicode); 0: not a character.
std::size_t CharacterBytes(std::string_view text) {
  const auto at = [text](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto is_tail = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const std::uint32_t lead = at(0);
  if (lead < 0x80) {
    return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    // U+0080 … U+009F are control characters too.
    return is_tail(1) && !(lead == 0xC2 && at(1) < 0xA0) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool is_overlong = lead == 0xE0 && at(1) < 0xA0;
    const bool is_surrogate = lead == 0xED && at(1) > 0x9F;
    return is_tail(1) && is_tail(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool is_overlong = lead == 0xF0 && at(1) < 0x90;
    const bool is_beyond = lead == 0xF4 && at(1) > 0x8F;
    return is_tail(1) && is_tail(2) && is_tail(3) && !is_overlong && !is_beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string CleanText(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = CharacterBytes(text);
    if (bytes == 0) {
      clean += '?';
    } else {
      clean += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return clean;
}

}  // namespace c4::agent
