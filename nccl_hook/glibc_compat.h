// Binds the functions that glibc 2.33 and 2.34 moved or re-versioned to the versions that
// glibc 2.17 already had, so that a hook built on a new machine loads in an old training image.
// Include it in every file of the hook that calls one of them; tests/unit/nccl_hook/exports_test.py
// finds what was forgotten. pthread_create is not here: it is looked up at run time, because
// binding it would need libpthread in every process that the preload reaches.
#pragma once

#if defined(__x86_64__)
#define C4_GLIBC_BASE "GLIBC_2.2.5"
#define C4_GLIBC_DLADDR1 "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define C4_GLIBC_BASE "GLIBC_2.17"
#define C4_GLIBC_DLADDR1 "GLIBC_2.17"
#else
#error "C4 supports x86-64 and aarch64"
#endif

__asm__(".symver dlvsym,dlvsym@" C4_GLIBC_BASE);
__asm__(".symver dlopen,dlopen@" C4_GLIBC_BASE);
__asm__(".symver dladdr,dladdr@" C4_GLIBC_BASE);
__asm__(".symver dladdr1,dladdr1@" C4_GLIBC_DLADDR1);
