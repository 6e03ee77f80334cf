// The way back to an agent, as the owner sees it. Implemented by the stream's reactor, faked in
// tests. Thread-safe; a call on a stream that has ended does nothing.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace c4::api {

class AgentLink {
 public:
  virtual ~AgentLink() = default;
  virtual void Welcome(const std::string& analyzer_instance, std::uint64_t next_sequence) = 0;
  // Cumulative; a later one makes an earlier one that was not sent yet superfluous.
  virtual void Acknowledge(std::uint64_t sequence) = 0;
  virtual void Close(const absl::Status& why) = 0;
  // There is room in the queue again: the stream may be read on.
  virtual void Resume() = 0;
};

}  // namespace c4::api
