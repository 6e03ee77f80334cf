#include "nccl_hook/real_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "nccl_hook/glibc_compat.h"
#include "nccl_hook/real_dlsym.h"
#include "nccl_hook/wrap/wrappers.h"

namespace c4::hook {

constinit std::atomic<void*> g_real_functions[kFunctionCount] = {};
constinit std::atomic<std::uintptr_t> g_nccl_text_begin{0};
constinit std::atomic<std::uintptr_t> g_nccl_text_bytes{0};

namespace {

constexpr char kLibrary[] = "libnccl.so.2";
constexpr char kLibraryPrefix[] = "libnccl";

constexpr const char* kNames[kFunctionCount] = {
#define C4_HOOK_NAME(name, ...) "nccl" #name,
    C4_HOOK_FUNCTIONS(C4_HOOK_NAME) C4_HOOK_CALLED_FUNCTIONS(C4_HOOK_NAME)
#undef C4_HOOK_NAME
};

const WrappedFunction kWrapped[] = {
#define C4_HOOK_WRAPPED(name, ...) \
  {"nccl" #name, reinterpret_cast<void*>(&nccl##name), Function::k##name},
    C4_HOOK_FUNCTIONS(C4_HOOK_WRAPPED)
#undef C4_HOOK_WRAPPED
};

constinit std::atomic<bool> g_is_library_known{false};

bool IsOurs(Function function, const void* address) {
  const int index = static_cast<int>(function);
  return index < kWrappedFunctionCount && kWrapped[index].wrapper == address;
}

void* LookUp(void* handle, Function function) {
  if (handle == nullptr) {
    return nullptr;
  }
  void* address = RealDlsym()(handle, kNames[static_cast<int>(function)]);
  return IsOurs(function, address) ? nullptr : address;
}

struct TextSearch {
  std::uintptr_t address;
  std::uintptr_t begin;
  std::uintptr_t bytes;
};

int FindText(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto* search = static_cast<TextSearch*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
        search->address - begin < segment.p_memsz) {
      search->begin = begin;
      search->bytes = segment.p_memsz;
      return 1;
    }
  }
  return 0;
}

const char* BaseName(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// `library` is a whole NCCL with its code at `base`, and not, say, another preload that wraps some
// of its functions.
bool IsNccl(void* library, const void* base) {
  for (const Function function :
       {Function::kGetVersion, Function::kCommInitRank, Function::kGroupStart}) {
    void* address = LookUp(library, function);
    Dl_info info;
    if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fbase != base) {
      return false;
    }
  }
  return true;
}

// What would be bound without us: the rest of the global scope, then the given library's scope.
void* LookUpBelow(void* library, Function function) {
  void* address = LookUp(RTLD_NEXT, function);
  return address != nullptr ? address : LookUp(library, function);
}

// Makes the library that holds `real` the one in use. Two threads may race here with the same
// library: both store the same values.
void UseLibraryOf(void* real) {
  Dl_info info;
  if (dladdr(real, &info) == 0 || info.dli_fname == nullptr) {
    return;
  }
  // The reference stays: the addresses must outlive the application's dlclose.
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr || !IsNccl(library, info.dli_fbase)) {
    return;
  }
  if (std::strncmp(BaseName(info.dli_fname), kLibraryPrefix, sizeof(kLibraryPrefix) - 1) == 0) {
    TextSearch search = {reinterpret_cast<std::uintptr_t>(real), 0, 0};
    dl_iterate_phdr(FindText, &search);
    g_nccl_text_begin.store(search.begin, std::memory_order_relaxed);
    g_nccl_text_bytes.store(search.bytes, std::memory_order_relaxed);
  }
  for (int i = 0; i < kFunctionCount; ++i) {
    if (void* address = LookUpBelow(library, static_cast<Function>(i)); address != nullptr) {
      g_real_functions[i].store(address, std::memory_order_relaxed);
    }
  }
  // Release; pairs with IsLibraryKnown: the table is complete.
  g_is_library_known.store(true, std::memory_order_release);
}

bool IsLibraryKnown() {
  return g_is_library_known.load(std::memory_order_acquire);  // pairs with UseLibraryOf
}

void* SearchFrom(const void* caller, Function function) {
  if (void* address = LookUp(RTLD_NEXT, function); address != nullptr) {
    return address;
  }
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name != nullptr && map->l_name[0] != '\0') {
    // By name and not by link map: dlsym on the map of a mere dependency crashes.
    void* handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (void* address = LookUp(handle, function); address != nullptr) {
      return address;
    }
  }
  return LookUp(dlopen(kLibrary, RTLD_LAZY | RTLD_NOLOAD), function);
}

}  // namespace

void* FindRealFunction(Function function, const void* caller) {
  const int index = static_cast<int>(function);
  if (IsMissingInNccl(function)) {
    return nullptr;
  }
  void* address = SearchFrom(caller, function);
  if (address == nullptr) {
    return nullptr;
  }
  UseLibraryOf(address);
  g_real_functions[index].store(address, std::memory_order_relaxed);
  return address;
}

bool IsMissingInNccl(Function function) {
  return IsLibraryKnown() &&
         g_real_functions[static_cast<int>(function)].load(std::memory_order_relaxed) == nullptr;
}

bool AdoptRealFunction(Function function, void* real) {
  if (!IsLibraryKnown()) {
    UseLibraryOf(real);
  }
  return g_real_functions[static_cast<int>(function)].load(std::memory_order_relaxed) == real;
}

const WrappedFunction* FindWrapped(const char* name) {
  for (const WrappedFunction& wrapped : kWrapped) {
    if (std::strcmp(wrapped.name, name) == 0) {
      return &wrapped;
    }
  }
  return nullptr;
}

}  // namespace c4::hook
