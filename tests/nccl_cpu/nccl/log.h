// NCCL's log: `host:pid:tid [dev] NCCL INFO …` under NCCL_DEBUG=INFO (WARN lines from WARN on), to
// stdout or NCCL_DEBUG_FILE (%h host, %p pid). The last warning is what ncclGetLastError returns.
// Thread: any.
#pragma once

namespace c4::nccl_cpu {

void LogInfo(int device, const char* format, ...) __attribute__((format(printf, 2, 3)));
void LogWarn(const char* format, ...) __attribute__((format(printf, 1, 2)));
const char* LastWarning();  // valid until the calling thread's next call

}  // namespace c4::nccl_cpu
