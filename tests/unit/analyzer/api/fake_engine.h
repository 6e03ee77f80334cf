// An engine that remembers what it was given and says what the test told it to say.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "analyzer/api/engine_port.h"
#include "analyzer/api/mutex.h"
#include "analyzer/ingest/trace_json.h"

namespace c4::api {

// Waits end by the condition; this is only how long a broken test takes to fail.
inline constexpr absl::Duration kPatience = absl::Seconds(30);

class FakeEngine final : public EnginePort {
 public:
  void Apply(const model::Record& record) override {
    const MutexLock lock(&mutex_);
    said_.push_back(ingest::FormatTraceLine(record));
    records_.push_back(record);
  }
  std::vector<model::Verdict> Advance(model::TimeNs watermark) override {
    const MutexLock lock(&mutex_);
    said_.push_back(ingest::FormatTraceLine(ingest::Watermark{watermark}));
    watermark_ = watermark;
    std::vector<model::Verdict> due;
    std::erase_if(planned_, [&](const auto& planned) {
      if (planned.first <= watermark) due.push_back(planned.second);
      return planned.first <= watermark;
    });
    return due;
  }
  void Restore(const std::vector<model::Verdict>& open) override {
    const MutexLock lock(&mutex_);
    restored_ = open;
  }
  std::vector<model::JobSummary> Jobs() const override {
    const MutexLock lock(&mutex_);
    std::map<std::string, model::JobSummary> jobs;
    for (const model::Record& record : records_) {
      if (const auto* rank = std::get_if<model::RankRecord>(&record)) {
        jobs[rank->job].name = rank->job;
        ++jobs[rank->job].ranks;
      }
    }
    std::vector<model::JobSummary> summaries;
    for (const auto& [name, job] : jobs) summaries.push_back(job);
    return summaries;
  }

  // The verdict is returned by the first Advance() that reaches `at`.
  void Plan(model::TimeNs at, const model::Verdict& verdict) {
    const MutexLock lock(&mutex_);
    planned_.emplace_back(at, verdict);
  }
  std::vector<model::Record> records() const {
    const MutexLock lock(&mutex_);
    return records_;
  }
  std::vector<std::string> said() const {
    const MutexLock lock(&mutex_);
    return said_;
  }
  std::vector<model::Verdict> restored() const {
    const MutexLock lock(&mutex_);
    return restored_;
  }
  model::TimeNs watermark() const {
    const MutexLock lock(&mutex_);
    return watermark_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<model::Record> records_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> said_ ABSL_GUARDED_BY(mutex_);  // as trace lines, in order
  std::vector<std::pair<model::TimeNs, model::Verdict>> planned_ ABSL_GUARDED_BY(mutex_);
  std::vector<model::Verdict> restored_ ABSL_GUARDED_BY(mutex_);
  model::TimeNs watermark_ ABSL_GUARDED_BY(mutex_) = 0;
};

inline model::Verdict SomeVerdict(const std::string& id, model::TimeNs detected,
                                  model::Severity severity = model::Severity::kFault) {
  model::Verdict verdict;
  verdict.id = id;
  verdict.job = "j1";
  verdict.verdict_class = model::verdict_class::kProcessFailure;
  verdict.severity = severity;
  verdict.component.kind = model::component_kind::kRank;
  verdict.component.rank = 3;
  verdict.onset = detected - 1;
  verdict.detected = detected;
  verdict.summary = "rank 3 is gone";
  return verdict;
}

}  // namespace c4::api
