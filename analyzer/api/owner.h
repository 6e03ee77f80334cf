// The one place where things are decided: takes what the streams hand over, gives facts and
// watermarks to the engine (and to recordings, in the same order), stores verdicts and then
// shows them.
//
// Not a thread: OwnerThread calls it, and tests call it directly. One caller at a time. Time comes
// from the injected clock only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "analyzer/api/agent_sessions.h"
#include "analyzer/api/board.h"
#include "analyzer/api/engine_port.h"
#include "analyzer/api/intake_queue.h"
#include "analyzer/api/known_facts.h"
#include "analyzer/api/trace_tap.h"
#include "analyzer/ingest/communicator_assembler.h"
#include "analyzer/ingest/rank_owners.h"
#include "analyzer/ingest/trace_recorder.h"
#include "analyzer/ingest/watermark_tracker.h"
#include "analyzer/store/verdict_store.h"
#include "common/clock.h"

namespace c4::api {

class Owner {
 public:
  struct Options {
    std::string analyzer_instance;  // random per process
    ingest::WatermarkTracker::Options watermark;
  };
  struct Dependencies {  // all outlive the owner; recorder and tap may be null
    const Clock* clock = nullptr;
    EnginePort* engine = nullptr;
    store::VerdictStore* store = nullptr;
    Board* board = nullptr;
    ingest::TraceRecorder* recorder = nullptr;
    TraceTap* tap = nullptr;
  };

  Owner(Options options, Dependencies dependencies);

  // Loads what the store has: shows the recent verdicts, gives the open ones to the engine. Once,
  // before anything else.
  absl::Status Restore();

  void Take(const Intake& intake);

  // Moves time on. Called after each round of Take(), and every 100 ms.
  void Tick();

  // Of the agents, and of those who record.
  void CloseStreams(const absl::Status& why);

 private:
  void TakeBatch(const Intake& intake, const ingest::DecodedBatch& batch);
  void ApplyRank(const ingest::RankNotice& notice, ingest::RejectCounts& rejected);
  void ApplyMembership(const ingest::Membership& membership, const std::string& node,
                       ingest::RejectCounts& rejected);
  void Give(const model::Record& record);
  void LetRecordingsIn();
  void KeepVerdicts(const std::vector<model::Verdict>& verdicts);
  void ShowState();
  void LogRejections(const std::string& node, const ingest::RejectCounts& rejected);

  const Options options_;
  const Dependencies deps_;
  AgentSessions sessions_;
  ingest::RankOwners rank_owners_;
  ingest::CommunicatorAssembler communicators_;
  ingest::WatermarkTracker tracker_;
  KnownFacts known_;                              // for recordings that begin later
  std::map<std::string, model::JobRecord> jobs_;  // as last given to the engine
  model::TimeNs watermark_ = 0;
  std::map<std::string, v1::Verdict> unstored_;  // by id; waiting for the store
  std::int64_t next_store_attempt_ = 0;
  std::int64_t next_show_ = 0;
  std::map<std::string, std::int64_t> next_rejection_log_;  // by node
};

}  // namespace c4::api
