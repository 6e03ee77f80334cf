// How values read for a person. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "c4/v1/verdict.pb.h"

namespace c4::cli {

// As kubectl prints ages: 12s, 3m4s, 17m, 5h12m, 2d3h, 400d. Negative: 0s; clocks differ a little.
std::string Age(std::int64_t duration_ns);

// "2026-12-01 04:11:05.120", UTC; "-" for 0.
std::string Timestamp(std::int64_t time_ns);
// The time of day alone.
std::string TimeOfDay(std::int64_t time_ns);

// "+3.250 s"
std::string Delta(std::int64_t duration_ns);

// What was found, shortest unambiguous form: "gpu 3 on n0 (rank 19)", "nic mlx5_2 on n1",
// "link rank 2 - rank 3", "rank 5 on n1", "software (rank 2)".
std::string ComponentText(const v1::Component& component);

// Ranks as people write them: "0-3, 7".
std::string RankList(std::vector<int> ranks);

// Texts come from training programs and kernels: control characters, and with them terminal escape
// sequences, are shown as "?".
std::string Printable(std::string_view text);

// Characters, not bytes, that the UTF-8 text takes on the screen.
std::size_t Columns(std::string_view text);

// At most `columns` of it, the last one "…" if something is missing.
std::string Shorten(std::string_view text, std::size_t columns);

}  // namespace c4::cli
