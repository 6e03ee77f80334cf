// Implementation of plan.h.
#include "tests/nccl_cpu/nccl/plan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "tests/nccl_cpu/nccl/cuda_driver.h"
#include "tests/nccl_cpu/nccl/log.h"
#include "tests/nccl_cpu/nccl/pump.h"
#include "tests/nccl_cpu/nccl/ring.h"

namespace c4::nccl_cpu {
namespace {

// Operations this process has launched, for C4_CPU_FAULT; relaxed: a count, it orders nothing.
std::atomic<int64_t> launched_operations{0};

class Plan {
 public:
  Plan(std::shared_ptr<Communicator> comm, std::vector<Operation> operations)
      : comm_(std::move(comm)),
        operations_(std::move(operations)),
        first_operation_(launched_operations.fetch_add(static_cast<int64_t>(operations_.size()),
                                                       std::memory_order_relaxed)) {}

  Communicator& comm() { return *comm_; }
  std::vector<CUstream> Streams() const;
  // Before the launch: the plan's turn, and how many streams besides the first take part.
  void Prepare(uint64_t ticket, size_t others);

  void RunOnFirstStream();
  void HoldOtherStream();
  void AbandonStream() { --awaited_; }  // that stream could not be reached; inside Update()

 private:
  void MoveData();
  void Append(const Operation& operation, RingBuilder* ring);
  void SendTo(int rank, const char* data, size_t bytes);
  void ReceiveFrom(int rank, char* data, size_t bytes);
  Channel& ChannelTo(int rank);

  const std::shared_ptr<Communicator> comm_;
  const std::vector<Operation> operations_;
  const int64_t first_operation_;
  uint64_t ticket_ = 0;

  // The running worker's.
  std::map<int, PeerChannel> peers_;
  std::vector<std::pair<const char*, size_t>> own_sends_;  // to this rank itself, in order
  std::vector<std::pair<char*, size_t>> own_receives_;

  // Guarded by comm_->turns(), through Update() and Await().
  size_t awaited_ = 0;
  bool done_ = false;
};

void CopyOwn(char* destination, const char* source, size_t bytes) {
  if (bytes > 0 && destination != source) std::memmove(destination, source, bytes);
}

std::vector<CUstream> Plan::Streams() const {
  std::vector<CUstream> streams;
  for (const Operation& operation : operations_) {
    if (std::find(streams.begin(), streams.end(), operation.stream) == streams.end()) {
      streams.push_back(operation.stream);
    }
  }
  return streams;
}

void Plan::Prepare(uint64_t ticket, size_t others) {
  ticket_ = ticket;
  awaited_ = others;
}

void Plan::RunOnFirstStream() {
  Turns& turns = comm_->turns();
  if (turns.Await([this] { return awaited_ == 0; }) && turns.Begin(ticket_)) {
    MoveData();
    turns.End();
  }
  turns.Update([this] { done_ = true; });
}

void Plan::HoldOtherStream() {
  Turns& turns = comm_->turns();
  turns.Update([this] { --awaited_; });
  turns.Await([this] { return done_; });
}

void Plan::MoveData() {
  const int n = comm_->nranks();
  const int next = (comm_->rank() + 1) % n;
  Peer& ring = comm_->ring();
  Channel channel(&ring.outgoing, &ring.incoming, comm_->LinkDropped(next, first_operation_));
  RingBuilder builder(comm_->rank(), n, &channel);
  for (const Operation& operation : operations_) Append(operation, &builder);
  for (size_t i = 0; i < std::min(own_sends_.size(), own_receives_.size()); ++i) {
    const auto [source, bytes] = own_sends_[i];
    CopyOwn(own_receives_[i].first, source, std::min(bytes, own_receives_[i].second));
  }
  PumpUntilDone(comm_.get(), &channel, &peers_);
}

void Plan::Append(const Operation& operation, RingBuilder* ring) {
  const size_t bytes = operation.count * TypeBytes(operation.type);
  const int n = comm_->nranks();
  const int rank = comm_->rank();
  const auto from = [&](int i) { return operation.send + static_cast<size_t>(i) * bytes; };
  const auto to = [&](int i) { return operation.receive + static_cast<size_t>(i) * bytes; };
  if (n == 1 && operation.kind < OperationKind::kSend) {
    return CopyOwn(operation.receive, operation.send, bytes);
  }
  switch (operation.kind) {
    case OperationKind::kAllReduce:
      return ring->AllReduce(operation);
    case OperationKind::kReduce:
      return ring->Reduce(operation);
    case OperationKind::kBroadcast:
      return ring->Broadcast(operation);
    case OperationKind::kReduceScatter:
      return ring->ReduceScatter(operation);
    case OperationKind::kAllGather:
      return ring->AllGather(operation);
    case OperationKind::kAlltoAll:
      for (int i = 0; i < n; ++i) {
        SendTo(i, from(i), bytes);
        ReceiveFrom(i, to(i), bytes);
      }
      return;
    case OperationKind::kGather:
      SendTo(operation.peer, operation.send, bytes);
      for (int i = 0; i < n && rank == operation.peer; ++i) ReceiveFrom(i, to(i), bytes);
      return;
    case OperationKind::kScatter:
      for (int i = 0; i < n && rank == operation.peer; ++i) SendTo(i, from(i), bytes);
      return ReceiveFrom(operation.peer, operation.receive, bytes);
    case OperationKind::kSend:
      return SendTo(operation.peer, operation.send, bytes);
    case OperationKind::kReceive:
      return ReceiveFrom(operation.peer, operation.receive, bytes);
  }
}

Channel& Plan::ChannelTo(int rank) {
  const auto found = peers_.find(rank);
  if (found != peers_.end()) return found->second.channel;
  Peer& peer = comm_->PeerOf(rank);
  const bool dropped = comm_->LinkDropped(rank, first_operation_);
  PeerChannel entry{rank, &peer, Channel(&peer.outgoing, &peer.incoming, dropped)};
  entry.channel.AwaitReadinessOfEach();
  return peers_.emplace(rank, std::move(entry)).first->second.channel;
}

void Plan::SendTo(int rank, const char* data, size_t bytes) {
  if (rank != comm_->rank()) {
    ChannelTo(rank).sends().push_back({data, bytes});
  } else {
    own_sends_.emplace_back(data, bytes);
  }
}

void Plan::ReceiveFrom(int rank, char* data, size_t bytes) {
  if (rank != comm_->rank()) {
    ChannelTo(rank).receives().push_back({data, bytes});
  } else {
    own_receives_.emplace_back(data, bytes);
  }
}

// What a host function gets: its share of the plan, which the last stream to run frees.
struct StreamPart {
  std::shared_ptr<Plan> plan;
  bool first;
};

void RunStreamPart(void* argument) {
  const std::unique_ptr<StreamPart> part(static_cast<StreamPart*>(argument));
  if (part->first) {
    part->plan->RunOnFirstStream();
  } else {
    part->plan->HoldOtherStream();
  }
}

bool LaunchPart(CUstream stream, const std::shared_ptr<Plan>& plan, bool first) {
  auto part = std::make_unique<StreamPart>(StreamPart{plan, first});
  const CudaDriver* driver = CudaDriver::Get();
  if (driver->launch_host_func(stream, &RunStreamPart, part.get()) != CUDA_SUCCESS) return false;
  static_cast<void>(part.release());  // RunStreamPart owns it
  return true;
}

// A Send to oneself without the matching Recv in the same group could never end.
bool OwnSendsMatch(const Communicator& comm, const std::vector<Operation>& operations) {
  int balance = 0;
  for (const Operation& operation : operations) {
    if (operation.peer != comm.rank()) continue;
    if (operation.kind == OperationKind::kSend) ++balance;
    if (operation.kind == OperationKind::kReceive) --balance;
  }
  return balance == 0;
}

}  // namespace

ncclResult_t LaunchPlan(std::shared_ptr<Communicator> comm, std::vector<Operation> operations) {
  if (!OwnSendsMatch(*comm, operations)) {
    LogWarn("Trying to send to self without a matching recv, or the other way round");
    return ncclInvalidUsage;
  }
  std::lock_guard lock(comm->launch_mutex());
  const auto plan = std::make_shared<Plan>(comm, std::move(operations));
  const std::vector<CUstream> streams = plan->Streams();
  plan->Prepare(comm->turns().Take(), streams.size() - 1);
  if (!LaunchPart(streams[0], plan, /*first=*/true)) {
    comm->turns().Return();
    return ncclUnhandledCudaError;
  }
  ncclResult_t result = ncclSuccess;
  for (size_t i = 1; i < streams.size(); ++i) {
    if (LaunchPart(streams[i], plan, /*first=*/false)) continue;
    comm->turns().Update([&] { plan->AbandonStream(); });
    result = ncclUnhandledCudaError;
  }
  return result;
}

}  // namespace c4::nccl_cpu
