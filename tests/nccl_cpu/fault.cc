// Parser of C4_CPU_FAULT; the contract is in fault.h.
#include "tests/nccl_cpu/fault.h"

#include <charconv>
#include <cstdlib>

namespace c4::cpu {
namespace {

std::string_view TakeUntil(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view head = text->substr(0, end);
  *text = end == std::string_view::npos ? std::string_view() : text->substr(end + 1);
  return head;
}

int64_t ValueOf(std::string_view fields, std::string_view key, int64_t fallback) {
  while (!fields.empty()) {
    std::string_view value = TakeUntil(&fields, ':');
    if (TakeUntil(&value, '=') != key) continue;
    int64_t number = fallback;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
  }
  return fallback;
}

}  // namespace

FaultPlan FaultPlan::Parse(std::string_view text) {
  FaultPlan plan;
  while (!text.empty()) {
    std::string_view fields = TakeUntil(&text, ';');
    const std::string_view name = TakeUntil(&fields, ':');
    if (name == "drop-link") {
      plan.drop_link_peer = static_cast<int>(ValueOf(fields, "peer", -1));
      plan.drop_link_after = ValueOf(fields, "after", 0);
    } else if (name == "stuck-kernel") {
      plan.stuck_kernel_after = ValueOf(fields, "after", 0);
    } else if (name == "slow-kernel") {
      plan.slow_kernel_percent = ValueOf(fields, "percent", 0);
      plan.slow_kernel_after = ValueOf(fields, "after", 0);
    }
  }
  return plan;
}

const FaultPlan& FaultPlan::FromEnvironment() {
  static const FaultPlan plan = [] {
    const char* text = std::getenv("C4_CPU_FAULT");
    return Parse(text == nullptr ? "" : text);
  }();
  return plan;
}

}  // namespace c4::cpu
