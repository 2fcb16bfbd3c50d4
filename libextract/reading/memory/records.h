// SPDX-License-Identifier: MIT
// memory: the common part of Intel HEX, S-records and dumps as text. They are lines of hexadecimal
// digits; each line is a record that stores bytes at an address, in any order of addresses.
#ifndef EXTRACT_MEMORY_RECORDS_H
#define EXTRACT_MEMORY_RECORDS_H

#include "base/cursor.h"
#include "memory/images.h"

enum { RECORD_BYTES = 260 }; // Intel HEX: length, 2 of address, type, 255 of data, checksum

// The data of successive records at adjacent addresses.
struct extract_run {
    uint64_t address;
    uint64_t length;
    size_t offset; // in `data`
    size_t line;   // line number of its first record
};

// A file of records while it is read.
struct extract_records {
    const char *name; // name of the file
    size_t line;      // number of the current line, from 1
    char mark[3];     // the characters before the pairs of digits: ":" or "S1"
    uint8_t record[RECORD_BYTES];
    size_t length; // bytes in `record`
    bool ended;    // the end record was read

    uint64_t last_address; // of the address space
    uint8_t *data;         // the data of all records
    size_t data_length;
    size_t data_capacity;
    struct extract_run *runs;
    size_t run_count;
    size_t run_capacity;
};

// A text format of records. A record begins with the number of bytes that follow the first
// `overhead` ones. `take` gets a complete line with a valid checksum in records->record and calls
// extract_records_put for its data. `state` belongs to the format.
struct extract_record_format {
    char mark;          // the first character of a line
    size_t mark_length; // characters before the digits
    size_t overhead;
    uint8_t sum;     // sum of all bytes of a valid record, modulo 256
    const char *end; // hint for a file without an end record
    enum extract_code (*take)(struct extract_records *records, void *state,
                              struct extract_error *error);
};

// Adds a file's data to the table, and replaces input->bytes by the data.
enum extract_code extract_records_load(struct extract_images *images, struct extract_input *input,
                                       const struct extract_record_format *format, void *state,
                                       struct extract_error *error);

// Returns whether the first line of the text has the form of a record.
bool extract_records_are(const struct extract_record_format *format, const uint8_t *bytes,
                         size_t length);

// Takes the next line of a text, without its end and the blanks before that. Returns false at the
// end of the text.
bool extract_records_next_line(struct extract_cursor *text, struct extract_cursor *line);

// Adds data of the current line at a target address. Errors: NOMEM, BAD (past the last address).
enum extract_code extract_records_put(struct extract_records *records, uint64_t address,
                                      const uint8_t *bytes, size_t length,
                                      struct extract_error *error);

// Adds the data of all records to the table, and replaces input->bytes by them. Errors: NOMEM, BAD
// (no data, two records differ at one address, another image is there).
enum extract_code extract_records_add(struct extract_records *records,
                                      struct extract_images *images, struct extract_input *input,
                                      struct extract_error *error);

void extract_records_free(struct extract_records *records);

// Fills *error with "line N: why", as an error of the file, and returns BAD.
enum extract_code extract_records_bad(const struct extract_records *records, const char *why,
                                      struct extract_error *error);

#endif
