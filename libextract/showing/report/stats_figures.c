// SPDX-License-Identifier: MIT
// report: the figures of libraries on the kernel, such as FileX and NetX: in text, one line per
// group, such as "filex media: 19 opens, 19 closes"; in JSON, one object per family.
#include "report/report_room.h"
#include <stdio.h>
#include <string.h>

static bool is_same_group(const struct extract_figure_stats *a,
                          const struct extract_figure_stats *b)
{
    return strcmp(a->family, b->family) == 0 && strcmp(a->group, b->group) == 0;
}

void stats_put_figures(struct kv_writer *kv, const struct extract_stats *stats)
{
    const struct extract_figure_stats *figures = stats->figures;
    char key[64];

    for (size_t i = 0; i < stats->figure_count; i++) {
        bool is_first = !i || !is_same_group(&figures[i - 1], &figures[i]);
        snprintf(key, sizeof key, "%s %s", figures[i].family, figures[i].group);
        if (is_first)
            kv_put_key(kv, key);
        extract_text_printf(kv->text, "%s%llu %s", is_first ? "" : ", ",
                            (unsigned long long)figures[i].value, figures[i].name);
    }
}

void stats_put_figures_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    const struct extract_figure_stats *figures = stats->figures;
    struct kv_writer family;
    char key[64];

    for (size_t i = 0; i < stats->figure_count; i++) {
        if (!i || strcmp(figures[i - 1].family, figures[i].family) != 0) {
            if (i)
                kv_close_object(&family);
            kv_put_key(kv, figures[i].family);
            family = kv_open_object(kv->text);
        }
        snprintf(key, sizeof key, "%s %s", figures[i].group, figures[i].name);
        kv_put_number(&family, key, figures[i].value);
    }
    if (stats->figure_count)
        kv_close_object(&family);
}
