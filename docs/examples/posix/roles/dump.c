// SPDX-License-Identifier: MIT
// A board that has ended: prints the first stream in IMAGE, a copy of the memory at ADDRESS of a
// board with the firmware ELF.
#define _POSIX_C_SOURCE 200809L
#include "target.h"

int main(int argc, char **argv)
{
    struct extract_symbols *symbols;
    struct extract_memory *memory;
    struct extract_error error;
    trace_attr_t attr;
    trace_id_t trid;
    size_t bytes;
    if (argc != 4) {
        fprintf(stderr, "usage: %s ELF IMAGE ADDRESS\n", argv[0]);
        return EINVAL;
    }
    must(extract_symbols_open(&symbols, argv[1], &error), &error);
    must(extract_memory_new_images(&memory, &error), &error);
    must(extract_memory_add_image(memory, argv[2], strtoull(argv[3], NULL, 0), &error), &error);
    must(extract_posix_open_memory(memory, symbols, 0, -1, &trid, &error), &error);
    need(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
    need(posix_trace_attr_getstreamsize(&attr, &bytes), "posix_trace_attr_getstreamsize");
    printf("bytes of events: %zu at most\n", bytes);
    print_status(trid);
    print_recorded(trid);
    need(posix_trace_close(trid), "posix_trace_close");
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return 0;
}
