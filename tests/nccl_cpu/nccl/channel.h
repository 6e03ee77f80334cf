// The bytes that one operation set moves over one pair of connections: what is sent, what is
// received, and which waits for which.
//
// Both directions are lists of segments, worked off in order. A send segment may forward what a
// receive segment of the same channel produces (a ring): its bytes become available as those
// arrive, so long messages are pipelined through the ring without being cut up. A receive segment
// may have to wait until a send segment has left, where it reuses that segment's memory.
//
// A socket's buffers would take in hundreds of KiB before the receiving rank has started, so that a
// late rank finds its data there and its operation seems to take no time. So a sender waits for a
// byte with which the receiver says that it has started, as NCCL's sender waits for posted receive
// buffers: one for the whole ring (AwaitReadiness), one for each message between peers
// (AwaitReadinessOfEach), whose Sends and Recvs may be grouped differently at the two ends.
//
// Nothing else is framed, and nothing is checked: ranks that disagree about sizes or operations
// block or garble, as with NCCL, but each writes only where its own segments say. Thread: the
// running plan's. A channel never blocks; Progress() does what it can.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/nccl_cpu/nccl/connection.h"
#include "tests/nccl_cpu/nccl/reduce.h"

namespace c4::nccl_cpu {

constexpr int64_t kNoSegment = -1;

struct SendSegment {
  const char* data;
  size_t bytes;
  int64_t forwards = kNoSegment;  // index of the receive segment that produces these bytes
};

struct ReceiveSegment {
  char* destination;
  size_t bytes;
  const char* operand = nullptr;  // not null: destination = operand op received
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int divisor = 1;                  // applied after the reduction
  int64_t after_sent = kNoSegment;  // index of the send segment that must have left before
};

class Channel {
 public:
  // Either connection may be null when there is nothing for it to move; `incoming` may become valid
  // later. Both outlive the channel. A blocked channel sends nothing (a dropped link).
  Channel(OutgoingConnection* outgoing, Socket* incoming, bool blocked)
      : outgoing_(outgoing), incoming_(incoming), blocked_(blocked) {}

  std::vector<SendSegment>& sends() { return sends_; }
  std::vector<ReceiveSegment>& receives() { return receives_; }

  // Both ends of a connection must do this for the same operation.
  void AwaitReadiness() { readiness_ = Readiness::kOnce; }
  void AwaitReadinessOfEach() { readiness_ = Readiness::kEach; }

  bool Progress();  // whether anything moved
  bool Done() const { return sent_ == sends_.size() && !Receiving(); }
  // Lost its peer: will never be done.
  bool dead() const { return send_dead_ || receive_dead_; }
  bool AwaitsConnection() const { return Receiving() && !incoming_->valid(); }
  void AddPollFds(std::vector<pollfd>* fds) const;

 private:
  // Also while only the word to the sender is outstanding: it waits for that before an empty
  // message.
  bool Receiving() const { return received_ < receives_.size() || ready_said_ < ReadinessOwed(); }
  bool ProgressSend();
  bool ProgressReceive();
  enum class Readiness { kNone, kOnce, kEach };
  // Bytes to see before the segment under way may be sent, and to say in all.
  size_t ReadinessNeeded() const;
  size_t ReadinessOwed() const;
  bool PeerIsReady();
  void SayReady();
  size_t SendableBytes() const;
  bool MayReceive() const;
  size_t ReceiveInto(const ReceiveSegment& segment);
  void Consume(const ReceiveSegment& segment, size_t staged);

  OutgoingConnection* const outgoing_;
  Socket* const incoming_;
  const bool blocked_;
  std::vector<SendSegment> sends_;
  std::vector<ReceiveSegment> receives_;

  size_t sent_ = 0;            // segments
  size_t sent_bytes_ = 0;      // of the segment under way
  size_t received_ = 0;        // segments
  size_t received_bytes_ = 0;  // of the segment under way, final in its destination
  Readiness readiness_ = Readiness::kNone;
  size_t ready_seen_ = 0;  // bytes from the rank that we send to
  size_t ready_said_ = 0;  // bytes to the rank that sends to us
  bool send_dead_ = false;
  bool receive_dead_ = false;

  // What arrived for a reduction; up to one element may be incomplete.
  static constexpr size_t kStagingBytes = size_t{64} << 10;
  std::vector<char> staging_;
  size_t staged_ = 0;
};

}  // namespace c4::nccl_cpu
