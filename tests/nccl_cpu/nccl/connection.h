// The data connections of a communicator. Each carries bytes one way, from the rank that connects
// to the rank that accepts, and starts with a Hello that says who connects and for what: control
// ring, data ring, or point-to-point. Nothing here blocks; whoever waits polls the descriptors.
//
// Ranks of one host connect over loopback, so that only traffic between hosts crosses the
// interface. Thread: one user at a time (the thread that initialises the communicator, then its
// running plan).
#pragma once

#include <poll.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/nccl_cpu/nccl/rank_info.h"
#include "tests/nccl_cpu/nccl/socket.h"

namespace c4::nccl_cpu {

enum class ConnectionKind : uint32_t { kControl, kRing, kPeer };

struct Hello {
  uint64_t comm_hash;
  ConnectionKind kind;
  int32_t rank;
};

// The connecting side: connects and introduces itself step by step.
class OutgoingConnection {
 public:
  OutgoingConnection() = default;
  OutgoingConnection(const RankInfo& self, const RankInfo& peer, Hello hello);

  // Gets on as far as it can without blocking. True once bytes may be sent.
  bool Advance();
  bool ready() const { return state_ == State::kReady; }
  bool dead() const { return state_ == State::kDead; }
  void MarkDead() { state_ = State::kDead; }
  int fd() const { return socket_.fd(); }
  const Socket& socket() const { return socket_; }

 private:
  //  kNew ──connect()──> kConnecting ──writable──> kGreeting ──hello sent──> kReady
  //  and from each of them, on an error, kDead
  enum class State { kNew, kConnecting, kGreeting, kReady, kDead };

  Socket socket_;
  sockaddr_in address_{};
  in_addr source_{};  // 0 where the kernel may choose
  Hello hello_{};
  size_t hello_sent_ = 0;
  State state_ = State::kNew;
};

// The accepting side of all of a communicator's connections.
class PeerListener {
 public:
  explicit PeerListener(uint64_t comm_hash) : comm_hash_(comm_hash) {}

  // Opens the listener; false on failure.
  bool Open(uint16_t* port);
  // Accepts what waits and reads Hellos, without blocking. Strangers are dropped.
  void Collect();
  // The connection from that rank, if it has come; otherwise an invalid Socket.
  Socket Take(ConnectionKind kind, int rank);
  // What to poll while waiting for one to come.
  void AddPollFds(std::vector<pollfd>* fds) const;

  // Named apart from the constructor because a split knows its hash only after the listener is
  // open.
  void set_comm_hash(uint64_t comm_hash) { comm_hash_ = comm_hash; }

 private:
  struct Pending {
    Socket socket;
    Hello hello;
    size_t received = 0;
  };
  enum class Greeting { kComplete, kIncomplete, kBroken };
  static Greeting ReadHello(Pending* pending);

  uint64_t comm_hash_;
  Socket listener_;
  std::vector<Pending> pending_;
  std::map<std::pair<ConnectionKind, int>, Socket> ready_;
};

}  // namespace c4::nccl_cpu
