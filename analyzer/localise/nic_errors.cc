#include "analyzer/localise/nic_errors.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace c4::localise {
namespace {

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

const std::map<std::string, CounterMeaning>& Meanings() {
  static const auto* const kMeanings = new std::map<std::string, CounterMeaning>{
      // A queue pair that has died: the hop is broken, as seen from here.
      {"req_transport_retries_exceeded", {CounterRole::kSender, 30}},
      {"rnr_nak_retry_err", {CounterRole::kSender, 20}},
      {"req_rnr_retries_exceeded", {CounterRole::kSender, 20}},
      {"local_ack_timeout_err", {CounterRole::kSender, 5}},
      {"packet_seq_err", {CounterRole::kSender, 5}},
      {"implied_nak_seq_err", {CounterRole::kSender, 3}},
      {"roce_adp_retrans", {CounterRole::kSender, 3}},
      {"roce_adp_retrans_to", {CounterRole::kSender, 5}},
      {"roce_slow_restart", {CounterRole::kSender, 5}},
      {"port_xmit_discards", {CounterRole::kSender, 3}},
      {"out_of_sequence", {CounterRole::kReceiver, 5}},
      {"port_rcv_errors", {CounterRole::kReceiver, 5}},
      {"port_rcv_remote_physical_errors", {CounterRole::kReceiver, 3}},
      {"duplicate_request", {CounterRole::kReceiver, 2}},
      {"out_of_buffer", {CounterRole::kReceiver, 2}},
      {"link_downed", {CounterRole::kPort, 20}},
      {"link_error_recovery", {CounterRole::kPort, 10}},
      {"local_link_integrity_errors", {CounterRole::kPort, 10}},
      {"symbol_error", {CounterRole::kPort, 8}},
      {"excessive_buffer_overrun_errors", {CounterRole::kPort, 5}},
      {"req_cqe_flush_error", {CounterRole::kFlush, 0}},
      {"resp_cqe_flush_error", {CounterRole::kFlush, 0}},
      {"req_cqe_error", {CounterRole::kFlush, 0}},
      {"resp_cqe_error", {CounterRole::kFlush, 0}},
      {"port_xmit_wait", {CounterRole::kTraffic, 0}},
      {"np_cnp_sent", {CounterRole::kTraffic, 0}},
      {"np_ecn_marked_roce_packets", {CounterRole::kTraffic, 0}},
      {"rp_cnp_handled", {CounterRole::kTraffic, 0}},
  };
  return *kMeanings;
}

}  // namespace

CounterMeaning MeaningOfCounter(const std::string& counter) {
  const auto found = Meanings().find(counter);
  return found == Meanings().end() ? CounterMeaning{} : found->second;
}

std::vector<std::string> KnownCounters() {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : Meanings()) {
    names.push_back(name);
  }
  return names;
}

bool IsTransportFailure(const std::string& text) {
  // NCCL: status 5 and vendor error 249 are flushed work requests, the end of a queue pair that
  // died at status 12, vendor error 129.
  if (Contains(text, "status=5 ") || Contains(text, "vendor err 249") || Contains(text, "flush")) {
    return false;
  }
  return Contains(text, "Got completion") || Contains(text, "vendor err") ||
         Contains(text, "etry counter exceeded") || Contains(text, "etries exceeded") ||
         Contains(text, "transport retry") || Contains(text, "Connection timed out") ||
         Contains(text, "No route to host");
}

std::size_t FindWord(const std::string& text, const std::string& word) {
  if (word.empty()) {
    return std::string::npos;
  }
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !IsWordCharacter(text[at - 1])) &&
        (end == text.size() || !IsWordCharacter(text[end]))) {
      return end;
    }
  }
  return std::string::npos;
}

}  // namespace c4::localise
