// Implementation of options.h.
#include "tests/train/options.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace c4::train {
namespace {

constexpr char kHelp[] =
    R"(usage: c4-train [options]        with RANK, WORLD_SIZE and LOCAL_RANK in the environment

Trains nothing, the way a large model is trained: tensor x pipeline x data parallel, 1F1B, over the C
APIs of NCCL and the CUDA driver. Every sum is checked on every rank in every step. Rank 0 prints a
line per step. Rank = (pipeline * DP + data) * TP + tensor.

shape        --tp N --pp N --dp N   2 2 2; the product is the world size
             --layers N             per stage (2)     --microbatches N (4)
             --steps N              0: until killed (20)
work         --forward-ms X         per layer and microbatch; backward takes twice that (8)
             --optimizer-ms X (4)   --jitter-percent X (2)   --seed N (1)
             --tensor-kib N (64)    --pipeline-kib N (256)   --bucket-kib N (512, one per layer)
pauses       --checkpoint-every N   rank 0 pauses --checkpoint-ms N (300)
             --eval-every N         forwards only, without backward
rendezvous   --rendezvous DIR|HOST:PORT   how the unique id reaches the ranks: a fresh directory that
             all see, or an address on which rank 0 listens
faults       --fault slow-gpu|slow-host|hang-host|hang-gpu|dead-rank|mismatch|none
             --fault-rank N (0) --fault-step N (0) --fault-percent N (20) --fault-ms N (60)
             --mismatch-kind count|op
             --trigger FILE         looked at once a step; e.g. "fault=slow-gpu rank=5 step=30"
             --onset-file FILE      the faulty rank writes here when it began (ns since the epoch)
             --on-error wait|exit   on an asynchronous error of NCCL (wait)

exit status  0 done, 1 usage, 2 an API call failed, 3 a sum was wrong, 4 NCCL reported an error
)";

template <typename Number>
bool Parse(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number >= 0;
}

bool ApplyFault(std::string_view key, std::string_view value, Fault* fault) {
  return ApplyFaultWords(std::string(key) + "=" + std::string(value), fault);
}

bool ApplyShape(std::string_view name, std::string_view value, Options* o) {
  if (name == "--tp") return Parse(value, &o->tensor) && o->tensor > 0;
  if (name == "--pp") return Parse(value, &o->pipeline) && o->pipeline > 0;
  if (name == "--dp") return Parse(value, &o->data) && o->data > 0;
  if (name == "--layers") return Parse(value, &o->layers) && o->layers > 0;
  if (name == "--microbatches") return Parse(value, &o->microbatches) && o->microbatches > 0;
  if (name == "--steps") return Parse(value, &o->steps);
  if (name == "--forward-ms") return Parse(value, &o->forward_ms);
  if (name == "--optimizer-ms") return Parse(value, &o->optimizer_ms);
  if (name == "--jitter-percent") return Parse(value, &o->jitter_percent);
  if (name == "--tensor-kib") return Parse(value, &o->tensor_kib) && o->tensor_kib > 0;
  if (name == "--pipeline-kib") return Parse(value, &o->pipeline_kib) && o->pipeline_kib > 0;
  if (name == "--bucket-kib") return Parse(value, &o->bucket_kib) && o->bucket_kib > 0;
  if (name == "--seed") return Parse(value, &o->seed);
  return false;
}

bool ApplyRest(std::string_view name, std::string_view value, Options* o) {
  if (name == "--checkpoint-every") return Parse(value, &o->checkpoint_every);
  if (name == "--checkpoint-ms") return Parse(value, &o->checkpoint_ms);
  if (name == "--eval-every") return Parse(value, &o->evaluation_every);
  if (name == "--fault") return ApplyFault("fault", value, &o->fault);
  if (name == "--fault-rank") return ApplyFault("rank", value, &o->fault);
  if (name == "--fault-step") return ApplyFault("step", value, &o->fault);
  if (name == "--fault-percent") return ApplyFault("percent", value, &o->fault);
  if (name == "--fault-ms") return ApplyFault("ms", value, &o->fault);
  if (name == "--mismatch-kind") return ApplyFault("kind", value, &o->fault);
  if (name == "--on-error") {
    o->exit_on_error = value == "exit";
    return value == "exit" || value == "wait";
  }
  if (name == "--rendezvous") return o->rendezvous = value, true;
  if (name == "--trigger") return o->trigger_file = value, true;
  if (name == "--onset-file") return o->onset_file = value, true;
  return false;
}

bool FromEnvironment(const char* name, int* value) {
  const char* text = std::getenv(name);
  return text == nullptr || Parse(std::string_view(text), value);
}

bool Consistent(const Options& o) {
  if (o.tensor * o.pipeline * o.data != o.world_size) {
    std::fprintf(stderr, "c4-train: tp %d x pp %d x dp %d is not the world size, %d\n", o.tensor,
                 o.pipeline, o.data, o.world_size);
    return false;
  }
  if (o.rank >= o.world_size) {
    std::fprintf(stderr, "c4-train: rank %d of %d\n", o.rank, o.world_size);
    return false;
  }
  if (o.world_size > 1 && o.rendezvous.empty()) {
    std::fprintf(stderr, "c4-train: --rendezvous is needed with more than one rank\n");
    return false;
  }
  return true;
}

}  // namespace

ParseResult ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      std::fputs(kHelp, stdout);
      return ParseResult::kHelp;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr ||
        (!ApplyShape(name, value, options) && !ApplyRest(name, value, options))) {
      std::fprintf(stderr, "c4-train: cannot use \"%s\"%s%s; see --help\n", argv[i],
                   value == nullptr ? "" : " of ", value == nullptr ? "" : argv[i - 1]);
      return ParseResult::kUsageError;
    }
  }
  if (!FromEnvironment("RANK", &options->rank) ||
      !FromEnvironment("WORLD_SIZE", &options->world_size) ||
      !FromEnvironment("LOCAL_RANK", &options->local_rank)) {
    std::fprintf(stderr, "c4-train: RANK, WORLD_SIZE and LOCAL_RANK must be numbers\n");
    return ParseResult::kUsageError;
  }
  return Consistent(*options) ? ParseResult::kRun : ParseResult::kUsageError;
}

}  // namespace c4::train
