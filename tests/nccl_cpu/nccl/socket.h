// TCP sockets, and blocking transfers over them that an AbortSignal ends. For bootstrap and control
// traffic; collectives use channel.h. There are no timeouts: a dead link blocks, as NCCL's does.
// Thread: a Socket has one user at a time.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tests/nccl_cpu/nccl/abort_signal.h"

namespace c4::nccl_cpu {

enum class Io { kOk, kAborted, kFailed };

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  int fd() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// A non-blocking listener on all addresses and a free port (in *port, host order).
Socket Listen(uint16_t* port);
// Prepares an accepted or connecting socket: no Nagle delay, no blocking.
void PrepareForData(int fd);

// Blocks until `events` on fd or an abort. abort may be null.
Io Await(int fd, int16_t events, const AbortSignal* abort);
Io Connect(const sockaddr_in& address, const AbortSignal* abort, Socket* socket);
Io Accept(const Socket& listener, const AbortSignal* abort, Socket* socket);
Io SendAll(const Socket& socket, const void* data, size_t bytes, const AbortSignal* abort);
Io ReceiveAll(const Socket& socket, void* data, size_t bytes, const AbortSignal* abort);

}  // namespace c4::nccl_cpu
