// SPDX-License-Identifier: MIT
// tests: the globals and types of a firmware that traces, for ELF files that tests build. In: ULONG
// (the port's type). Out: symbols and, with -g, DWARF.
//
// Source: TraceX user guide, chapter 11; names of ThreadX 6.4, common/inc/tx_trace.h and tx_api.h.
typedef ULONG_TYPE ULONG;
typedef unsigned short USHORT;

typedef struct TX_TRACE_HEADER_STRUCT {
    ULONG id, timer_valid_mask, trace_base_address, registry_start_pointer;
    USHORT reserved1, object_name_size;
    ULONG registry_end_pointer, buffer_start_pointer, buffer_end_pointer, buffer_current_pointer;
    ULONG reserved2, reserved3, reserved4;
} TX_TRACE_HEADER;

typedef struct TX_THREAD_STRUCT {
    ULONG tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr;
    char *tx_thread_name;
} TX_THREAD;

#ifndef WITHOUT_HEADER
TX_TRACE_HEADER *_tx_trace_header_ptr;
#endif
void *_tx_trace_registry_start_ptr, *_tx_trace_registry_end_ptr;
void *_tx_trace_buffer_start_ptr, *_tx_trace_buffer_end_ptr, *_tx_trace_buffer_current_ptr;
ULONG _tx_trace_event_enable_bits, _tx_trace_total_registry_entries;

TX_THREAD named_by_symbol;
TX_THREAD pool[2]; // control blocks that a program takes from a pool have no symbol of their own
const char constant_name[] = "constant";
const TX_TRACE_HEADER *const header_type_user = 0; // keeps the type in the DWARF

int _start(void);
int _start(void)
{
    return (int)_tx_trace_event_enable_bits + constant_name[0];
}
