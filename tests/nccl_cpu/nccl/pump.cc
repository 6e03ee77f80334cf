// Implementation of pump.h.
#include "tests/nccl_cpu/nccl/pump.h"

#include <poll.h>

#include "tests/nccl_cpu/nccl/log.h"

namespace c4::nccl_cpu {
namespace {

// Gives peers that have connected meanwhile their socket; whether some have not.
bool AdoptConnections(Communicator* comm, std::map<int, PeerChannel>* peers) {
  bool awaiting = false;
  for (auto& [rank, entry] : *peers) {
    if (!entry.channel.AwaitsConnection()) continue;
    if (!awaiting) comm->listener().Collect();
    awaiting = true;
    entry.peer->incoming = comm->listener().Take(ConnectionKind::kPeer, rank);
  }
  return awaiting;
}

void ReportLoss(Communicator* comm) {
  if (comm->async_error() != ncclSuccess) return;
  LogWarn("NET/Socket : a peer closed its connection with rank %d", comm->rank());
  comm->SetAsyncError(ncclRemoteError);
}

}  // namespace

void PumpUntilDone(Communicator* comm, Channel* ring, std::map<int, PeerChannel>* peers) {
  std::vector<Channel*> channels = {ring};
  for (auto& [rank, entry] : *peers) channels.push_back(&entry.channel);
  const AbortSignal& abort = comm->abort_signal();
  std::vector<pollfd> fds;
  while (!abort.raised()) {
    const bool awaiting = AdoptConnections(comm, peers);
    bool moved = false;
    bool done = true;
    for (Channel* channel : channels) {
      moved |= channel->Progress();
      done &= channel->Done();
      if (channel->dead()) ReportLoss(comm);
    }
    if (done) return;
    if (moved) continue;
    fds.assign(1, {abort.fd(), POLLIN, 0});
    if (awaiting) comm->listener().AddPollFds(&fds);
    for (const Channel* channel : channels) channel->AddPollFds(&fds);
    poll(fds.data(), fds.size(), -1);
  }
}

}  // namespace c4::nccl_cpu
