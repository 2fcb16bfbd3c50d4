// SPDX-License-Identifier: MIT
// merge: the straight line that leads from the time of one clock to the time of another, between
// bounds.
#ifndef EXTRACT_MERGE_LINE_H
#define EXTRACT_MERGE_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct merge_point {
    double x, y; // the same moment by the clock that is aligned, and by the other one
};

// What is known of the true line.
enum merge_certainty {
    MERGE_CERTAIN = 0, // it differs from the line that was found by at most `uncertainty`
    MERGE_LIKELY,      // it does so if no point is much worse than the others
    MERGE_GIVEN,       // the user stated it
    MERGE_UNKNOWN      // its distance is not bounded
};

// y = start + rate * x
struct merge_line {
    double start, rate;
    double uncertainty; // ticks of y, for all x of the range; CERTAIN and LIKELY only
    enum merge_certainty certainty;
    bool has_rate; // false: the points do not bound the rate, and it is a guess
};

// In the functions below, [from, to] is the range of x for which the uncertainty holds. They change
// and reorder the points. No list may be empty.

// Finds the line in the middle of all lines that are nowhere below the points `lower` and nowhere
// above the points `upper`. Returns false if there is no such line.
bool merge_line_between(struct merge_point *lower, size_t lower_count, struct merge_point *upper,
                        size_t upper_count, double from, double to, struct merge_line *line);
// Finds the line whose greatest distance from the points is least. `spare` has space for as many
// points.
void merge_line_through(struct merge_point *points, struct merge_point *spare, size_t count,
                        double from, double to, struct merge_line *line);
// Finds the line that is nowhere below the points (above) or nowhere above them, touches one, and
// is near the others. Its uncertainty is not known.
void merge_line_touching(struct merge_point *points, struct merge_point *spare, size_t count,
                         bool above, struct merge_line *line);

#endif
