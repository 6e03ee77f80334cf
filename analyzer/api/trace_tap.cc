#include "analyzer/api/trace_tap.h"

#include <algorithm>
#include <utility>

#include "analyzer/ingest/trace_json.h"
#include "fmt/format.h"

namespace c4::api {
namespace {

// A message per record would cost more than the record. Watermarks, several a second, end a chunk
// as well, so that nothing waits for long.
constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

// Records about nodes belong to every job that runs there.
bool Concerns(const model::Record& record, const std::string& job) {
  if (job.empty()) return true;
  return std::visit(
      [&](const auto& fact) {
        if constexpr (requires { fact.job; }) {
          return fact.job.empty() || fact.job == job;
        } else {
          return true;
        }
      },
      record);
}

}  // namespace

absl::Status TraceTap::Add(const std::string& job, TraceListener* listener) {
  const MutexLock lock(&mutex_);
  if (!closed_.ok()) return closed_;
  if (clients_.size() >= kRecordingsMax) {
    return absl::ResourceExhaustedError(
        fmt::format("{} recordings are running, at most {}", clients_.size(), kRecordingsMax));
  }
  clients_.push_back({.job = job, .listener = listener, .admitted = false, .chunk = {}});
  NoteActive();
  return absl::OkStatus();
}

void TraceTap::Remove(TraceListener* listener) {
  const MutexLock lock(&mutex_);
  std::erase_if(clients_, [&](const Client& client) { return client.listener == listener; });
  NoteActive();
}

template <typename WriteTo>
void TraceTap::ForEach(const WriteTo& write) {
  const std::size_t erased =
      std::erase_if(clients_, [&](Client& client) { return client.admitted && !write(client); });
  if (erased > 0) NoteActive();
}

bool TraceTap::HandOver(Client& client) {
  return client.listener->OnChunk(std::exchange(client.chunk, TraceChunk{}));
}

// `line` is formatted by the first client that wants it.
bool TraceTap::Append(Client& client, const model::Record& record, std::string& line) {
  if (!Concerns(record, client.job)) return true;
  if (line.empty()) line = ingest::FormatTraceLine(record) + '\n';
  client.chunk.lines += line;
  ++client.chunk.records;
  client.chunk.ends_with_watermark = false;
  return client.chunk.lines.size() < kChunkBytes || HandOver(client);
}

bool TraceTap::AppendWatermark(Client& client, model::TimeNs watermark) {
  client.chunk.lines += ingest::FormatTraceLine(ingest::Watermark{watermark}) + '\n';
  client.chunk.watermark = watermark;
  client.chunk.ends_with_watermark = true;
  return HandOver(client);
}

bool TraceTap::Introduce(Client& client, const std::function<void(const Give&)>& visit,
                         model::TimeNs watermark) {
  client.admitted = true;
  client.chunk.lines = ingest::FormatTraceLine(ingest::TraceVersion{ingest::kTraceVersion}) + '\n';
  bool room = true;
  visit([&](const model::Record& record) {
    std::string line;
    client.chunk.known = true;
    room = room && Append(client, record, line);
  });
  client.chunk.known = true;
  return room && AppendWatermark(client, watermark);
}

void TraceTap::Admit(const std::function<void(const Give&)>& visit, model::TimeNs watermark) {
  const MutexLock lock(&mutex_);
  const std::size_t erased = std::erase_if(clients_, [&](Client& client) {
    return !client.admitted && !Introduce(client, visit, watermark);
  });
  if (erased > 0) NoteActive();
}

void TraceTap::Write(const model::Record& record) {
  const MutexLock lock(&mutex_);
  std::string line;
  ForEach([&](Client& client) { return Append(client, record, line); });
}

void TraceTap::WriteWatermark(model::TimeNs watermark) {
  const MutexLock lock(&mutex_);
  ForEach([&](Client& client) { return AppendWatermark(client, watermark); });
}

void TraceTap::Close(const absl::Status& why) {
  const MutexLock lock(&mutex_);
  closed_ = why;
  for (Client& client : clients_) {
    if (client.chunk.lines.empty() || HandOver(client)) client.listener->OnEnd(why);
  }
  clients_.clear();
  NoteActive();
}

}  // namespace c4::api
