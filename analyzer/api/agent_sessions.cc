#include "analyzer/api/agent_sessions.h"

#include <algorithm>

#include "analyzer/ingest/limits.h"
#include "spdlog/spdlog.h"

namespace c4::api {

void AgentSessions::Hello(const Intake& intake, const AgentHello& hello,
                          const std::string& analyzer_instance) {
  auto found = sessions_.find(intake.node);
  if (found == sessions_.end()) {
    if (sessions_.size() >= ingest::limits::kNodesMax) {
      // Nodes come and go under new names in clouds: who is not here makes room.
      std::erase_if(sessions_, [](const auto& entry) { return entry.second.link == nullptr; });
    }
    if (sessions_.size() >= ingest::limits::kNodesMax) {
      intake.link->Close(absl::ResourceExhaustedError("too many nodes"));
      return;
    }
    found = sessions_.emplace(intake.node, Session{}).first;
  }
  Session& session = found->second;
  if (session.link != nullptr && session.link != intake.link) {
    spdlog::warn("node {}: a new stream of agent {} replaces that of agent {}", intake.node,
                 hello.agent_instance, session.agent_instance);
    session.link->Close(absl::AbortedError("another agent of this node has connected"));
  }
  session.link = intake.link;
  if (session.agent_instance != hello.agent_instance) {
    session.agent_instance = hello.agent_instance;
    session.next_sequence = 0;
  }
  session.agent_version = hello.agent_version;
  spdlog::info("node {}: agent {} connected (version {})", intake.node, hello.agent_instance,
               hello.agent_version);
  session.link->Welcome(analyzer_instance, std::max<std::uint64_t>(session.next_sequence, 1));
}

AgentSessions::Session* AgentSessions::Current(const Intake& intake) {
  const auto found = sessions_.find(intake.node);
  if (found == sessions_.end() || found->second.link != intake.link) return nullptr;
  return &found->second;
}

AgentSessions::Decision AgentSessions::Batch(const Intake& intake, std::uint64_t sequence) {
  Session* session = Current(intake);
  if (session == nullptr) return Decision::kForeign;
  // A jump forward is the agent's: its spool dropped batches, and it reports how much as a Loss; or
  // it goes on counting with an analyzer that has been restarted.
  if (sequence >= session->next_sequence && sequence != 0) return Decision::kApply;
  if (sequence == 0) {
    intake.link->Close(absl::InvalidArgumentError("batches are numbered from 1"));
    return Decision::kForeign;
  }
  intake.link->Acknowledge(session->next_sequence - 1);
  return Decision::kDuplicate;
}

void AgentSessions::Applied(const Intake& intake, const ingest::DecodedBatch& batch,
                            std::uint64_t rejected) {
  Session* session = Current(intake);
  if (session == nullptr) return;
  session->next_sequence = batch.sequence + 1;
  session->complete_until = std::max(session->complete_until, batch.complete_until);
  ++session->batches;
  session->records += batch.ranks.size() + batch.memberships.size() + batch.records.size();
  session->rejected += rejected;
  session->link->Acknowledge(batch.sequence);
}

void AgentSessions::Gone(const Intake& intake) {
  Session* session = Current(intake);
  if (session == nullptr) return;
  spdlog::info("node {}: agent {} disconnected", intake.node, session->agent_instance);
  session->link = nullptr;
}

void AgentSessions::CloseAll(const absl::Status& why) {
  for (auto& [node, session] : sessions_) {
    if (session.link != nullptr) session.link->Close(why);
  }
}

void AgentSessions::Fill(v1::GetStatusResponse& status) const {
  for (const auto& [node, session] : sessions_) {
    v1::AgentStatus& agent = *status.add_agents();
    agent.set_node(node);
    agent.set_connected(session.link != nullptr);
    agent.set_complete_until(session.complete_until);
    agent.set_batches(session.batches);
    agent.set_records(session.records);
    agent.set_rejected_records(session.rejected);
    agent.set_version(session.agent_version);
  }
}

}  // namespace c4::api
