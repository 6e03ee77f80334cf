// Ranks that do the same in a step, compared place by place (DESIGN section 5, "Own time").
//
// All peers take equally long for a step; who does more itself waits less. So a rank's excess is
// how much shorter than its peers' its operations are, summed over the places where waiting holds
// up what follows. Whether it does is learned: between an operation that blocks and the next one of
// its chain the rank computes as long as ever; beside one that does not it has computed already, so
// that longer waiting shortens what is left (coefficient 1 to 0). Durations and gaps are on one
// node's clock. Owner thread only; bounded history.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "analyzer/detect/rank_rhythm.h"

namespace c4::detect {

// What a rank did itself in the steps since Forget(), against its peers.
struct Segments {
  std::vector<double> excess_ns;  // by place: of the gap before it
  std::vector<double> usual_ns;   // the peers' gap
  double host_ns = 0;             // of the excess: passed before the host called
  double total_ns = 0;            // sum of the positive excesses
};

class PeerGroup {
 public:
  struct Excess {
    int rank = -1;
    model::TimeNs begin = 0;
    model::TimeNs end = 0;
    double share = 0;  // of the step; above 0: the rank takes longer than its peers
  };

  // Of the role that `rhythm` has; all members have the same.
  explicit PeerGroup(std::vector<std::size_t> offsets) : offsets_(std::move(offsets)) {}

  void Join(int rank) { members_[rank]; }
  void Leave(int rank) { members_.erase(rank); }
  std::size_t size() const { return members_.size(); }

  void Add(int rank, RankStep step);
  // Steps that all members have delivered, or that are two behind the newest; oldest first.
  std::vector<Excess> Evaluate();
  // Standard deviation of a member's share from step to step; too large rather than too small while
  // few steps are known.
  double Sigma() const;
  // Standard deviation of the members' usual shares; 0 with fewer than four.
  double SigmaBetween() const;
  const Segments& SegmentsOf(int rank) const { return members_.at(rank).segments; }
  void Forget(int rank) { members_.at(rank).segments = Segments{}; }
  // Who is slow waits less and computes longer, which looks like computing beside the waiting.
  // Nothing is learned from a suspect, and what a convict does is not the usual noise.
  void SetSuspect(int rank, bool suspect, bool convicted) {
    members_.at(rank).suspect = suspect;
    members_.at(rank).convicted = convicted;
  }

 private:
  static constexpr std::size_t kHistory = 32;
  struct Usual {
    double wait = 0;
    double gap = 0;
    bool known = false;
  };
  struct Member {
    bool suspect = false;
    bool convicted = false;
    std::vector<Usual> usual;  // by place: of observations, against the peers
    std::deque<double> shares;
    std::vector<Sample> last;  // samples of the step before
    model::TimeNs last_end = 0;
    model::TimeNs blocked_until = 0;  // end of its last blocking operation
    Segments segments;
  };
  struct Blocking {
    double waiting = 0;     // sum of squares
    double covariance = 0;  // with the gap that follows
    double coefficient = 1;
  };
  using Row = std::map<int, RankStep>;

  void LearnBlocking(const Row& row);
  struct Observation {
    Member* member = nullptr;
    double wait = 0;  // duration of an operation
    double gap = 0;   // own time between it and the next of its chain
  };
  void Observe(std::size_t place, const std::vector<Observation>& observations);
  std::vector<double> Excesses(const Row& row) const;
  void AddSegments(const Row& row);

  const std::vector<std::size_t> offsets_;
  std::map<int, Member> members_;
  std::map<std::uint64_t, Row> pending_;
  std::vector<Blocking> blocking_;
};

}  // namespace c4::detect
