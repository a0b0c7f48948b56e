#include <stdlib.h>

#include "engine/internal.h"
#include "myriad/text/csv.h"

/*
 * Paths from a file, as --paths writes them: "phase,from,to,permille,latency_us,path". They take
 * the place of the policy's; a message without one is an error when it is routed.
 */

enum { PHASE, FROM, TO, PERMILLE, LATENCY, PATH, COLUMNS };
static const char *const names[COLUMNS] = {"phase", "from", "to", "permille", "latency_us", "path"};

enum { RANK_BITS = 20, PHASE_MAX = (1 << 20) - 1 };

static uint64_t key_of(uint32_t phase, uint32_t from, uint32_t to)
{
    return (uint64_t)phase << (2 * RANK_BITS) | (uint64_t)from << RANK_BITS | to;
}

static int number(const struct myr_csv *csv, uint32_t field, uint64_t most, uint64_t *ret,
                  struct myr_err *err)
{
    if (!myr_str_to_u64(csv->fields[field], ret) || *ret > most) {
        return myr_csv_error(err, csv, field, "'%s' must be a number up to %llu", names[field],
                             (unsigned long long)most);
    }
    return MYR_OK;
}

/* Microseconds with up to six places behind the point. */
static bool read_us(struct myr_str text, uint64_t *ret_ps)
{
    const char *point = text.len ? memchr(text.data, '.', text.len) : NULL;
    size_t whole = point ? (size_t)(point - text.data) : text.len, places = text.len - whole;
    uint64_t us, part = 0;
    if (!myr_str_to_u64((struct myr_str){text.data, whole}, &us) || us > 1000000000000 ||
        places > 7 || places == 1) {
        return false;
    }
    if (places && !myr_str_to_u64((struct myr_str){point + 1, places - 1}, &part)) {
        return false;
    }
    for (size_t i = places; places && i < 7; i++) {
        part *= 10;
    }
    *ret_ps = us * (uint64_t)MYR_PS_PER_US + part;
    return true;
}

static bool has(struct myr_str word, const char *front)
{
    size_t len = strlen(front);
    return word.len > len && memcmp(word.data, front, len) == 0;
}

/* "gpu/7/in" and "pool/3/up": the number, and which of the two words is behind it. */
static bool two_ways(struct myr_str word, size_t front, const char *first, const char *second,
                     uint64_t *ret)
{
    struct myr_str rest = {word.data + front, word.len - front};
    const char *slash = memchr(rest.data, '/', rest.len);
    uint64_t index;
    if (!slash ||
        !myr_str_to_u64((struct myr_str){rest.data, (size_t)(slash - rest.data)}, &index) ||
        index > UINT32_MAX / 4) {
        return false;
    }
    struct myr_str way = {slash + 1, rest.len - (size_t)(slash + 1 - rest.data)};
    bool back = myr_str_eq(way, myr_str_from(second));
    *ret = index * 2 + back;
    return back || myr_str_eq(way, myr_str_from(first));
}

/* The channel that a word names, or MYR_NONE. */
static uint32_t channel_of(const struct myr_sim *sim, struct myr_str word)
{
    uint64_t index;
    if (has(word, "gpu/")) {
        bool known =
            two_ways(word, 4, "out", "in", &index) && index < sim->pool_base - sim->scale_up_base;
        return known ? sim->scale_up_base + (uint32_t)index : MYR_NONE;
    }
    if (has(word, "pool/")) {
        bool known =
            two_ways(word, 5, "up", "down", &index) && index < sim->channel_count - sim->pool_base;
        return known ? sim->pool_base + (uint32_t)index : MYR_NONE;
    }
    char way = word.len ? word.data[word.len - 1] : 0;
    if (!has(word, "link/") || (way != '>' && way != '<') ||
        !myr_str_to_u64((struct myr_str){word.data + 5, word.len - 6}, &index) ||
        index >= MYR_NONE) {
        return MYR_NONE;
    }
    uint32_t link = myr_design_link_at(sim->graph->design, (uint32_t)index);
    return link == MYR_NONE ? MYR_NONE : link * 2 + (way == '<');
}

static bool joins(const struct myr_sim *sim, uint32_t before, uint32_t channel)
{
    const struct myr_design *design = sim->graph->design;
    return before >= sim->link_channels || channel >= sim->link_channels ||
           myr_channel_to_device(design, before) ==
               myr_channel_to_device(design, myr_channel_back(channel));
}

static int read_path(struct myr_sim *sim, const struct myr_csv *csv, struct myr_err *err)
{
    struct myr_str text = csv->fields[PATH];
    uint32_t before = MYR_NONE;
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && text.data[end] != ' ') {
            end++;
        }
        struct myr_str word = {text.data + at, end - at};
        uint32_t channel = channel_of(sim, word);
        if (channel == MYR_NONE) {
            return myr_csv_error(err, csv, PATH, "'%.*s' is no link of this fabric",
                                 word.len > 40 ? 40 : (int)word.len, word.data);
        }
        if (before != MYR_NONE && !joins(sim, before, channel)) {
            return myr_csv_error(err, csv, PATH, "'%.*s' does not begin where the one before ends",
                                 (int)word.len, word.data);
        }
        myr_vec_push(&sim->given_channels, channel);
        before = channel;
        at = end + 1;
    }
    return MYR_OK;
}

static int read_row(struct myr_sim *sim, const struct myr_csv *csv, struct myr_err *err)
{
    uint64_t phase, from, to, permille, latency;
    if (csv->count != COLUMNS) {
        return myr_csv_error(err, csv, 0, "%u fields, %u are expected", csv->count, COLUMNS);
    }
    MYR_TRY(number(csv, PHASE, PHASE_MAX, &phase, err));
    MYR_TRY(number(csv, FROM, sim->graph->design->head->gpus - 1, &from, err));
    MYR_TRY(number(csv, TO, sim->graph->design->head->gpus - 1, &to, err));
    MYR_TRY(number(csv, PERMILLE, 1000, &permille, err));
    if (!read_us(csv->fields[LATENCY], &latency)) {
        return myr_csv_error(err, csv, LATENCY, "'latency_us' must be a time in microseconds");
    }
    struct sim_given row = {.key = key_of((uint32_t)phase, (uint32_t)from, (uint32_t)to),
                            .share = (uint32_t)permille,
                            .latency = (myr_ps)latency,
                            .first = (uint32_t)sim->given_channels.count};
    MYR_TRY(read_path(sim, csv, err));
    row.count = (uint32_t)sim->given_channels.count - row.first;
    if (row.share == 0 || row.count == 0) {
        return myr_csv_error(err, csv, row.share ? PATH : PERMILLE,
                             "a path has at least one link, and carries at least one permille");
    }
    /* Rows of one pair follow each other; the first set of them counts. */
    if (!myr_u64map_find(&sim->given_rows, row.key)) {
        myr_u64map_add(&sim->given_rows, row.key, (uint32_t)sim->given.count);
    }
    myr_vec_push(&sim->given, row);
    return MYR_OK;
}

int myr_sim_given_paths(struct myr_sim *sim, const char *file, struct myr_str text,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {0};
    struct myr_csv *csv;
    myr_arena_init(&scratch);
    csv = MYR_ARENA_NEW(&scratch, struct myr_csv, 1);
    myr_csv_init(csv, &scratch, file, text);
    int rc = myr_csv_next(csv, err);
    for (uint32_t i = 0; rc >= 0 && i < COLUMNS; i++) {
        if (rc == 0 || i >= csv->count || !myr_str_eq(csv->fields[i], myr_str_from(names[i]))) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s:1:1: the columns phase,from,to,permille,latency_us,path are "
                               "expected",
                               file);
        }
    }
    while (rc >= 0 && (rc = myr_csv_next(csv, err)) > 0) {
        MYR_TRY(read_row(sim, csv, err));
    }
    if (rc == 0 && sim->given.count == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: there is no path in it", file);
    }
    return rc;
}

const struct sim_given *sim_given_find(const struct myr_sim *sim, uint32_t phase,
                                       struct myr_message message, uint32_t *ret_count)
{
    const uint32_t *first =
        (message.from | message.to) & MYR_MESSAGE_STORAGE || phase > PHASE_MAX
            ? NULL
            : myr_u64map_find(&sim->given_rows, key_of(phase, message.from, message.to));
    if (!first) {
        return NULL;
    }
    uint32_t count = 0, share = 0;
    const struct sim_given *rows = &sim->given.items[*first];
    while (*first + count < sim->given.count && rows[count].key == rows[0].key && share < 1000) {
        share += rows[count++].share;
    }
    *ret_count = count;
    return rows;
}
