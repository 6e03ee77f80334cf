// Implementation of connection.h.
#include "tests/nccl_cpu/nccl/connection.h"

#include <sys/socket.h>

#include <cerrno>

namespace c4::nccl_cpu {
namespace {

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

OutgoingConnection::OutgoingConnection(const RankInfo& self, const RankInfo& peer, Hello hello)
    : hello_(hello) {
  const bool same_host = self.host_hash == peer.host_hash;
  address_.sin_family = AF_INET;
  address_.sin_port = htons(peer.port);
  address_.sin_addr.s_addr = same_host ? htonl(INADDR_LOOPBACK) : peer.address.s_addr;
  if (!same_host) source_ = self.address;
}

bool OutgoingConnection::Advance() {
  if (state_ == State::kNew) {
    socket_ = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket_.valid()) return MarkDead(), false;
    PrepareForData(socket_.fd());
    if (source_.s_addr != 0) {
      // Routing may prefer another interface; the source address at least says which was meant.
      sockaddr_in source{};
      source.sin_family = AF_INET;
      source.sin_addr = source_;
      const int late = 1;  // keeps a source port from being reserved before the peer is known
      setsockopt(socket_.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof(late));
      if (bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&source), sizeof(source)) != 0) {
        return MarkDead(), false;
      }
    }
    const auto* address = reinterpret_cast<const sockaddr*>(&address_);
    if (connect(socket_.fd(), address, sizeof(address_)) == 0) {
      state_ = State::kGreeting;
    } else if (errno == EINPROGRESS) {
      state_ = State::kConnecting;
    } else {
      return MarkDead(), false;
    }
  }
  if (state_ == State::kConnecting) {
    pollfd fd = {socket_.fd(), POLLOUT, 0};
    if (poll(&fd, 1, 0) <= 0) return false;
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return MarkDead(), false;
    state_ = State::kGreeting;
  }
  if (state_ == State::kGreeting) {
    const auto* bytes = reinterpret_cast<const char*>(&hello_);
    const ssize_t sent =
        send(socket_.fd(), bytes + hello_sent_, sizeof(hello_) - hello_sent_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (!WouldBlock()) MarkDead();
      return false;
    }
    hello_sent_ += static_cast<size_t>(sent);
    if (hello_sent_ == sizeof(hello_)) state_ = State::kReady;
  }
  return state_ == State::kReady;
}

bool PeerListener::Open(uint16_t* port) {
  listener_ = Listen(port);
  return listener_.valid();
}

void PeerListener::Collect() {
  while (true) {
    Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) break;
    PrepareForData(socket.fd());
    pending_.push_back({std::move(socket), {}, 0});
  }
  for (size_t i = 0; i < pending_.size();) {
    const Greeting greeting = ReadHello(&pending_[i]);
    if (greeting == Greeting::kIncomplete) {
      ++i;
      continue;
    }
    const Hello& hello = pending_[i].hello;
    if (greeting == Greeting::kComplete && hello.comm_hash == comm_hash_) {
      ready_[{hello.kind, hello.rank}] = std::move(pending_[i].socket);
    }
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

PeerListener::Greeting PeerListener::ReadHello(Pending* pending) {
  auto* bytes = reinterpret_cast<char*>(&pending->hello);
  while (pending->received < sizeof(Hello)) {
    const ssize_t got =
        recv(pending->socket.fd(), bytes + pending->received, sizeof(Hello) - pending->received, 0);
    if (got == 0) return Greeting::kBroken;
    if (got < 0) return WouldBlock() ? Greeting::kIncomplete : Greeting::kBroken;
    pending->received += static_cast<size_t>(got);
  }
  return Greeting::kComplete;
}

Socket PeerListener::Take(ConnectionKind kind, int rank) {
  const auto found = ready_.find({kind, rank});
  if (found == ready_.end()) return Socket();
  Socket socket = std::move(found->second);
  ready_.erase(found);
  return socket;
}

void PeerListener::AddPollFds(std::vector<pollfd>* fds) const {
  fds->push_back({listener_.fd(), POLLIN, 0});
  for (const Pending& pending : pending_) fds->push_back({pending.socket.fd(), POLLIN, 0});
}

}  // namespace c4::nccl_cpu
