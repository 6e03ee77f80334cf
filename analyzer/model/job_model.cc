#include "analyzer/model/job_model.h"

#include <algorithm>
#include <utility>

namespace c4::model {
namespace {

bool Earlier(const Operation* a, const Operation* b) {
  return std::tie(a->enqueue, a->communicator, a->sequence, a->rank, *a->name, a->peer) <
         std::tie(b->enqueue, b->communicator, b->sequence, b->rank, *b->name, b->peer);
}

constexpr int kSteadyAfterCompletions = 3;
constexpr DurationNs kClockSkewMax = 10 * kSecond;

}  // namespace

JobModel::JobModel(std::string name, std::uint32_t incarnation)
    : name_(std::move(name)), incarnation_(incarnation) {}

int JobModel::CommunicatorIndex(const std::string& id) {
  const auto [entry, added] = communicator_index_.emplace(id, communicators_.size());
  if (added) {
    communicators_.push_back(std::make_unique<Communicator>());
    communicators_.back()->id = id;
  }
  return entry->second;
}

const std::string* JobModel::Intern(const std::string& text) { return &*words_.insert(text).first; }

void JobModel::Apply(const RankRecord& record) { ranks_[record.rank].info = record; }

void JobModel::Apply(const CommunicatorRecord& record) {
  const int index = CommunicatorIndex(record.id);
  Communicator& communicator = *communicators_[index];
  std::vector<int>& ranks = communicator.ranks;
  ranks.resize(std::max(ranks.size(), record.ranks.size()), -1);
  for (std::size_t i = 0; i < record.ranks.size(); ++i) {
    if (record.ranks[i] >= 0) {
      ranks[i] = record.ranks[i];
      communicator.member_of[ranks[i]] = static_cast<int>(i);
    }
  }
  for (auto& [number, rank] : ranks_) {
    for (Operation& operation : rank.operations) {
      if (operation.communicator == index && operation.member < 0) {
        Join(&operation);
      }
    }
  }
}

JobModel::InstanceKey JobModel::KeyOf(const Operation& operation) const {
  if (operation.kind == Dependency::kSend) {
    return {operation.communicator, operation.sequence, operation.member, operation.peer};
  }
  if (operation.kind == Dependency::kRecv) {
    return {operation.communicator, operation.sequence, operation.peer, operation.member};
  }
  return {operation.communicator, operation.sequence, -1, -1};
}

void JobModel::Join(Operation* operation) {
  const Communicator& communicator = *communicators_[operation->communicator];
  const auto found = communicator.member_of.find(operation->rank);
  if (found == communicator.member_of.end()) {
    return;
  }
  operation->member = found->second;
  std::unique_ptr<Instance>& instance = instances_[KeyOf(*operation)];
  if (instance == nullptr) {
    instance = std::make_unique<Instance>();
  }
  operation->instance = instance.get();
  std::vector<Operation*>& members = instance->members;
  instance->uniform =
      instance->uniform && (members.empty() || SameCall(*members.front(), *operation));
  members.insert(
      std::upper_bound(members.begin(), members.end(), operation,
                       [](const Operation* a, const Operation* b) { return a->rank < b->rank; }),
      operation);
}

void JobModel::Leave(Operation* operation) {
  if (operation->instance == nullptr) {
    return;
  }
  Instance* instance = operation->instance;
  std::erase(instance->members, operation);
  if (instance->complete) {
    std::erase(completed_, instance);
  }
  if (instance->members.empty()) {
    instances_.erase(KeyOf(*operation));
  }
}

void JobModel::NoteTime(TimeNs time) {
  if (time > now_) {
    future_.push(time);
  } else if (time > last_movement_ && last_movement_ != 0) {
    // Late by a clock behind the watermark: such a silence is ordinary, a longer one an agent's.
    if (steady_since_ != 0 && now_ - last_movement_ <= kClockSkewMax) {
      longest_gap_ = std::max(longest_gap_, now_ - last_movement_);
    }
    last_movement_ = time;
  }
  if (first_seen_ == 0 || time < first_seen_) {
    first_seen_ = time;
  }
}

JobModel::OperationKey JobModel::KeyInRank(const Operation& operation) const {
  const bool p2p = IsPointToPoint(operation.kind) || operation.kind == Dependency::kNone;
  return {operation.communicator, operation.sequence, p2p ? static_cast<int>(operation.kind) : -1,
          p2p ? operation.peer : -1};
}

// Makes room: the oldest of those that the watermark has passed. One in flight is never forgotten,
// nor what came after it.
void JobModel::Forget(Rank* rank) {
  std::size_t passed = 0;
  for (auto operation = rank->operations.rbegin();
       operation != rank->operations.rend() && !operation->EnqueuedBy(now_); ++operation) {
    ++passed;
  }
  std::size_t excess = rank->operations.size() - passed;
  excess -= std::min(excess, kOperationsPerRank);
  for (; excess > 0; --excess) {
    Operation* oldest = &rank->operations.front();
    if (!oldest->EndedBy(now_) && !oldest->Blind() &&
        rank->operations.size() < 2 * kOperationsPerRank) {
      return;
    }
    Leave(oldest);
    by_key_[oldest->rank].erase(KeyInRank(*oldest));
    std::erase(rank->open, oldest);
    if (!oldest->EnqueuedBy(now_)) {
      std::erase(to_enqueue_, oldest);
    }
    rank->operations.pop_front();
  }
}

void JobModel::Apply(const OperationRecord& record) {
  const Dependency kind = DependencyOf(record.name);
  const int communicator = CommunicatorIndex(record.communicator);
  Rank& rank = ranks_[record.rank];
  Operation probe;
  probe.kind = kind;
  probe.communicator = communicator;
  probe.sequence = record.sequence;
  probe.peer = record.peer;
  Operation*& entry = by_key_[record.rank][KeyInRank(probe)];
  if (entry == nullptr) {
    if (rank.operations.size() >= kOperationsPerRank + kOperationsAheadPerRank) {
      by_key_[record.rank].erase(KeyInRank(probe));
      ++operations_dropped_;
      return;
    }
    ++operation_count_;
    Operation& operation = rank.operations.emplace_back();
    entry = &operation;
    operation.rank = record.rank;
    operation.communicator = communicator;
    operation.sequence = record.sequence;
    operation.name = Intern(record.name);
    operation.datatype = Intern(record.datatype);
    operation.kind = kind;
    operation.count = record.count;
    operation.root = record.root;
    operation.peer = record.peer;
    operation.group = record.group;
    operation.stream = record.stream;
    to_enqueue_.push_back(&operation);
    Join(&operation);
  }
  Operation& operation = *entry;
  for (const auto& [field, value] : {std::pair{&operation.enqueue, record.enqueue},
                                     {&operation.returned, record.returned},
                                     {&operation.start, record.start},
                                     {&operation.end, record.end}}) {
    if (value != 0 && *field != value) {
      *field = value;
      if (field != &operation.returned) {
        NoteTime(value);
      }
    }
  }
  operation.captured |= record.captured;
  operation.abandoned |= record.abandoned;
  operation.untimed |= record.untimed;
}

void JobModel::Apply(const ProcessRecord& record) {
  if (record.state != "exited") {
    return;
  }
  std::vector<ProcessRecord>& exits = ranks_[record.rank].exits;
  const bool known = std::any_of(exits.begin(), exits.end(), [&](const ProcessRecord& other) {
    return other.time == record.time && other.code == record.code;
  });
  if (!known && exits.size() < 4) {
    exits.push_back(record);
    std::sort(exits.begin(), exits.end(),
              [](const auto& a, const auto& b) { return a.time < b.time; });
  }
}

void JobModel::AdvanceTo(TimeNs now) {
  // Before what is new, so that what the last tick handed out is still there for its readers.
  for (auto& [number, rank] : ranks_) {
    if (rank.operations.size() > kOperationsPerRank) {
      Forget(&rank);
    }
  }
  now_ = now;
  while (!future_.empty() && future_.top() <= now) {
    const TimeNs time = future_.top();
    future_.pop();
    if (time <= last_movement_) {
      continue;
    }
    if (steady_since_ != 0) {
      longest_gap_ = std::max(longest_gap_, time - last_movement_);
    }
    last_movement_ = time;
  }
  std::vector<Operation*> later;
  std::vector<Operation*> fresh;
  for (Operation* operation : to_enqueue_) {
    (operation->EnqueuedBy(now) ? fresh : later).push_back(operation);
  }
  to_enqueue_ = std::move(later);
  std::sort(fresh.begin(), fresh.end(), Earlier);
  for (Operation* operation : fresh) {
    enqueued_.push_back(operation);
    ranks_[operation->rank].open.push_back(operation);
  }
  std::vector<Operation*> ended;
  for (auto& [number, rank] : ranks_) {
    std::erase_if(rank.open, [&](Operation* operation) {
      if (operation->Blind()) {
        settled_.push_back(operation);
        return true;
      }
      if (!operation->EndedBy(now)) {
        return false;
      }
      ended.push_back(operation);
      return true;
    });
  }
  std::sort(ended.begin(), ended.end(), [](const Operation* a, const Operation* b) {
    return std::tie(a->end, a->rank) < std::tie(b->end, b->rank);
  });
  for (const Operation* operation : ended) {
    settled_.push_back(operation);
    Complete(*operation);
  }
}

// `operation` has ended at this tick.
void JobModel::Complete(const Operation& operation) {
  Instance* instance = operation.instance;
  if (instance == nullptr) {
    return;
  }
  const std::size_t size =
      IsPointToPoint(operation.kind) ? 2 : communicators_[operation.communicator]->ranks.size();
  if (++instance->ended != size || instance->members.size() != size || instance->complete) {
    return;
  }
  instance->complete = true;
  completed_.push_back(instance);
  if (steady_since_ == 0 && ++completions_[operation.communicator] >= kSteadyAfterCompletions) {
    steady_since_ = now_;
  }
}

}  // namespace c4::model
