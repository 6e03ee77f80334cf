// A trace as another network would have delivered it: records up to a second earlier or later, some
// twice, but none behind a watermark that covers it (that would be another contract).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/ingest/trace_json.h"

namespace c4::app {

class TraceShuffler {
 public:
  explicit TraceShuffler(unsigned seed) : random_(seed) {}

  std::vector<std::string> Shuffle(const std::vector<std::string>& lines) {
    std::set<model::TimeNs> clocks;
    for (const std::string& line : lines) {
      const auto parsed = *ingest::ParseTraceLine(line);
      if (const auto* clock = std::get_if<ingest::Watermark>(&parsed)) clocks.insert(clock->time);
    }
    std::vector<Placed> placed;
    model::TimeNs last = 0;  // watermark so far
    for (const std::string& line : lines) {
      const auto parsed = *ingest::ParseTraceLine(line);
      if (const auto* clock = std::get_if<ingest::Watermark>(&parsed)) {
        last = clock->time;
        placed.push_back({last, 1, 0, line});
      } else if (const auto* record = std::get_if<model::Record>(&parsed)) {
        const int copies = random_() % 5 == 0 ? 2 : 1;
        for (int i = 0; i < copies; ++i) placed.push_back(Place(*record, line, last, clocks));
      } else {
        placed.push_back({0, 0, 0, line});
      }
    }
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      return std::tie(a.before, a.clock, a.order) < std::tie(b.before, b.clock, b.order);
    });
    std::vector<std::string> shuffled;
    for (Placed& line : placed) shuffled.push_back(std::move(line.line));
    return shuffled;
  }

 private:
  struct Placed {
    model::TimeNs before = 0;  // of the first watermark that comes after it
    int clock = 0;             // 1: it is that watermark
    std::uint64_t order = 0;   // among those before the same watermark
    std::string line;
  };

  Placed Place(const model::Record& record, const std::string& line, model::TimeNs last,
               const std::set<model::TimeNs>& clocks) {
    const model::TimeNs time = ingest::LatestTime(record);
    model::TimeNs position = last + 1;
    // What has no time, or was late already, stays where it is.
    const bool moves = time > last;
    if (moves) {
      const auto jitter =
          static_cast<model::DurationNs>(random_() % (2 * model::kSecond)) - model::kSecond;
      position = std::min(position + jitter, time);
    }
    const auto next = clocks.lower_bound(position);
    return {next == clocks.end() ? last + model::kSecond * 3600 : *next, 0, moves ? random_() : 0,
            line};
  }

  std::mt19937_64 random_;
};

}  // namespace c4::app
