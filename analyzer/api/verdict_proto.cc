#include "analyzer/api/verdict_proto.h"

#include <string_view>

namespace c4::api {
namespace {

const char* Word(model::Severity severity) {
  switch (severity) {
    case model::Severity::kInfo:
      return "info";
    case model::Severity::kFault:
      return "fault";
  }
  return "";
}

const char* Word(model::Status status) {
  switch (status) {
    case model::Status::kSuspected:
      return "suspected";
    case model::Status::kConfirmed:
      return "confirmed";
    case model::Status::kResolved:
      return "resolved";
  }
  return "";
}

model::Status StatusOf(std::string_view word) {
  if (word == "confirmed") return model::Status::kConfirmed;
  return word == "resolved" ? model::Status::kResolved : model::Status::kSuspected;
}

void Fill(const model::Component& from, v1::Component& to) {
  to.set_kind(from.kind);
  to.set_node(from.node);
  if (from.rank) to.set_rank(*from.rank);
  if (from.gpu) to.set_gpu(*from.gpu);
  to.set_pci(from.pci);
  to.set_nic(from.nic);
  if (from.peer_rank) to.set_peer_rank(*from.peer_rank);
  to.set_peer_node(from.peer_node);
  to.set_peer_nic(from.peer_nic);
  to.set_communicator(from.communicator);
}

model::Component FromProto(const v1::Component& from) {
  model::Component to;
  to.kind = from.kind();
  to.node = from.node();
  if (from.has_rank()) to.rank = from.rank();
  if (from.has_gpu()) to.gpu = from.gpu();
  to.pci = from.pci();
  to.nic = from.nic();
  if (from.has_peer_rank()) to.peer_rank = from.peer_rank();
  to.peer_node = from.peer_node();
  to.peer_nic = from.peer_nic();
  to.communicator = from.communicator();
  return to;
}

}  // namespace

v1::Verdict ToProto(const model::Verdict& verdict) {
  v1::Verdict proto;
  proto.set_id(verdict.id);
  proto.set_job(verdict.job);
  proto.set_incarnation(verdict.incarnation);
  proto.set_class_(verdict.verdict_class);
  proto.set_severity(Word(verdict.severity));
  proto.set_status(Word(verdict.status));
  Fill(verdict.component, *proto.mutable_component());
  for (const model::Suspect& suspect : verdict.suspects) {
    v1::Suspect& to = *proto.add_suspects();
    Fill(suspect.component, *to.mutable_component());
    to.set_score(suspect.score);
  }
  proto.set_confidence(verdict.confidence);
  proto.set_onset(verdict.onset);
  proto.set_detected(verdict.detected);
  proto.set_confirmed(verdict.confirmed);
  proto.set_acted(verdict.acted);
  proto.set_resolved(verdict.resolved);
  proto.set_action(verdict.action);
  proto.set_summary(verdict.summary);
  for (const model::Evidence& evidence : verdict.evidence) {
    v1::Evidence& to = *proto.add_evidence();
    to.set_source(evidence.source);
    to.set_time(evidence.time);
    to.set_text(evidence.text);
    to.set_value(evidence.value);
    to.set_unit(evidence.unit);
  }
  proto.mutable_weakened_by()->Assign(verdict.weakened_by.begin(), verdict.weakened_by.end());
  proto.mutable_victims()->Assign(verdict.victims.begin(), verdict.victims.end());
  return proto;
}

model::Verdict FromProto(const v1::Verdict& proto) {
  model::Verdict verdict;
  verdict.id = proto.id();
  verdict.job = proto.job();
  verdict.incarnation = proto.incarnation();
  verdict.verdict_class = proto.class_();
  verdict.severity = proto.severity() == "info" ? model::Severity::kInfo : model::Severity::kFault;
  verdict.status = StatusOf(proto.status());
  verdict.component = FromProto(proto.component());
  for (const v1::Suspect& suspect : proto.suspects()) {
    verdict.suspects.push_back({FromProto(suspect.component()), suspect.score()});
  }
  verdict.confidence = proto.confidence();
  verdict.onset = proto.onset();
  verdict.detected = proto.detected();
  verdict.confirmed = proto.confirmed();
  verdict.acted = proto.acted();
  verdict.resolved = proto.resolved();
  verdict.action = proto.action();
  verdict.summary = proto.summary();
  for (const v1::Evidence& evidence : proto.evidence()) {
    verdict.evidence.push_back(
        {evidence.source(), evidence.time(), evidence.text(), evidence.value(), evidence.unit()});
  }
  verdict.weakened_by.assign(proto.weakened_by().begin(), proto.weakened_by().end());
  verdict.victims.assign(proto.victims().begin(), proto.victims().end());
  return verdict;
}

v1::Job ToProto(const model::JobSummary& job) {
  v1::Job proto;
  proto.set_name(job.name);
  proto.set_incarnation(job.incarnation);
  proto.set_state(job.state);
  proto.set_ranks(job.ranks);
  proto.set_world_size(job.world_size);
  proto.set_nodes(job.nodes);
  proto.set_communicators(job.communicators);
  proto.set_collectives(job.collectives);
  proto.set_lost(job.lost);
  proto.set_step_seconds(static_cast<double>(job.step) / 1e9);
  proto.set_steps(job.steps);
  proto.set_first_seen(job.first_seen);
  proto.set_last_progress(job.last_progress);
  proto.set_verdicts_open(job.verdicts_open);
  return proto;
}

}  // namespace c4::api
