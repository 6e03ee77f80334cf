// A batch from a stranger: never crashes, and every record that is let through keeps the promises
// of analyzer/model/trace.h.
#include <cstddef>
#include <cstdint>
#include <limits>

#include "analyzer/ingest/batch_decoder.h"
#include "analyzer/ingest/communicator_assembler.h"
#include "analyzer/ingest/rank_owners.h"
#include "analyzer/ingest/trace_json.h"
#include "analyzer/ingest/validate.h"
#include "common/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace c4;
  v1::Batch batch;
  if (!batch.ParseFromArray(data, static_cast<int>(size))) return 0;
  constexpr model::TimeNs kTimeMax = 2'000'000'000 * model::kSecond;
  ingest::DecodedBatch decoded = ingest::DecodeBatch(std::move(batch), "n0", kTimeMax);
  C4_CHECK(decoded.complete_until >= 0 && decoded.complete_until <= kTimeMax);

  ingest::RankOwners owners(/*ranks_max=*/16);
  ingest::CommunicatorAssembler communicators({.communicators_max = 8, .members_max = 1 << 12});
  for (const ingest::RankNotice& notice : decoded.ranks) {
    owners.Claim(notice.rank, notice.started_at).IgnoreError();
    decoded.records.emplace_back(notice.rank);
  }
  for (const ingest::Membership& membership : decoded.memberships) {
    communicators.Add(membership).IgnoreError();
  }
  for (model::CommunicatorRecord& communicator : communicators.TakeChanged()) {
    decoded.records.emplace_back(std::move(communicator));
  }
  for (model::Record& record : decoded.records) {
    owners.Check(record, "n0").IgnoreError();
    const std::string line = ingest::FormatTraceLine(record);
    C4_CHECK(ingest::Normalize(record).ok());
    C4_CHECK(ingest::FormatTraceLine(record) == line, "normalized twice");
    C4_CHECK(ingest::ParseTraceLine(line).ok(), "a recording must be readable");
  }
  return 0;
}
