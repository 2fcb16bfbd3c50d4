// SPDX-License-Identifier: MIT
// qemu-tests/rtos/freertos: the configuration, as a FreeRTOS application has it. Only what the
// trace macros depend on is here.
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#ifndef configUSE_TRACE_FACILITY
#define configUSE_TRACE_FACILITY 1
#endif
#define configMAX_TASK_NAME_LEN 16

#include "../../../libextract/recorder/target/ringside_freertos.h"

#endif
