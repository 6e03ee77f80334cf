// Marks what the dynamic symbol table of the hook shows; everything else is hidden.
#pragma once

#define C4_HOOK_EXPORT __attribute__((visibility("default")))

// Where the wrapper was called from. A macro: a function would report its own caller.
#define C4_HOOK_CALLER __builtin_return_address(0)
