#include "analyzer/api/owner.h"

#include <utility>

#include "analyzer/api/verdict_proto.h"
#include "analyzer/ingest/limits.h"
#include "common/status_macros.h"
#include "common/string_view.h"
#include "common/version.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "spdlog/spdlog.h"

namespace c4::api {
namespace {

// Jobs and status are for people: twice a second is plenty, and costs nothing with many agents.
constexpr std::int64_t kShowPeriodNs = 500'000'000;
// A disk that is full stays full for a while.
constexpr std::int64_t kStoreRetryNs = 1'000'000'000;
// One line per node and period about refused records, however many there are.
constexpr std::int64_t kRejectionLogPeriodNs = 10'000'000'000;
// Jobs whose restarts and NCCL version are remembered; forgetting one means telling the engine
// again.
constexpr std::size_t kJobsMax = 4096;

constexpr int kNcclInProgress = 7;  // ncclInProgress: not an error

void LogVerdict(const v1::Verdict& verdict) {
  const auto level = verdict.severity() == "fault" && verdict.status() != "resolved"
                         ? spdlog::level::warn
                         : spdlog::level::info;
  spdlog::log(level, "verdict {} {} {} job={} class={} kind={} node={} action={}: {}", verdict.id(),
              verdict.status(), verdict.severity(), verdict.job(), verdict.class_(),
              verdict.component().kind(), verdict.component().node(), verdict.action(),
              verdict.summary());
}

}  // namespace

Owner::Owner(Options options, Dependencies dependencies)
    : options_(std::move(options)), deps_(dependencies), tracker_(options_.watermark) {}

absl::Status Owner::Restore() {
  C4_ASSIGN_OR_RETURN(const auto recent,
                      deps_.store->LoadRecent(static_cast<int>(Board::kVerdictsMax)));
  C4_ASSIGN_OR_RETURN(const auto open, deps_.store->LoadOpen());
  deps_.board->Publish(recent);
  deps_.board->Publish(open);
  std::vector<model::Verdict> restored;
  restored.reserve(open.size());
  for (const v1::Verdict& verdict : open) restored.push_back(FromProto(verdict));
  deps_.engine->Restore(restored);
  if (!open.empty()) spdlog::info("{} open verdicts of an earlier run", open.size());
  ShowState();
  return absl::OkStatus();
}

void Owner::Take(const Intake& intake) {
  if (const auto* hello = std::get_if<AgentHello>(&intake.message)) {
    sessions_.Hello(intake, *hello, options_.analyzer_instance);
    tracker_.Heard(intake.node, /*complete_until=*/0, intake.received);
  } else if (const auto* batch = std::get_if<ingest::DecodedBatch>(&intake.message)) {
    TakeBatch(intake, *batch);
  } else {
    sessions_.Gone(intake);
  }
}

void Owner::TakeBatch(const Intake& intake, const ingest::DecodedBatch& batch) {
  const AgentSessions::Decision decision = sessions_.Batch(intake, batch.sequence);
  if (decision == AgentSessions::Decision::kForeign) return;
  if (decision == AgentSessions::Decision::kDuplicate) {
    tracker_.Heard(intake.node, 0, intake.received);
    return;
  }
  ingest::RejectCounts rejected = batch.rejected;
  for (const ingest::RankNotice& notice : batch.ranks) ApplyRank(notice, rejected);
  for (const ingest::Membership& membership : batch.memberships) {
    ApplyMembership(membership, intake.node, rejected);
  }
  for (const model::CommunicatorRecord& changed : communicators_.TakeChanged()) Give(changed);
  for (const model::Record& record : batch.records) {
    if (const absl::Status status = rank_owners_.Check(record, intake.node); !status.ok()) {
      rejected.Add(status);
    } else {
      Give(record);
    }
  }
  tracker_.Heard(intake.node, batch.complete_until, intake.received);
  sessions_.Applied(intake, batch, rejected.total());
  if (rejected.total() > 0) LogRejections(intake.node, rejected);
}

void Owner::ApplyRank(const ingest::RankNotice& notice, ingest::RejectCounts& rejected) {
  const model::RankRecord& rank = notice.rank;
  if (const absl::Status status = rank_owners_.Claim(rank, notice.started_at); !status.ok()) {
    rejected.Add(status);
    return;
  }
  if (jobs_.size() >= kJobsMax && !jobs_.contains(rank.job)) jobs_.clear();
  const auto [known, is_new] = jobs_.try_emplace(rank.job);
  model::JobRecord& job = known->second;
  const bool restarted = rank.incarnation > job.restarts;
  const bool version = !notice.nccl_version.empty() && job.nccl_version != notice.nccl_version;
  if (is_new || restarted || version) {
    job.job = rank.job;
    job.restarts = std::max(job.restarts, rank.incarnation);
    if (version) job.nccl_version = notice.nccl_version;
    Give(job);
  }
  Give(rank);
}

void Owner::ApplyMembership(const ingest::Membership& membership, const std::string& node,
                            ingest::RejectCounts& rejected) {
  absl::Status status = rank_owners_.Check(membership.job, membership.rank, node);
  if (status.ok()) status = communicators_.Add(membership);
  if (!status.ok()) {
    rejected.Add(status);
    return;
  }
  if (membership.async_error != 0 && membership.async_error != kNcclInProgress) {
    Give(model::ErrorRecord{membership.job, membership.rank, membership.time,
                            fmt::format("NCCL reports asynchronous error {} on communicator {}",
                                        membership.async_error, membership.id)});
  }
}

void Owner::Give(const model::Record& record) {
  known_.Note(record);
  if (deps_.recorder != nullptr) deps_.recorder->Write(record);
  if (deps_.tap != nullptr && deps_.tap->active()) deps_.tap->Write(record);
  deps_.engine->Apply(record);
}

void Owner::LetRecordingsIn() {
  deps_.tap->Admit(
      [this](const TraceTap::Give& give) {
        known_.Visit(give);
        communicators_.Visit(give);
      },
      watermark_);
}

void Owner::CloseStreams(const absl::Status& why) {
  sessions_.CloseAll(why);
  if (deps_.tap != nullptr) deps_.tap->Close(why);
}

void Owner::Tick() {
  if (deps_.tap != nullptr && deps_.tap->active()) LetRecordingsIn();
  const std::int64_t now = deps_.clock->MonotonicNs();
  const ingest::WatermarkTracker::Change change = tracker_.Update(now, deps_.clock->RealtimeNs());
  for (const model::AgentRecord& agent : change.agents) {
    spdlog::log(agent.silent ? spdlog::level::warn : spdlog::level::info, "node {}: agent {}",
                agent.node, agent.silent ? "is silent" : "is back");
    Give(agent);
  }
  if (change.watermark > watermark_) {
    watermark_ = change.watermark;
    if (deps_.recorder != nullptr) {
      const bool was_whole = deps_.recorder->status().ok();
      deps_.recorder->WriteWatermark(watermark_);
      if (was_whole && !deps_.recorder->status().ok()) {
        spdlog::error("recording stops: {}", ToStd(deps_.recorder->status().message()));
      }
    }
    if (deps_.tap != nullptr && deps_.tap->active()) deps_.tap->WriteWatermark(watermark_);
    KeepVerdicts(deps_.engine->Advance(watermark_));
  } else if (!unstored_.empty()) {
    KeepVerdicts({});
  }
  if (now >= next_show_) ShowState();
}

void Owner::KeepVerdicts(const std::vector<model::Verdict>& verdicts) {
  for (const model::Verdict& verdict : verdicts) unstored_[verdict.id] = ToProto(verdict);
  const std::int64_t now = deps_.clock->MonotonicNs();
  if (unstored_.empty() || now < next_store_attempt_) return;
  std::vector<v1::Verdict> batch;
  batch.reserve(unstored_.size());
  for (const auto& [id, verdict] : unstored_) batch.push_back(verdict);
  // First on the disk, then before anybody's eyes: who acts on a verdict must find it again.
  if (const absl::Status status = deps_.store->Put(batch); !status.ok()) {
    next_store_attempt_ = now + kStoreRetryNs;
    spdlog::error("{} verdicts cannot be stored and are not shown until they are: {}", batch.size(),
                  ToStd(status.message()));
    return;
  }
  unstored_.clear();
  for (const v1::Verdict& verdict : batch) LogVerdict(verdict);
  deps_.board->Publish(batch);
  next_show_ = 0;  // the open verdicts of a job have changed
}

void Owner::ShowState() {
  next_show_ = deps_.clock->MonotonicNs() + kShowPeriodNs;
  std::vector<v1::Job> jobs;
  for (const model::JobSummary& job : deps_.engine->Jobs()) jobs.push_back(ToProto(job));
  deps_.board->SetJobs(std::move(jobs));
  v1::GetStatusResponse status;
  status.set_version(kVersion);
  status.set_analyzer_instance(options_.analyzer_instance);
  status.set_watermark(watermark_);
  sessions_.Fill(status);
  deps_.board->SetStatus(std::move(status));
}

void Owner::LogRejections(const std::string& node, const ingest::RejectCounts& rejected) {
  const std::int64_t now = deps_.clock->MonotonicNs();
  if (next_rejection_log_.size() > ingest::limits::kNodesMax) next_rejection_log_.clear();
  std::int64_t& next = next_rejection_log_[node];
  if (now < next) return;
  next = now + kRejectionLogPeriodNs;
  spdlog::warn("node {}: {} records refused {}, first: {}", node, rejected.total(),
               rejected.by_cause(), rejected.first());
}

}  // namespace c4::api
