// Why a rank may be absent without anything being wrong, and for how long that is believed. Part of
// localise/hang. Pure function.
#pragma once

#include <string>

#include "analyzer/localise/hang.h"
#include "analyzer/localise/host_clues.h"

namespace c4::localise {

// What explains the absence of `rank` as of now, for people; empty: nothing does (any more).
std::string BenignReason(const Context& context, int rank, const HostClue& host,
                         const HangTimes& times, const HangOptions& options);

}  // namespace c4::localise
