// Implementation of bootstrap.h.
#include "tests/nccl_cpu/nccl/bootstrap.h"

#include <signal.h>
#include <sys/random.h>

#include <cstring>
#include <thread>

#include "tests/nccl_cpu/nccl/interface.h"
#include "tests/nccl_cpu/nccl/log.h"

namespace c4::nccl_cpu {
namespace {

struct IdContent {
  uint64_t magic;
  sockaddr_in address;
};
static_assert(sizeof(IdContent) <= sizeof(ncclUniqueId));

struct Registration {
  uint64_t magic;
  RankInfo info;
};

// More than any test; guards the table against a stranger's bytes.
constexpr int kRanksMax = 1 << 16;

void RunRoot(const Socket& listener, uint64_t magic) {
  RankTable table;
  std::vector<Socket> ranks;
  size_t registered = 0;
  while (table.empty() || registered < table.size()) {
    Socket socket;
    Registration registration;
    if (Accept(listener, nullptr, &socket) != Io::kOk) return;
    if (ReceiveAll(socket, &registration, sizeof(registration), nullptr) != Io::kOk) continue;
    const RankInfo& info = registration.info;
    if (registration.magic != magic || info.nranks <= 0 || info.nranks > kRanksMax) continue;
    if (table.empty()) {
      table.resize(static_cast<size_t>(info.nranks));
      ranks.resize(table.size());
    }
    const auto rank = static_cast<size_t>(info.rank);
    if (rank >= table.size() || static_cast<size_t>(info.nranks) != table.size() ||
        ranks[rank].valid()) {
      LogWarn("Bootstrap Root : rank %d of %d ranks does not fit the others", info.rank,
              info.nranks);
      continue;
    }
    table[rank] = info;
    ranks[rank] = std::move(socket);
    ++registered;
  }
  // Rank 0 last: it is the one whose process usually runs this thread, and may exit on the answer.
  for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank) {
    SendAll(*rank, table.data(), table.size() * sizeof(RankInfo), nullptr);
  }
}

void StartRoot(Socket listener, uint64_t magic) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread root([listener = std::move(listener), magic] { RunRoot(listener, magic); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(root.native_handle(), "NCCL BootRoot");
  root.detach();
}

}  // namespace

ncclResult_t CreateUniqueId(ncclUniqueId* id) {
  Interface interface;
  if (!ChooseInterface(&interface)) {
    LogWarn("Bootstrap : no socket interface found");
    return ncclSystemError;
  }
  IdContent content{};
  if (getrandom(&content.magic, sizeof(content.magic), 0) != sizeof(content.magic)) {
    return ncclSystemError;
  }
  uint16_t port = 0;
  Socket listener = Listen(&port);
  if (!listener.valid()) return ncclSystemError;
  content.address.sin_family = AF_INET;
  content.address.sin_addr = interface.address;
  content.address.sin_port = htons(port);
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id, &content, sizeof(content));
  StartRoot(std::move(listener), content.magic);
  return ncclSuccess;
}

ncclResult_t ExchangeThroughRoot(const ncclUniqueId& id, const RankInfo& mine,
                                 const AbortSignal& abort, RankTable* table) {
  IdContent content;
  std::memcpy(&content, &id, sizeof(content));
  const Registration registration = {content.magic, mine};
  table->resize(static_cast<size_t>(mine.nranks));
  Socket root;
  if (Connect(content.address, &abort, &root) != Io::kOk ||
      SendAll(root, &registration, sizeof(registration), &abort) != Io::kOk ||
      ReceiveAll(root, table->data(), table->size() * sizeof(RankInfo), &abort) != Io::kOk) {
    LogWarn("Bootstrap : lost the root of this communicator");
    return ncclRemoteError;
  }
  return ncclSuccess;
}

Io AllGatherRing(const Socket& to_next, const Socket& from_previous, int rank,
                 const AbortSignal& abort, RankTable* table) {
  const int n = static_cast<int>(table->size());
  for (int step = 0; step < n - 1; ++step) {
    const auto outgoing = static_cast<size_t>((rank - step + n) % n);
    const auto incoming = static_cast<size_t>((rank - step - 1 + n) % n);
    Io io = SendAll(to_next, &(*table)[outgoing], sizeof(RankInfo), &abort);
    if (io == Io::kOk)
      io = ReceiveAll(from_previous, &(*table)[incoming], sizeof(RankInfo), &abort);
    if (io != Io::kOk) return io;
  }
  return Io::kOk;
}

}  // namespace c4::nccl_cpu
