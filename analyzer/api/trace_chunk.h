// A piece of a recording on its way to a client, and the queue that it waits in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/model/time.h"

namespace c4::api {

struct TraceChunk {
  std::string lines;            // whole lines of the trace format
  std::uint64_t records = 0;    // facts among them
  model::TimeNs watermark = 0;  // the last one among them; 0: none
  bool ends_with_watermark = false;
  bool known = false;  // from before the recording: not the client's fault, however much it is
};

// The chunks that wait for one client. Bounded in bytes; what is over the bound ends the recording
// where it was last complete. Not synchronised.
class TraceBacklog {
 public:
  // Six seconds at 100,000 records a second of 200 bytes, minutes at what most clusters give:
  // longer than a disk or a network that is still of use hesitates. All kRecordingsMax together
  // stay within 1 GiB.
  static constexpr std::size_t kBytesMax = std::size_t{128} << 20;

  explicit TraceBacklog(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  // False: it is over the bound. Everything after the last watermark that waits is gone, and
  // nothing must be pushed any more.
  bool Push(TraceChunk chunk) {
    if (!chunk.known && bytes_ + chunk.lines.size() > bytes_max_) {
      while (!chunks_.empty() && !chunks_.back().ends_with_watermark && !chunks_.back().known) {
        bytes_ -= chunks_.back().lines.size();
        chunks_.pop_back();
      }
      return false;
    }
    if (!chunk.known) bytes_ += chunk.lines.size();
    chunks_.push_back(std::move(chunk));
    return true;
  }

  std::optional<TraceChunk> Pop() {
    if (chunks_.empty()) return std::nullopt;
    TraceChunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    if (!chunk.known) bytes_ -= chunk.lines.size();
    return chunk;
  }

  void Clear() {
    chunks_.clear();
    bytes_ = 0;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  const std::size_t bytes_max_;
  std::deque<TraceChunk> chunks_;
  std::size_t bytes_ = 0;
};

}  // namespace c4::api
