// SPDX-License-Identifier: MIT
// probe/jtag: what a user sets and counts: fault ranges, WAIT answers, the speed of the link,
// counters. All of it is plain state; control.c writes it, jtag/ and the loop act on it.
#ifndef PROBE_KNOBS_H
#define PROBE_KNOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters {
    uint64_t tck;      // rising edges of TCK
    uint64_t ir_scans; // Update-IR
    uint64_t dr_scans; // Update-DR
    uint64_t ap_reads; // requests to the AP, or to the debug module, that were taken
    uint64_t ap_writes;
    uint64_t beats;        // accesses of the memory bus
    uint64_t bytes;        // of these beats
    uint64_t transactions; // block accesses: a TAR write with the beats after it
    uint64_t waits;        // WAIT answers
    uint64_t faults;       // beats that failed
    uint64_t link_ns;      // time that the beats take on a link of the set latency and limit
};

enum { FAULT_RANGES = 64 };

struct range {
    uint64_t address, length;
};

// A link: a time for each transaction, and one for each byte.
struct link_speed {
    uint64_t latency_ns;
    uint64_t limit;   // bytes per second; 0: none
    uint64_t free_at; // CLOCK_MONOTONIC, ns: when the link has done what it was given
    uint64_t due;     // not 0: nothing may go on before this time
};

struct knobs {
    struct range faults[FAULT_RANGES];
    size_t fault_count;
    uint64_t wait_every; // every Nth such request is followed by WAIT answers; 0: none is
    uint64_t wait_times; // WAIT answers each time
    uint64_t requests;   // since the last that a WAIT answer followed
    uint64_t waiting;    // WAIT answers that are still to be given
    struct link_speed link;
    struct counters counters;
};

// Returns whether a beat must fail. A range is hit by any of its bytes.
bool knobs_is_fault(const struct knobs *knobs, uint32_t address, unsigned bytes);

// Charges the link for a beat; `begins`: it is the first of a transaction.
void knobs_charge(struct knobs *knobs, unsigned bytes, bool begins);

// Counts a request to the AP or the debug module.
void knobs_count_request(struct knobs *knobs, bool is_read);

// Uses one of the WAIT answers that are to be given. Returns false if there is none.
bool knobs_take_wait(struct knobs *knobs);

// Nanoseconds of CLOCK_MONOTONIC.
uint64_t knobs_now(void);

#endif
