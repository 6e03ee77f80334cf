// Moves the bytes of several channels at once until all are done.
// Thread: the running plan's. Blocks in poll() on what can bring it on, the listener while a peer
// has yet to connect, and the abort signal.
#pragma once

#include <map>
#include <memory>

#include "tests/nccl_cpu/nccl/channel.h"
#include "tests/nccl_cpu/nccl/communicator.h"

namespace c4::nccl_cpu {

struct PeerChannel {
  int rank;
  Peer* peer;
  Channel channel;
};

// Returns when all channels are done, or aborted. A lost peer becomes the communicator's
// asynchronous error ncclRemoteError, and the pump stays: the collective is stuck until the abort,
// as in NCCL.
void PumpUntilDone(Communicator* comm, Channel* ring, std::map<int, PeerChannel>* peers);

}  // namespace c4::nccl_cpu
