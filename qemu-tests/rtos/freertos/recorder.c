// SPDX-License-Identifier: MIT
// qemu-tests/rtos/freertos: the recorder as firmware compiles it in. In: trace points. Out:
// streams.
#define RINGSIDE_TRACE_PORT "freertos/port.h"
#include "../../../libextract/recorder/target/ringside_trace.c"
