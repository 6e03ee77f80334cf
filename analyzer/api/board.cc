#include "analyzer/api/board.h"

#include <algorithm>
#include <utility>

namespace c4::api {
namespace {

bool Newer(const SharedVerdict& a, const SharedVerdict& b) {
  if (a->detected() != b->detected()) return a->detected() > b->detected();
  return a->id() < b->id();
}

}  // namespace

void Board::Publish(const std::vector<v1::Verdict>& verdicts) {
  const MutexLock lock(&mutex_);
  for (const v1::Verdict& verdict : verdicts) {
    const auto shared = std::make_shared<const v1::Verdict>(verdict);
    verdicts_[verdict.id()] = shared;
    for (VerdictListener* listener : listeners_) listener->OnVerdict(shared);
  }
  if (verdicts_.size() > verdicts_max_) Trim();
}

void Board::Trim() {
  std::vector<SharedVerdict> resolved;
  for (const auto& [id, verdict] : verdicts_) {
    if (verdict->status() == "resolved") resolved.push_back(verdict);
  }
  const std::size_t surplus = std::min(verdicts_.size() - verdicts_max_, resolved.size());
  std::sort(resolved.begin(), resolved.end(), Newer);
  for (std::size_t i = 0; i < surplus; ++i) {
    verdicts_.erase(resolved.back()->id());
    resolved.pop_back();
  }
}

void Board::SetJobs(std::vector<v1::Job> jobs) {
  const MutexLock lock(&mutex_);
  jobs_ = std::move(jobs);
}

void Board::SetStatus(v1::GetStatusResponse status) {
  const MutexLock lock(&mutex_);
  status_ = std::move(status);
}

std::vector<SharedVerdict> Board::NewestFirst(const VerdictFilter& filter) const {
  std::vector<SharedVerdict> matching;
  for (const auto& [id, verdict] : verdicts_) {
    if (filter.Matches(*verdict)) matching.push_back(verdict);
  }
  std::sort(matching.begin(), matching.end(), Newer);
  return matching;
}

std::vector<SharedVerdict> Board::Verdicts(const VerdictFilter& filter) const {
  const MutexLock lock(&mutex_);
  return NewestFirst(filter);
}

std::vector<v1::Job> Board::Jobs() const {
  const MutexLock lock(&mutex_);
  return jobs_;
}

v1::GetStatusResponse Board::Status() const {
  const MutexLock lock(&mutex_);
  return status_;
}

std::vector<SharedVerdict> Board::Subscribe(const VerdictFilter& filter,
                                            VerdictListener* listener) {
  const MutexLock lock(&mutex_);
  listeners_.insert(listener);
  std::vector<SharedVerdict> now = NewestFirst(filter);
  std::reverse(now.begin(), now.end());
  return now;
}

void Board::Unsubscribe(VerdictListener* listener) {
  const MutexLock lock(&mutex_);
  listeners_.erase(listener);
}

std::size_t Board::listeners() const {
  const MutexLock lock(&mutex_);
  return listeners_.size();
}

}  // namespace c4::api
