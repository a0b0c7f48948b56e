#include "myriad/sim/contention.h"
#include "myriad/text.h"

/* contention.json: flat rows, so that other programs can read it with any table tool. */

enum { CONTENTION_VERSION = 1, CONTENTION_FILE_MAX = 1 << 20 };

#define TABLE_KINDS (MYR_KIND_BIT(JSON) | MYR_KIND_BIT(CONTENTION))
static const char table_expected[] = "a table of 'myriad sim contention'";

/* Pattern by pattern, level by level, load by load: read_row() relies on this order. */
static void put_rows(struct myr_json *json, const struct myr_contention *table)
{
    myr_json_list(json, "rows");
    for (uint32_t p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
        for (uint32_t level = 0; level < MYR_CONTENTION_LEVELS; level++) {
            for (uint32_t i = 0; i < MYR_CONTENTION_LOADS; i++) {
                const struct myr_contention_cell *cell = &table->cells[p][level][i];
                myr_json_object(json, NULL);
                myr_json_text(json, "pattern", myr_contention_pattern_names[p]);
                myr_json_text(json, "level", myr_contention_level_names[level]);
                myr_json_double(json, "load", table->loads[i], 6);
                myr_json_u64(json, "jobs", cell->jobs);
                myr_json_double(json, "mean", cell->mean, 6);
                myr_json_double(json, "worst", cell->worst, 6);
                myr_json_end(json);
            }
        }
    }
    myr_json_end(json);
}

/* What the table is of comes first: whoever uses it can see whether it fits its fabric. */
int myr_contention_write(const struct myr_contention *table, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_json json;
    myr_json_init(&json, &buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    /* The version first: a reader of another one stops there. */
    myr_json_u64(&json, "version", CONTENTION_VERSION);
    myr_json_text(&json, "policy", myr_policy_names[table->policy]);
    myr_json_u64(&json, "seed", table->seed);
    myr_json_text(&json, "net", myr_net_names[table->net]);
    myr_json_u64(&json, "gpus", table->gpus);
    myr_json_u64(&json, "links", table->links);
    put_rows(&json, table);
    myr_json_end(&json);
    myr_buf_putc(&buf, '\n');
    return myr_file_write(path, &buf, err);
}

/* A key that must be there; the others read what it has. */
static int need_u64(const struct myr_doc *map, const char *key, uint64_t min, uint64_t max,
                    uint64_t *ret, struct myr_err *err)
{
    const struct myr_doc *value;
    MYR_TRY(myr_doc_need(map, "the table", key, &value, err));
    return myr_doc_u64(value, key, min, max, ret, err);
}

static int need_double(const struct myr_doc *map, const char *key, double min, double max,
                       double *ret, struct myr_err *err)
{
    const struct myr_doc *value;
    MYR_TRY(myr_doc_need(map, "the table", key, &value, err));
    return myr_doc_double(value, key, min, max, ret, err);
}

static int need_choice(const struct myr_doc *map, const char *key, const char *const *names,
                       uint32_t count, uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *value;
    MYR_TRY(myr_doc_need(map, "the table", key, &value, err));
    return myr_doc_choice(value, key, names, count, ret, err);
}

/* One row, which must be the one expected in this place. */
static int read_row(const struct myr_doc *row, uint32_t place, struct myr_contention *ret,
                    struct myr_err *err)
{
    /* The first cell says what the loads are; all others must have the same. */
    uint32_t load_index = place % MYR_CONTENTION_LOADS, pattern, level;
    uint32_t cell_place = place / MYR_CONTENTION_LOADS;
    uint64_t jobs;
    double load, last = load_index ? ret->loads[load_index - 1] : -1;
    struct myr_contention_cell cell;
    MYR_TRY(need_choice(row, "pattern", myr_contention_pattern_names, MYR_CONTENTION_PATTERNS,
                        &pattern, err));
    MYR_TRY(
        need_choice(row, "level", myr_contention_level_names, MYR_CONTENTION_LEVELS, &level, err));
    MYR_TRY(need_double(row, "load", 0, 1, &load, err));
    MYR_TRY(need_u64(row, "jobs", 0, UINT32_MAX, &jobs, err));
    /* A slowdown is never below 1. */
    MYR_TRY(need_double(row, "mean", 1, 1e9, &cell.mean, err));
    MYR_TRY(need_double(row, "worst", 1, 1e9, &cell.worst, err));
    if (pattern * MYR_CONTENTION_LEVELS + level != cell_place || load <= last ||
        (cell_place && load != ret->loads[load_index])) {
        return myr_doc_error(err, row, MYR_EINVAL, "this row is out of order");
    }
    ret->loads[load_index] = load;
    cell.jobs = (uint32_t)jobs;
    ret->cells[pattern][level][load_index] = cell;
    return MYR_OK;
}

/* As many rows as the table has cells: none may be missing, none twice. */
static int read_rows(const struct myr_doc *doc, struct myr_contention *ret, struct myr_err *err)
{
    const uint32_t want = MYR_CONTENTION_PATTERNS * MYR_CONTENTION_LEVELS * MYR_CONTENTION_LOADS;
    const struct myr_doc *rows;
    int rc = myr_doc_need(doc, "the table", "rows", &rows, err);
    if (rc < 0) {
        return rc;
    }
    rc = myr_doc_expect(rows, MYR_DOC_LIST, "rows", err);
    if (rc == MYR_OK && rows->count != want) {
        return myr_doc_error(err, rows, MYR_EINVAL, "%s, %u are expected",
                             MYR_COUNT(rows->count, "row"), want);
    }
    for (uint32_t i = 0; rc == MYR_OK && i < want; i++) {
        rc = myr_doc_expect(rows->items[i], MYR_DOC_MAP, "a row", err);
        if (rc < 0) {
            return rc;
        }
        rc = read_row(rows->items[i], i, ret, err);
    }
    return rc;
}

/* 'ret' is written only when all of it was good. */
static int read_table(const struct myr_doc *doc, struct myr_contention *ret, struct myr_err *err)
{
    struct myr_contention table = {};
    uint64_t version, gpus = 0, links = 0;
    uint32_t policy = 0;
    MYR_TRY(myr_doc_expect(doc, MYR_DOC_MAP, "the table", err));
    MYR_TRY(need_u64(doc, "version", CONTENTION_VERSION, CONTENTION_VERSION, &version, err));
    MYR_TRY(need_choice(doc, "policy", myr_policy_names, MYR_POLICY_COUNT, &policy, err));
    MYR_TRY(need_choice(doc, "net", myr_net_names, MYR_NET_COUNT, &table.net, err));
    MYR_TRY(need_u64(doc, "seed", 0, UINT64_MAX, &table.seed, err));
    MYR_TRY(need_u64(doc, "gpus", 1, UINT32_MAX, &gpus, err));
    MYR_TRY(need_u64(doc, "links", 1, UINT32_MAX, &links, err));
    MYR_TRY(read_rows(doc, &table, err));
    table.policy = (enum myr_policy)policy;
    table.gpus = (uint32_t)gpus;
    table.links = (uint32_t)links;
    *ret = table;
    return MYR_OK;
}

/* The text is looked at before it is parsed, so that a wrong file is named for what it is. */
int myr_contention_parse(const char *file, struct myr_str text, struct myr_contention *ret,
                         struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *doc;
    MYR_TRY(myr_kind_check(file, text, TABLE_KINDS, table_expected, err));
    myr_arena_init(&arena);
    MYR_TRY(myr_doc_read_json(&arena, file, text, &doc, err));
    return read_table(doc, ret, err);
}

int myr_contention_read(const char *path, struct myr_contention *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_kind_read(path, CONTENTION_FILE_MAX, TABLE_KINDS, table_expected, &text, err));
    struct myr_str content = {text.len ? text.data : "", text.len};
    return myr_contention_parse(path, content, ret, err);
}

/* Beside the design, whose file name is left out. */
const char *myr_contention_path(struct myr_arena *arena, const char *design)
{
    const char *slash = strrchr(design, '/');
    int folder = slash ? (int)(slash - design) + 1 : 0;
    return myr_arena_printf(arena, "%.*scontention.json", folder, design);
}
