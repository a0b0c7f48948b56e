#include <stdlib.h>

#include "engine/internal.h"
#include "myriad/text/amount.h"
#include "myriad/text/csv.h"

/*
 * Paths from a file, as --paths writes them: "phase,from,to,permille,latency_us,path". They take
 * the place of the policy's; a message without one is an error when it is routed.
 */

enum { PHASE, FROM, TO, PERMILLE, LATENCY, PATH, COLUMNS };
static const char *const names[COLUMNS] = {"phase", "from", "to", "permille", "latency_us", "path"};

enum { RANK_BITS = 20, PHASE_MAX = (1 << 20) - 1 };

/* One number for phase and pair: 20 bits each, which is a million GPUs and phases. */
static uint64_t key_of(uint32_t phase, uint32_t from, uint32_t to)
{
    return (uint64_t)phase << (2 * RANK_BITS) | (uint64_t)from << RANK_BITS | to;
}

/* By column: the complaint names it and its limit. */
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
    /* 'places' counts the point too: none is 0, a point with nothing behind it is 1 and refused. */
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

/* More than the front itself. */
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

/* Where a path has come to: a GPU, inside a scale-up domain, a device, or behind a pool. */
struct place {
    enum { AT_GPU, IN_DOMAIN, AT_DEVICE, BEHIND_POOL } kind;
    uint32_t id; /* a GPU, or one of the domain's; a device */
};

/* The device of the server that the GPU is in. */
static uint32_t node_of(const struct myr_sim *sim, uint32_t gpu)
{
    const struct myr_design_head *head = sim->graph->design->head;
    return head->first_node + gpu / (head->gpus_per_node ? head->gpus_per_node : 1);
}

/* Without domains every GPU is one by itself. */
static bool same_domain(const struct myr_sim *sim, uint32_t gpu, uint32_t other)
{
    uint32_t size = sim->graph->design->head->scale_up_gpus;
    return gpu / (size ? size : 1) == other / (size ? size : 1);
}

/* One channel further; false where it does not begin at the place. */
static bool step(const struct myr_sim *sim, struct place *place, uint32_t channel)
{
    const struct myr_design *design = sim->graph->design;
    /* A pool leads to any of many switches: what follows it may begin anywhere. */
    if (channel >= sim->pool_base) {
        bool here = place->kind == AT_DEVICE || place->kind == BEHIND_POOL;
        *place = (struct place){BEHIND_POOL, MYR_NONE};
        return here;
    }
    if (channel >= sim->scale_up_base) {
        uint32_t gpu = (channel - sim->scale_up_base) / 2;
        bool out = (channel - sim->scale_up_base) % 2 == 0;
        bool here = out ? place->kind == AT_GPU && place->id == gpu
                        : place->kind == IN_DOMAIN && same_domain(sim, place->id, gpu);
        *place = (struct place){out ? IN_DOMAIN : AT_GPU, gpu};
        return here;
    }
    uint32_t from = myr_channel_to_device(design, myr_channel_back(channel));
    /* A path may leave a GPU by any link of its node: NICs are not told apart here. */
    uint32_t at = place->kind == AT_GPU ? node_of(sim, place->id) : place->id;
    bool here = place->kind == BEHIND_POOL || (place->kind != IN_DOMAIN && at == from);
    *place = (struct place){AT_DEVICE, myr_channel_to_device(design, channel)};
    return here;
}

/* "node/00003", or the GPU that an inner channel leads to. */
static void name_place(const struct myr_sim *sim, struct place place, struct myr_buf *buf)
{
    if (place.kind == AT_DEVICE) {
        myr_design_name(sim->graph->design, place.id, buf);
    } else if (place.kind == BEHIND_POOL) {
        myr_buf_puts(buf, "a pool of links");
    } else {
        myr_buf_printf(buf, "%sGPU %u", place.kind == IN_DOMAIN ? "the domain of " : "", place.id);
    }
}

/* A path leads to its receiver: to the GPU itself, or into its node. */
static int check_end(const struct myr_sim *sim, const struct myr_csv *csv, struct place place,
                     uint32_t to, struct myr_err *err)
{
    if (place.kind == AT_GPU ? place.id == to
                             : place.kind == AT_DEVICE && place.id == node_of(sim, to)) {
        return MYR_OK;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf ends = {};
    name_place(sim, place, &ends);
    myr_buf_puts(&ends, ", not at ");
    name_place(sim, (struct place){AT_DEVICE, node_of(sim, to)}, &ends);
    return myr_csv_error(err, csv, PATH, "the path ends at %s with GPU %u", ends.data, to);
}

/* Each channel must begin where the one before ends, from the sender on. */
static int read_path(struct myr_sim *sim, const struct myr_csv *csv, struct myr_message ends,
                     struct myr_err *err)
{
    struct myr_str text = csv->fields[PATH];
    struct place place = {AT_GPU, ends.from};
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && text.data[end] != ' ') {
            end++;
        }
        struct myr_str word = {text.data + at, end - at};
        uint32_t channel = channel_of(sim, word);
        int shown = word.len > 40 ? 40 : (int)word.len;
        if (channel == MYR_NONE) {
            return myr_csv_error(err, csv, PATH, "'%.*s' is no link of this fabric", shown,
                                 word.data);
        }
        if (!step(sim, &place, channel)) {
            return myr_csv_error(err, csv, PATH,
                                 at ? "'%.*s' does not begin where the one before ends"
                                    : "'%.*s' does not begin at the sender",
                                 shown, word.data);
        }
        myr_vec_push(&sim->given_channels, channel);
        at = end + 1;
    }
    return check_end(sim, csv, place, ends.to, err);
}

/* A row is a part of a message, with its share in thousandths. */
static int read_row(struct myr_sim *sim, const struct myr_csv *csv, struct myr_err *err)
{
    uint64_t phase, from, to, permille, latency;
    if (csv->count != COLUMNS) {
        return myr_csv_error(err, csv, 0, "%s, %u are expected", MYR_COUNT(csv->count, "field"),
                             COLUMNS);
    }
    MYR_TRY(number(csv, PHASE, PHASE_MAX, &phase, err));
    MYR_TRY(number(csv, FROM, sim->graph->design->head->gpus - 1, &from, err));
    MYR_TRY(number(csv, TO, sim->graph->design->head->gpus - 1, &to, err));
    MYR_TRY(number(csv, PERMILLE, 1000, &permille, err));
    if (permille == 0 || csv->fields[PATH].len == 0) {
        return myr_csv_error(err, csv, permille ? PATH : PERMILLE,
                             "a path has at least one link, and carries at least one permille");
    }
    if (!read_us(csv->fields[LATENCY], &latency)) {
        return myr_csv_error(err, csv, LATENCY, "'latency_us' must be a time in microseconds");
    }
    struct sim_given row = {.key = key_of((uint32_t)phase, (uint32_t)from, (uint32_t)to),
                            .share = (uint32_t)permille,
                            .latency = (myr_ps)latency,
                            .first = (uint32_t)sim->given_channels.count};
    MYR_TRY(read_path(sim, csv, (struct myr_message){(uint32_t)from, (uint32_t)to}, err));
    row.count = (uint32_t)sim->given_channels.count - row.first;
    /* Rows of one pair follow each other; the first set of them counts. */
    if (!myr_u64map_find(&sim->given_rows, row.key)) {
        myr_u64map_add(&sim->given_rows, row.key, (uint32_t)sim->given.count);
    }
    myr_vec_push(&sim->given, row);
    return MYR_OK;
}

/* On the heap: the reader of CSV holds places of 256 fields. */
int myr_sim_given_paths(struct myr_sim *sim, const char *file, struct myr_str text,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    struct myr_csv *csv;
    MYR_ASSERT(sim->routed_patterns == 0 && sim->given.count == 0); /* one file, before routing */
    myr_arena_init(&scratch);
    csv = MYR_ARENA_ONE(&scratch, struct myr_csv);
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

/*
 * The rows of a pair, up to the one that makes its shares whole; storage is not named in such
 * files.
 */
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
    /* A second set of rows for the same pair is not used. */
    uint32_t count = 0, share = 0;
    const struct sim_given *rows = &sim->given.items[*first];
    while (*first + count < sim->given.count && rows[count].key == rows[0].key && share < 1000) {
        share += rows[count++].share;
    }
    MYR_ASSERT(count > 0);
    *ret_count = count;
    return rows;
}
