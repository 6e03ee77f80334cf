// The parsers of what other processes choose (names, environments) and of NCCL's device lists.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/telemetry/nic_filter.h"
#include "agent/telemetry/proc_parsers.h"
#include "common/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace c4::agent;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ParseStat(text);
  ParseIo(text);
  ParseInnermostPid(text);
  ParseInteger(text);
  C4_CHECK(Trim(text).size() <= text.size());
  if (const auto value = FindVariable(text, "NCCL_IB_HCA")) {
    C4_CHECK(value->size() < text.size());
    // A list and its opposite never both refuse.
    const bool is_plain = value->find_first_of("^=") == std::string::npos;
    const NicFilter filter(*value);
    const NicFilter opposite("^" + *value);
    for (const char* const device : {"mlx5_0", "mlx5_10", "eth0", ""}) {
      C4_CHECK(!is_plain || filter.Takes(device) || opposite.Takes(device));
    }
  }
  return 0;
}
