#include "nccl_hook/thread_state.h"

namespace c4::hook {

constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec"))) = {
    .call_depth = 0,
    .group_depth = 0,
    .group_number = 0,
    .thread_id = 0,
    .stream_count = 0,
    .untimed_slots = kNoSlot,
    .unique_id_sink = nullptr,
    .streams = {},
};

}  // namespace c4::hook
