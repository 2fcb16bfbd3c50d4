// SPDX-License-Identifier: MIT
// qemu-tests/rtos/hook: the kernel's hooks as hook words (hooks.h). In: nothing. Out: how many
// there were of each kind.
#include "hooks.h"

volatile struct hook_counts bout_hooks_counts;
