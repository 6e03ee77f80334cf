// Implementation of channel.h.
#include "tests/nccl_cpu/nccl/channel.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace c4::nccl_cpu {
namespace {

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

bool Channel::Progress() {
  SayReady();
  const bool sent = ProgressSend();
  const bool received = ProgressReceive();
  return sent || received;
}

size_t Channel::SendableBytes() const {
  const SendSegment& segment = sends_[sent_];
  size_t available = segment.bytes;
  if (segment.forwards != kNoSegment) {
    const auto source = static_cast<size_t>(segment.forwards);
    if (received_ < source) available = 0;
    if (received_ == source) available = std::min(available, received_bytes_);
  }
  return available - sent_bytes_;
}

bool Channel::ProgressSend() {
  bool moved = false;
  while (sent_ < sends_.size() && !send_dead_ && !blocked_) {
    if (!PeerIsReady()) break;
    const SendSegment& segment = sends_[sent_];
    if (sent_bytes_ == segment.bytes) {
      ++sent_;
      sent_bytes_ = 0;
      moved = true;
      continue;
    }
    if (!outgoing_->Advance()) {
      send_dead_ = outgoing_->dead();
      break;
    }
    const size_t bytes = SendableBytes();
    if (bytes == 0) break;
    const ssize_t sent = send(outgoing_->fd(), segment.data + sent_bytes_, bytes, MSG_NOSIGNAL);
    if (sent < 0) {
      if (!WouldBlock()) {
        outgoing_->MarkDead();
        send_dead_ = true;
      }
      break;
    }
    sent_bytes_ += static_cast<size_t>(sent);
    moved = true;
  }
  return moved;
}

size_t Channel::ReadinessNeeded() const {
  if (readiness_ == Readiness::kNone) return 0;
  return readiness_ == Readiness::kOnce ? 1 : sent_ + 1;
}

size_t Channel::ReadinessOwed() const {
  if (readiness_ == Readiness::kNone || receives_.empty()) return 0;
  return readiness_ == Readiness::kOnce ? 1 : receives_.size();
}

// Against the direction of the data. The bytes fit: the peer takes each before it sends what it
// stands for, and a plan has far fewer messages than a socket's buffer has bytes.
void Channel::SayReady() {
  static constexpr std::array<char, 64> kReady{};
  while (ready_said_ < ReadinessOwed() && !receive_dead_ && incoming_->valid()) {
    const size_t bytes = std::min(ReadinessOwed() - ready_said_, kReady.size());
    const ssize_t said = send(incoming_->fd(), kReady.data(), bytes, MSG_NOSIGNAL);
    if (said < 0) {
      receive_dead_ = !WouldBlock();
      return;
    }
    ready_said_ += static_cast<size_t>(said);
  }
}

bool Channel::PeerIsReady() {
  if (ready_seen_ >= ReadinessNeeded()) return true;
  if (!outgoing_->Advance()) {
    send_dead_ = outgoing_->dead();
    return false;
  }
  // Only what is needed: a later plan's bytes are that plan's to take.
  char byte = 0;
  const ssize_t received = recv(outgoing_->fd(), &byte, 1, 0);
  if (received == 1) ++ready_seen_;
  if (received == 0 || (received < 0 && !WouldBlock())) {
    outgoing_->MarkDead();
    send_dead_ = true;
  }
  return ready_seen_ >= ReadinessNeeded();
}

bool Channel::MayReceive() const {
  const ReceiveSegment& segment = receives_[received_];
  return segment.after_sent == kNoSegment || sent_ > static_cast<size_t>(segment.after_sent);
}

bool Channel::ProgressReceive() {
  bool moved = false;
  while (received_ < receives_.size() && !receive_dead_) {
    if (received_bytes_ == receives_[received_].bytes) {
      ++received_;
      received_bytes_ = 0;
      moved = true;
      continue;
    }
    if (!incoming_->valid() || !MayReceive()) break;
    if (ReceiveInto(receives_[received_]) == 0) break;
    moved = true;
  }
  return moved;
}

// Reads once from the connection; 0 when nothing came.
size_t Channel::ReceiveInto(const ReceiveSegment& segment) {
  const bool reduces = segment.operand != nullptr;
  if (reduces) staging_.resize(kStagingBytes);
  char* into = reduces ? staging_.data() + staged_ : segment.destination + received_bytes_;
  const size_t left = segment.bytes - received_bytes_ - (reduces ? staged_ : 0);
  const size_t bytes = reduces ? std::min(left, kStagingBytes - staged_) : left;
  const ssize_t received = recv(incoming_->fd(), into, bytes, 0);
  if (received == 0 || (received < 0 && !WouldBlock())) receive_dead_ = true;
  if (received <= 0) return 0;
  const auto got = static_cast<size_t>(received);
  if (reduces) {
    Consume(segment, staged_ + got);
  } else {
    received_bytes_ += got;
  }
  return got;
}

// Reduces the whole elements among the staged bytes and keeps the rest for later.
void Channel::Consume(const ReceiveSegment& segment, size_t staged) {
  const size_t element = TypeBytes(segment.type);
  const size_t count = staged / element;
  const size_t whole = count * element;
  char* destination = segment.destination + received_bytes_;
  Reduce(destination, segment.operand + received_bytes_, staging_.data(), count, segment.type,
         segment.op);
  if (segment.divisor > 1) Divide(destination, count, segment.type, segment.divisor);
  received_bytes_ += whole;
  staged_ = staged - whole;
  std::memmove(staging_.data(), staging_.data() + whole, staged_);
}

void Channel::AddPollFds(std::vector<pollfd>* fds) const {
  if (received_ < receives_.size() && incoming_->valid() && !receive_dead_ && MayReceive()) {
    fds->push_back({incoming_->fd(), POLLIN, 0});
  }
  const bool sending = sent_ < sends_.size() && !send_dead_ && !blocked_;
  if (sending && ready_seen_ < ReadinessNeeded() && outgoing_->fd() >= 0) {
    // A connection under way first has to become writable, for its Hello.
    const short events = outgoing_->ready() ? POLLIN : POLLOUT;
    fds->push_back({outgoing_->fd(), events, 0});
    return;
  }
  // Without sendable bytes it is a receive that will bring it on, not this descriptor.
  if (sending && SendableBytes() > 0 && outgoing_->fd() >= 0) {
    fds->push_back({outgoing_->fd(), POLLOUT, 0});
  }
}

}  // namespace c4::nccl_cpu
