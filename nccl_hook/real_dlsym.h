// glibc's dlsym, past our own interposer of that name (dlsym_interposer.cc).
#pragma once

namespace c4::hook {

using DlsymFunction = void* (*)(void* handle, const char* name);

// Never null in a process with a dynamic loader.
DlsymFunction RealDlsym();

}  // namespace c4::hook
