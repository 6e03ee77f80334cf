// Implementation of rendezvous.h.
#include "tests/train/rendezvous.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

namespace c4::train {
namespace {

// Processes of a job start within seconds of each other; a minute means that one never will.
constexpr std::chrono::seconds kTimeout{60};
constexpr std::chrono::milliseconds kRetryPeriod{20};

using Clock = std::chrono::steady_clock;

bool Fail(const char* what) {
  std::fprintf(stderr, "c4-train: rendezvous: %s\n", what);
  return false;
}

// Tries until it works or time is up.
template <typename Attempt>
bool Retry(Attempt attempt) {
  const auto deadline = Clock::now() + kTimeout;
  while (!attempt()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(kRetryPeriod);
  }
  return true;
}

bool WriteFile(const std::string& path, const ncclUniqueId& id) {
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file.write(id.internal, sizeof(id.internal));
  file.close();
  return file.good() && std::rename(partial.c_str(), path.c_str()) == 0;
}

bool ShareByFile(const std::string& directory, int rank, ncclUniqueId* id) {
  const std::string path = directory + "/c4-train.id";
  if (rank == 0) return WriteFile(path, *id) || Fail("cannot write the id file");
  return Retry([&] {
           std::ifstream file(path, std::ios::binary);
           file.read(id->internal, sizeof(id->internal));
           return file.good();
         }) ||
         Fail("no id file after a minute");
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

bool Transfer(int fd, char* bytes, size_t count, bool sends) {
  while (count > 0) {
    const ssize_t moved = sends ? send(fd, bytes, count, MSG_NOSIGNAL) : recv(fd, bytes, count, 0);
    if (moved <= 0) return false;
    bytes += moved;
    count -= static_cast<size_t>(moved);
  }
  return true;
}

bool ServeId(const addrinfo& address, int receivers, ncclUniqueId* id) {
  const Socket listener(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int reuse = 1;
  setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  const timeval timeout = {kTimeout.count(), 0};  // for accept too
  setsockopt(listener.fd(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  if (bind(listener.fd(), address.ai_addr, address.ai_addrlen) != 0 ||
      listen(listener.fd(), receivers) != 0) {
    return Fail("rank 0 cannot listen on the address");
  }
  for (int served = 0; served < receivers;) {
    const Socket peer(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.fd() < 0) return Fail("not all ranks came within a minute");
    served += Transfer(peer.fd(), id->internal, sizeof(id->internal), true) ? 1 : 0;
  }
  return true;
}

bool FetchId(const addrinfo& address, ncclUniqueId* id) {
  return Retry([&] {
           const Socket root(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
           return connect(root.fd(), address.ai_addr, address.ai_addrlen) == 0 &&
                  Transfer(root.fd(), id->internal, sizeof(id->internal), false);
         }) ||
         Fail("rank 0 did not answer within a minute");
}

bool ShareByTcp(const std::string& host, const std::string& port, int rank, int world_size,
                ncclUniqueId* id) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0 || found == nullptr) {
    return Fail("unknown host or port");
  }
  const bool shared = rank == 0 ? ServeId(*found, world_size - 1, id) : FetchId(*found, id);
  freeaddrinfo(found);
  return shared;
}

}  // namespace

bool ShareUniqueId(const std::string& where, int rank, int world_size, ncclUniqueId* id) {
  if (world_size == 1) return true;
  const size_t colon = where.rfind(':');
  if (colon == std::string::npos || where.find('/') != std::string::npos) {
    return ShareByFile(where, rank, id);
  }
  return ShareByTcp(where.substr(0, colon), where.substr(colon + 1), rank, world_size, id);
}

}  // namespace c4::train
