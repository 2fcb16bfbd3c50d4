// SPDX-License-Identifier: MIT
// merge: the straight line that leads from the time of one clock to the time of another.
//
// For a given slope s, a line that is above all lower points and below all upper points starts
// between low(s) and high(s):
//
//     low(s) = max over the lower points of y - s x      (convex)
//     high(s) = min over the upper points of y - s x     (concave)
//
// So the room between them is a concave function of the slope, and a ternary search finds its
// maximum. Only the corners of the convex hulls of the points matter. The slopes with room are an
// interval, and the distance between two lines is greatest at an end of the range, so that the
// uncertainty is computed from the ends alone.
//
// All computations are in coordinates in which the points are near the line y = 0 and x is from -1
// to 1, since times may have more digits than a double.
#include "merge/line.h"
#include <float.h>
#include <stdlib.h>

enum { STEPS = 200 };

// Slopes are searched up to this multiple of the points' distance from the first guess. A slope
// that is still possible there is not bounded by the points.
#define STEEPEST 1e4

// Corners of the hulls, and the coordinates in which they are.
struct hulls {
    struct merge_point *lower, *upper;
    size_t lower_count, upper_count;
    double center, half, start, rate; // x = center + half * u; y = start + rate * (x - center) + v
    double slope_limit;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double absolute(double a)
{
    return a < 0 ? -a : a;
}

static int compare_points(const void *a, const void *b)
{
    const struct merge_point *p = a, *q = b;

    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

// Keeps the corners of the hull of sorted points: of the upper side for sign 1, of the lower side
// for sign -1. Returns their number.
static size_t keep_hull(struct merge_point *points, size_t count, double sign)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct merge_point p = points[i];
        while (kept > 1) {
            struct merge_point a = points[kept - 2], b = points[kept - 1];
            double turn = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
            if (sign * turn < 0)
                break;
            kept--;
        }
        if (kept == 1 && points[0].x == p.x && sign * (p.y - points[0].y) > 0)
            kept = 0;
        points[kept++] = p;
    }
    return kept;
}

static double low(const struct hulls *h, double slope)
{
    double most = -DBL_MAX;

    for (size_t i = 0; i < h->lower_count; i++)
        most = larger(most, h->lower[i].y - slope * h->lower[i].x);
    return most;
}

static double high(const struct hulls *h, double slope)
{
    double least = DBL_MAX;

    for (size_t i = 0; i < h->upper_count; i++)
        least = smaller(least, h->upper[i].y - slope * h->upper[i].x);
    return least;
}

static double room(const struct hulls *h, double slope)
{
    return high(h, slope) - low(h, slope);
}

// What a line of a slope reaches at `u` at most, and the negative of what it reaches at least.
static double reach(const struct hulls *h, double slope, double u, bool up)
{
    return up ? high(h, slope) + slope * u : -(low(h, slope) + slope * u);
}

// Returns the slope in an interval at which a concave function is greatest: the room, or, with a
// direction, the reach at `u`.
static double search_slope(const struct hulls *h, double from, double to, int direction, double u)
{
    for (unsigned i = 0; i < STEPS; i++) {
        double a = from + (to - from) / 3, b = to - (to - from) / 3;
        double at_a = direction ? reach(h, a, u, direction > 0) : room(h, a);
        double at_b = direction ? reach(h, b, u, direction > 0) : room(h, b);
        if (at_a < at_b)
            from = a;
        else if (at_a > at_b)
            to = b;
        else
            from = a, to = b;
    }
    return from + (to - from) / 2;
}

// Returns the slope that is farthest from `inside`, which has room, on the way to `outside` and
// still has room.
static double last_slope(const struct hulls *h, double inside, double outside)
{
    if (room(h, outside) >= 0)
        return outside;
    for (unsigned i = 0; i < STEPS; i++) {
        double middle = inside + (outside - inside) / 2;
        if (room(h, middle) >= 0)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

// Moves points to the coordinates of the hulls. Returns their greatest distance from the line.
static double move_points(const struct hulls *h, struct merge_point *points, size_t count)
{
    double farthest = 0;

    for (size_t i = 0; i < count; i++) {
        struct merge_point p = points[i];
        points[i] = (struct merge_point){(p.x - h->center) / h->half,
                                         p.y - h->start - h->rate * (p.x - h->center)};
        farthest = larger(farthest, absolute(points[i].y));
    }
    return farthest;
}

// Finds the coordinates from the first and last point of all, and makes the hulls.
static void make_hulls(struct hulls *h)
{
    struct merge_point first = {DBL_MAX, 0}, last = {-DBL_MAX, 0};
    struct merge_point *lists[] = {h->lower, h->upper};
    const size_t counts[] = {h->lower_count, h->upper_count};

    for (unsigned k = 0; k < 2; k++) {
        for (size_t i = 0; i < counts[k]; i++) {
            first = lists[k][i].x < first.x ? lists[k][i] : first;
            last = lists[k][i].x > last.x ? lists[k][i] : last;
        }
    }
    bool has_width = last.x > first.x;
    h->center = first.x + (last.x - first.x) / 2;
    h->half = has_width ? (last.x - first.x) / 2 : 1;
    h->rate = has_width ? (last.y - first.y) / (last.x - first.x) : 1;
    h->start = first.y + h->rate * (h->center - first.x);
    double farthest =
        larger(move_points(h, h->lower, h->lower_count), move_points(h, h->upper, h->upper_count));
    h->slope_limit = has_width ? STEEPEST * (farthest + 1) : 0;
    qsort(h->lower, h->lower_count, sizeof *h->lower, compare_points);
    qsort(h->upper, h->upper_count, sizeof *h->upper, compare_points);
    h->lower_count = keep_hull(h->lower, h->lower_count, 1);
    h->upper_count = keep_hull(h->upper, h->upper_count, -1);
}

// Returns the greatest distance from the line v = start + slope * u, for u from `from` to `to`, of
// the lines with slopes in an interval that have room.
static double find_distance(const struct hulls *h, double start, double slope,
                            const double slopes[2], const double range[2])
{
    double farthest = 0;

    for (unsigned end = 0; end < 2; end++) {
        double u = (range[end] - h->center) / h->half, at = start + slope * u;
        double above = search_slope(h, slopes[0], slopes[1], 1, u);
        double below = search_slope(h, slopes[0], slopes[1], -1, u);
        farthest = larger(farthest, reach(h, above, u, true) - at);
        farthest = larger(farthest, reach(h, below, u, false) + at);
    }
    return farthest;
}

// Fills in a line that has the given start and slope in the coordinates of the hulls.
static void set_line(struct merge_line *line, const struct hulls *h, double start, double slope)
{
    line->rate = h->rate + slope / h->half;
    line->start = h->start + start - line->rate * h->center;
}

// Fills in the line in the middle of the room, and its uncertainty.
static void set_middle(struct merge_line *line, const struct hulls *h, double slope,
                       const double range[2], enum merge_certainty certainty)
{
    const double slopes[2] = {last_slope(h, slope, -h->slope_limit),
                              last_slope(h, slope, h->slope_limit)};
    bool is_bounded = slopes[0] > -h->slope_limit && slopes[1] < h->slope_limit;

    if (!is_bounded) // the slope that is nearest to the first guess
        slope = last_slope(h, slope, 0);
    double start = low(h, slope) + room(h, slope) / 2;
    set_line(line, h, start, slope);
    line->has_rate = is_bounded;
    line->certainty = is_bounded ? certainty : MERGE_UNKNOWN;
    line->uncertainty = is_bounded ? find_distance(h, start, slope, slopes, range) : 0;
}

bool merge_line_between(struct merge_point *lower, size_t lower_count, struct merge_point *upper,
                        size_t upper_count, double from, double to, struct merge_line *line)
{
    const double range[2] = {from, to};
    struct hulls h = {lower, upper, lower_count, upper_count, 0, 0, 0, 0, 0};

    make_hulls(&h);
    double slope = search_slope(&h, -h.slope_limit, h.slope_limit, 0, 0);
    if (room(&h, slope) < 0)
        return false;
    set_middle(line, &h, slope, range, MERGE_CERTAIN);
    return true;
}

// Makes hulls whose lower and upper points are the same.
static struct hulls make_both(struct merge_point *points, struct merge_point *spare, size_t count)
{
    struct hulls h = {spare, points, count, count, 0, 0, 0, 0, 0};

    for (size_t i = 0; i < count; i++)
        spare[i] = points[i];
    make_hulls(&h);
    return h;
}

void merge_line_through(struct merge_point *points, struct merge_point *spare, size_t count,
                        double from, double to, struct merge_line *line)
{
    const double range[2] = {from, to};
    struct hulls h = make_both(points, spare, count);
    double slope = search_slope(&h, -h.slope_limit, h.slope_limit, 0, 0);
    // Twice the greatest distance, and the rounding of both timestamps, are allowed for the true
    // line.
    double slack = larger(-room(&h, slope), 0) + 1 + h.rate;

    for (size_t i = 0; i < h.lower_count; i++)
        h.lower[i].y -= slack;
    for (size_t i = 0; i < h.upper_count; i++)
        h.upper[i].y += slack;
    set_middle(line, &h, slope, range, MERGE_LIKELY);
}

void merge_line_touching(struct merge_point *points, struct merge_point *spare, size_t count,
                         bool above, struct merge_line *line)
{
    struct hulls h = make_both(points, spare, count);
    double slope = search_slope(&h, -h.slope_limit, h.slope_limit, 0, 0);

    *line = (struct merge_line){.certainty = MERGE_UNKNOWN, .has_rate = h.slope_limit > 0};
    set_line(line, &h, above ? low(&h, slope) : high(&h, slope), slope);
}
