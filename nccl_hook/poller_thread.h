// The one thread of the hook, "c4-poller": runs the poller's passes for the life of the process,
// often while operations are in flight and rarely when none are. All signals are blocked in it, and
// its CUDA calls cannot break the application's stream captures.
#pragma once

namespace c4::hook {

bool StartPollerThread();
bool IsPollerThreadRunning();

// At exit: one last pass on the calling thread, for what has ended since the previous one, and no
// CUDA calls from then on. Waits at most 2 ms for a pass under way; if that is stuck, there is no
// last one. The thread itself is left to end with the process.
void StopPollerThread();

}  // namespace c4::hook
