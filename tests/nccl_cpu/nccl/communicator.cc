// Implementation of communicator.h: how communicators come to be and end.
#include "tests/nccl_cpu/nccl/communicator.h"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/nccl_cpu/fault.h"
#include "tests/nccl_cpu/nccl/bootstrap.h"
#include "tests/nccl_cpu/nccl/comm_hash.h"
#include "tests/nccl_cpu/nccl/cuda_driver.h"
#include "tests/nccl_cpu/nccl/interface.h"
#include "tests/nccl_cpu/nccl/log.h"

namespace c4::nccl_cpu {
namespace {

// The rank in the first communicator this process joins; relaxed: written once, before any use.
std::atomic<int> process_rank{-1};

ncclResult_t ToResult(Io io) { return io == Io::kOk ? ncclSuccess : ncclRemoteError; }

// "0000:1B:00.0" as NCCL prints it: the digits without separators, in hex.
uint64_t PciBus(int device) {
  char text[32] = {};
  const CudaDriver* driver = CudaDriver::Get();
  if (driver == nullptr || driver->device_get_pci_bus_id(text, sizeof(text), device) != 0) return 0;
  std::string digits;
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at != ':' && *at != '.') digits += *at;
  }
  return std::strtoull(digits.c_str(), nullptr, 16);
}

}  // namespace

ncclResult_t Communicator::Init(const char* caller, int nranks, const ncclUniqueId& id, int rank,
                                int device) {
  int unset = -1;
  process_rank.compare_exchange_strong(unset, rank, std::memory_order_relaxed);
  rank_ = rank;
  device_ = device;
  pci_bus_ = PciBus(device);
  hash_ = RootCommHash(id);
  listener_.set_comm_hash(hash_);
  RankInfo mine{};
  mine.rank = rank;
  mine.nranks = nranks;
  mine.process_rank = process_rank.load(std::memory_order_relaxed);
  mine.host_hash = HostHash();
  mine.pci_bus = pci_bus_;
  Interface interface;
  if (!ChooseInterface(&interface) || !listener_.Open(&mine.port)) {
    LogWarn("Bootstrap : no socket interface found");
    return ncclSystemError;
  }
  mine.address = interface.address;
  LogInfo(device, "Bootstrap: Using %s", interface.name.c_str());
  if (const auto result = ExchangeThroughRoot(id, mine, abort_, &table_); result != ncclSuccess) {
    return result;
  }
  if (const auto result = RefuseSharedDevices(); result != ncclSuccess) return result;
  const ncclResult_t result = MakeRing(abort_);
  if (result == ncclSuccess) LogComplete(caller);
  return result;
}

ncclResult_t Communicator::Split(int color, int key, std::shared_ptr<Communicator>* child) {
  ++split_count_;
  auto made = std::make_shared<Communicator>();
  RankTable members = table_;
  RankInfo& mine = members[static_cast<size_t>(rank_)];
  mine.color = color;
  mine.key = key;
  if (!made->listener_.Open(&mine.port)) return ncclSystemError;
  const Io io =
      AllGatherRing(control_.outgoing.socket(), control_.incoming, rank_, abort_, &members);
  if (io != Io::kOk) return ToResult(io);
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;

  std::erase_if(members, [color](const RankInfo& member) { return member.color != color; });
  std::stable_sort(members.begin(), members.end(),
                   [](const RankInfo& a, const RankInfo& b) { return a.key < b.key; });
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].rank == rank_) made->rank_ = static_cast<int>(i);
    members[i].rank = static_cast<int32_t>(i);
    members[i].nranks = static_cast<int32_t>(members.size());
  }
  made->table_ = std::move(members);
  made->device_ = device_;
  made->pci_bus_ = pci_bus_;
  made->hash_ = SplitCommHash(hash_, split_count_, color);
  made->listener_.set_comm_hash(made->hash_);
  if (const auto result = made->MakeRing(abort_); result != ncclSuccess) return result;
  LogInfo(device_,
          "ncclCommSplit comm %p rank %d nranks %d cudaDev %d nvmlDev %d busId %lx parent %p "
          "splitCount %d color %d key %d - Init COMPLETE",
          static_cast<void*>(made.get()), made->rank_, made->nranks(), device_, device_,
          static_cast<unsigned long>(pci_bus_), static_cast<void*>(this), split_count_, color, key);
  *child = std::move(made);
  return ncclSuccess;
}

// Connects to the next rank and waits for the previous one, for control and for data.
ncclResult_t Communicator::MakeRing(const AbortSignal& abort) {
  const int n = nranks();
  if (n > 1) {
    const RankInfo& self = table_[static_cast<size_t>(rank_)];
    const RankInfo& next = table_[static_cast<size_t>((rank_ + 1) % n)];
    const int previous = (rank_ + n - 1) % n;
    control_.outgoing = OutgoingConnection(self, next, {hash_, ConnectionKind::kControl, rank_});
    ring_.outgoing = OutgoingConnection(self, next, {hash_, ConnectionKind::kRing, rank_});
    while (true) {
      std::vector<pollfd> fds = {{abort.fd(), POLLIN, 0}};
      bool complete = true;
      for (OutgoingConnection* outgoing : {&control_.outgoing, &ring_.outgoing}) {
        if (outgoing->Advance()) continue;
        if (outgoing->dead()) return ncclRemoteError;
        fds.push_back({outgoing->fd(), POLLOUT, 0});
        complete = false;
      }
      listener_.Collect();
      if (!control_.incoming.valid()) {
        control_.incoming = listener_.Take(ConnectionKind::kControl, previous);
      }
      if (!ring_.incoming.valid()) {
        ring_.incoming = listener_.Take(ConnectionKind::kRing, previous);
      }
      if (complete && control_.incoming.valid() && ring_.incoming.valid()) break;
      listener_.AddPollFds(&fds);
      poll(fds.data(), fds.size(), -1);
      if (abort.raised()) return ncclInternalError;
    }
  }
  ready_.store(true, std::memory_order_release);
  return ncclSuccess;
}

ncclResult_t Communicator::RefuseSharedDevices() const {
  for (const RankInfo& a : table_) {
    for (const RankInfo& b : table_) {
      if (a.rank >= b.rank || a.host_hash != b.host_hash || a.pci_bus != b.pci_bus) continue;
      LogWarn("Duplicate GPU detected : rank %d and rank %d both on CUDA device %lx", a.rank,
              b.rank, static_cast<unsigned long>(a.pci_bus));
      return ncclInvalidUsage;
    }
  }
  return ncclSuccess;
}

void Communicator::LogComplete(const char* caller) const {
  LogInfo(device_,
          "%s comm %p rank %d nranks %d cudaDev %d nvmlDev %d busId %lx commId 0x%lx - Init "
          "COMPLETE",
          caller, static_cast<const void*>(this), rank_, nranks(), device_, device_,
          static_cast<unsigned long>(pci_bus_), static_cast<unsigned long>(hash_));
}

void Communicator::Abort() {
  abort_.Raise();
  turns_.Abort();
  turns_.WaitUntilIdle();
  // No plan will use them any more, and the peers are to notice.
  ring_ = Peer();
  peers_.clear();
}

Peer& Communicator::PeerOf(int rank) {
  const auto [entry, is_new] = peers_.try_emplace(rank);
  if (is_new) {
    entry->second.outgoing =
        OutgoingConnection(table_[static_cast<size_t>(rank_)], table_[static_cast<size_t>(rank)],
                           {hash_, ConnectionKind::kPeer, rank_});
  }
  return entry->second;
}

bool Communicator::LinkDropped(int rank, int64_t operations) const {
  const cpu::FaultPlan& fault = cpu::FaultPlan::FromEnvironment();
  return fault.drop_link_peer >= 0 && operations >= fault.drop_link_after &&
         table_[static_cast<size_t>(rank)].process_rank == fault.drop_link_peer;
}

}  // namespace c4::nccl_cpu
