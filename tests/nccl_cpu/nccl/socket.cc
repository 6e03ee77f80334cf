// Implementation of socket.h.
#include "tests/nccl_cpu/nccl/socket.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace c4::nccl_cpu {
namespace {

constexpr int kBacklog = 4096;  // every rank of a large job may connect at once

bool Again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Socket Listen(uint16_t* port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket.valid() || bind(socket.fd(), generic, size) != 0 ||
      listen(socket.fd(), kBacklog) != 0 || getsockname(socket.fd(), generic, &size) != 0) {
    return Socket();
  }
  *port = ntohs(address.sin_port);
  return socket;
}

void PrepareForData(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Io Await(int fd, int16_t events, const AbortSignal* abort) {
  pollfd fds[2] = {{fd, events, 0}, {abort == nullptr ? -1 : abort->fd(), POLLIN, 0}};
  while (poll(fds, 2, -1) < 0) {
    if (errno != EINTR) return Io::kFailed;
  }
  return abort != nullptr && abort->raised() ? Io::kAborted : Io::kOk;
}

Io Connect(const sockaddr_in& address, const AbortSignal* abort, Socket* out) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return Io::kFailed;
  PrepareForData(socket.fd());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(socket.fd(), generic, sizeof(address)) != 0) {
    if (errno != EINPROGRESS) return Io::kFailed;
    if (const Io io = Await(socket.fd(), POLLOUT, abort); io != Io::kOk) return io;
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Io::kFailed;
  }
  *out = std::move(socket);
  return Io::kOk;
}

Io Accept(const Socket& listener, const AbortSignal* abort, Socket* out) {
  while (true) {
    if (const Io io = Await(listener.fd(), POLLIN, abort); io != Io::kOk) return io;
    Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) {
      if (Again() || errno == ECONNABORTED) continue;
      return Io::kFailed;
    }
    PrepareForData(socket.fd());
    *out = std::move(socket);
    return Io::kOk;
  }
}

Io SendAll(const Socket& socket, const void* data, size_t bytes, const AbortSignal* abort) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(socket.fd(), at, bytes, MSG_NOSIGNAL);
    if (sent >= 0) {
      at += sent;
      bytes -= static_cast<size_t>(sent);
      continue;
    }
    if (!Again()) return Io::kFailed;
    if (const Io io = Await(socket.fd(), POLLOUT, abort); io != Io::kOk) return io;
  }
  return Io::kOk;
}

Io ReceiveAll(const Socket& socket, void* data, size_t bytes, const AbortSignal* abort) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = recv(socket.fd(), at, bytes, 0);
    if (received > 0) {
      at += received;
      bytes -= static_cast<size_t>(received);
      continue;
    }
    if (received == 0 || !Again()) return Io::kFailed;
    if (const Io io = Await(socket.fd(), POLLIN, abort); io != Io::kOk) return io;
  }
  return Io::kOk;
}

}  // namespace c4::nccl_cpu
