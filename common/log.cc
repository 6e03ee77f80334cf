#include "common/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace c4 {

absl::Status InitLogging(const std::string& program, const std::string& level) {
  const auto parsed = spdlog::level::from_str(level);
  // from_str answers `off` for every word it does not know.
  if (parsed == spdlog::level::off && level != "off") {
    return absl::InvalidArgumentError("unknown log level '" + level +
                                      "': trace, debug, info, warn, error or off");
  }
  // The colour sink colours only where stderr is a terminal.
  auto logger = std::make_shared<spdlog::logger>(
      program, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %n: %v", spdlog::pattern_time_type::utc);
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
  return absl::OkStatus();
}

}  // namespace c4
