// c4ctl record: what a running analyzer is given, as a trace.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/text.h"
#include "analyzer/ingest/byte_sink.h"
#include "analyzer/ingest/trace_json.h"
#include "common/status_macros.h"
#include "common/string_view.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

class Recording {
 public:
  Recording(const RecordOptions& options, const Output& output)
      : options_(options), output_(output) {}

  // False: it cannot be written, see status().
  bool Take(const v1::RecordTraceResponse& message) {
    status_ = Write(message);
    return status_.ok();
  }

  // Makes the end of the file one that can be judged: what came after the last watermark was not
  // judged by the analyzer either. `cut`: why it ends before the user wanted.
  void Finish(const absl::Status& cut) {
    if (sink_ == nullptr || !status_.ok()) return;
    std::string end;
    if (!cut.ok())
      end = ingest::FormatNoteLine("recording ends: " + Printable(ToStd(cut.message()))) + '\n';
    if (!complete_) end += ingest::FormatTraceLine(ingest::Watermark{last_}) + '\n';
    status_ = sink_->Write(end);
    if (status_.ok()) status_ = sink_->Finish();
  }

  bool begun() const { return sink_ != nullptr; }
  const absl::Status& status() const { return status_; }

  std::string Summary() const {
    const std::string what = fmt::format("{} record{}", records_, records_ == 1 ? "" : "s");
    const std::string where =
        options_.file == "-" ? "" : fmt::format(", in {}", Printable(options_.file));
    if (last_ == 0) return fmt::format("{}, no watermark yet: nothing to judge{}", what, where);
    return fmt::format("{}, {} to {} UTC{}", what, Timestamp(first_), Timestamp(last_), where);
  }

 private:
  // The file appears with the first message: a server that cannot be reached leaves no empty one.
  absl::Status Open() {
    if (options_.file == "-") {
      sink_ = std::make_unique<ingest::StreamSink>("standard output", output_.out);
      return absl::OkStatus();
    }
    auto created = ingest::CreateTrace(options_.file, options_.overwrite);
    if (absl::IsAlreadyExists(created.status())) {
      return absl::AlreadyExistsError(fmt::format("{}; choose another name or pass --overwrite",
                                                  ToStd(created.status().message())));
    }
    C4_RETURN_IF_ERROR(created.status());
    sink_ = *std::move(created);
    if (output_.progress) {
      *output_.err << fmt::format("Recording to {}, Ctrl-C ends it.\n", Printable(options_.file));
      output_.err->flush();
    }
    return absl::OkStatus();
  }

  absl::Status Write(const v1::RecordTraceResponse& message) {
    if (sink_ == nullptr) C4_RETURN_IF_ERROR(Open());
    C4_RETURN_IF_ERROR(sink_->Write(message.lines()));
    records_ += message.records();
    complete_ = message.ends_with_watermark();
    if (message.watermark() != 0) {
      last_ = message.watermark();
      if (first_ == 0) first_ = last_;
    }
    // A recording that is killed is worth what it had at its last watermark.
    return complete_ ? sink_->Flush() : absl::OkStatus();
  }

  const RecordOptions& options_;
  const Output& output_;
  std::unique_ptr<ingest::ByteSink> sink_;
  absl::Status status_;
  std::uint64_t records_ = 0;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  bool complete_ = false;
};

}  // namespace

int RunRecord(Client& client, const RecordOptions& options, const Output& output) {
  Recording recording(options, output);
  const absl::Status ended = client.Record(
      options.job, options.stop_fd, options.duration,
      [&](const v1::RecordTraceResponse& message) { return recording.Take(message); });
  recording.Finish(ended);
  if (recording.begun() || ended.ok()) *output.err << recording.Summary() << '\n';
  if (!recording.status().ok()) return Fail(recording.status(), output);
  return ended.ok() ? kExitOk : Fail(ended, output);
}

}  // namespace c4::cli
