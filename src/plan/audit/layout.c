/*
 * Reading a layout: what stands in which rack. Two kinds of file: a table of rack, item and count
 * as people write it, and the racks.csv of a plan, whose names tell network and tier.
 */
#include "audit/audit.h"

enum column { RACK, ITEM, COUNT, COLUMN_COUNT };

static const char *const *const column_words[COLUMN_COUNT] = {
    [RACK] = (const char *const[]){"rack", "position", "cabinet", "机柜", "位置", NULL},
    [ITEM] = (const char *const[]){"item", "part", "device", "设备", "内容", "型号", NULL},
    [COUNT] = (const char *const[]){"count", "quantity", "qty", "数量", NULL},
};

/* Columns of a layout; 'name' is the device's in racks.csv of a plan, whose rows are one device. */
struct columns {
    int at[COLUMN_COUNT];
    int name; /* below 0: a layout of rack, item and count */
};

/* By its exact name: the planner's own header is known. */
static int field_named(const struct myr_csv *csv, const char *name)
{
    for (uint32_t i = 0; i < csv->count; i++) {
        if (myr_str_eq(audit_trim(myr_csv_text(csv->fields[i])), myr_str_from(name))) {
            return (int)i;
        }
    }
    return -1;
}

/* The file that the planner itself writes: what it calls item is a device, the part has a column.
 */
static bool is_plans_own(const struct myr_csv *csv, struct columns *columns)
{
    int rack = field_named(csv, "rack"), item = field_named(csv, "item");
    int part = field_named(csv, "part");
    if (rack < 0 || item < 0 || part < 0 || field_named(csv, "u") < 0 ||
        field_named(csv, "count") >= 0) {
        return false;
    }
    *columns = (struct columns){{rack, part, -1}, item};
    return true;
}

/* The header is the first row; a layout has no title above it. */
static int read_header(struct myr_csv *csv, struct columns *ret, struct myr_err *err)
{
    int rc = myr_csv_header(csv, err);
    int *columns = ret->at;
    MYR_TRY(rc);
    if (rc > 0 && is_plans_own(csv, ret)) {
        return MYR_OK;
    }
    ret->name = -1;
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        columns[i] = -1;
    }
    for (uint32_t i = 0; rc > 0 && i < csv->count; i++) {
        int column = audit_column(myr_csv_text(csv->fields[i]), column_words, COLUMN_COUNT);
        if (column >= 0 && columns[column] >= 0) {
            return myr_csv_error(err, csv, i, "two columns for '%s'", column_words[column][0]);
        }
        if (column >= 0) {
            columns[column] = (int)i;
        }
    }
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        if (columns[i] < 0) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s:1:1: the header lacks '%s'; 'rack,item,count' is expected",
                               csv->file, column_words[i][0]);
        }
    }
    return MYR_OK;
}

/* An empty cell is one device. */
static int read_count(struct myr_csv *csv, uint32_t column, uint64_t *ret, struct myr_err *err)
{
    struct myr_str text =
        column < csv->count ? audit_trim(myr_csv_text(csv->fields[column])) : MYR_STR("");
    double value = 1;
    if (text.len > 0 &&
        (!audit_number(text, &value) || value > 1e6 || value != (double)(uint64_t)value)) {
        char shown[MYR_EXCERPT_MAX];
        return myr_csv_error(err, csv, column,
                             "'count' is '%s', a whole number from 0 to 1,000,000 is expected",
                             myr_text_excerpt(text, shown));
    }
    *ret = (uint64_t)value;
    return MYR_OK;
}

/*
 * Rows of one kind make one line: a hall has thousands of racks and few kinds of device. The match
 * then has few lines, however large the hall is.
 */
static void join(struct audit *audit, const struct audit_line *line)
{
    for (size_t i = 0; i < audit->lines.count; i++) {
        struct audit_line *old = &audit->lines.items[i];
        if (old->part == line->part && old->role == line->role && old->says.net == line->says.net &&
            old->says.tier == line->says.tier &&
            (line->role != AUDIT_UNKNOWN || strcmp(old->shown, line->shown) == 0)) {
            old->quantity += line->quantity;
            return;
        }
    }
    if (audit->lines.count < MYR_AUDIT_LINES_MAX) { /* more kinds than that are no kinds */
        myr_vec_push(&audit->lines, *line);
    }
}

/* False when the text is the word alone: something must follow. */
static bool begins(struct myr_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len > len && memcmp(text.data, word, len) == 0;
}

/*
 * What a device's own name says: "leaf/storage-p0-3" is a leaf of storage; one that names no
 * network is of compute. The nodes of a server have a row each: the first stands for it.
 */
static void read_name(const struct audit *audit, struct myr_str name, struct audit_line *line)
{
    static const struct {
        const char *word;
        enum audit_tier tier;
    } tiers[] = {{"leaf/", AUDIT_TIER_LEAF},
                 {"router/", AUDIT_TIER_LEAF},
                 {"spine/", AUDIT_TIER_SPINE},
                 {"core/", AUDIT_TIER_CORE}};
    line->quantity = 1;
    line->says.net = AUDIT_ANY_NET;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(tiers); i++) {
        if (begins(name, tiers[i].word)) {
            uint32_t net = audit_words_system(name);
            line->says.tier = tiers[i].tier;
            line->says.net = net < MYR_NET_COUNT ? net : MYR_NET_COMPUTE;
        }
    }
    if (begins(name, "access/") || begins(name, "agg/")) {
        uint32_t net = audit_words_system(name);
        line->says.net = net < MYR_NET_COUNT ? net : AUDIT_ANY_NET;
        if (line->role == AUDIT_ETHERNET) {
            line->role = begins(name, "access/") ? AUDIT_ACCESS : AUDIT_AGGREGATION;
        }
    }
    /* Behind "node/"; of other names this is a number without meaning, and is not used. */
    uint64_t number = 0;
    /* Ten digits at most: a number of 32 bits. */
    for (size_t i = 5; i < name.len && i < 15; i++) {
        number = number * 10 + (uint64_t)(name.data[i] - '0');
    }
    if (begins(name, "node/") && line->part != MYR_PART_NONE &&
        audit_part(audit, line->part)->kind == MYR_PART_SERVER) {
        /* The nodes of one server have neighbouring numbers. */
        line->quantity = number % audit_part(audit, line->part)->server.nodes == 0;
    }
}

/* 'rack_above' is carried on for cells that were merged. */
static int read_row(struct audit *audit, struct myr_csv *csv, const struct columns *where,
                    struct myr_str *rack_above, struct myr_err *err)
{
    const int *columns = where->at;
    struct myr_str rack = (uint32_t)columns[RACK] < csv->count
                              ? audit_trim(myr_csv_text(csv->fields[columns[RACK]]))
                              : MYR_STR("");
    struct myr_str item = (uint32_t)columns[ITEM] < csv->count
                              ? audit_trim(myr_csv_text(csv->fields[columns[ITEM]]))
                              : MYR_STR("");
    struct audit_line line = {.unit_price = -1, .total = -1};
    if (rack.len == 0) { /* a merged cell */
        rack = *rack_above;
    } else {
        *rack_above = rack;
    }
    if (item.len == 0) {
        return MYR_OK; /* an empty rack */
    }
    if (rack.len == 0) {
        return myr_csv_error(err, csv, (uint32_t)columns[ITEM], "the row names no rack");
    }
    if (where->name < 0) {
        MYR_TRY(read_count(csv, (uint32_t)columns[COUNT], &line.quantity, err));
    }
    line.where = myr_arena_printf(audit->arena, "%s:%u", csv->file, csv->line);
    line.shown = myr_arena_strndup(audit->arena, item.data, item.len);
    line.rack = myr_arena_strndup(audit->arena, rack.data, rack.len);
    uint32_t net = audit_words_system(item);
    /* In a layout there are no systems: other words are no network, and no bar to any. */
    line.says.net = net == AUDIT_NO_NET ? AUDIT_ANY_NET : net;
    audit_line_finish(audit, &line, item);
    /* Only then: digits belong to most parts. */
    if (line.part == MYR_PART_NONE && line.role == AUDIT_UNKNOWN) { /* "GPU019" */
        while (item.len > 0 && item.data[item.len - 1] >= '0' && item.data[item.len - 1] <= '9') {
            item.len--;
        }
        audit_line_finish(audit, &line, item);
    }
    if (where->name >= 0 && (uint32_t)where->name < csv->count) {
        read_name(audit, audit_trim(myr_csv_text(csv->fields[where->name])), &line);
    }
    /* Row by row for the power of racks, joined for the match. */
    myr_vec_push(&audit->placed, line);
    join(audit, &line);
    return MYR_OK;
}

int audit_read_layout(struct audit *audit, const char *file, struct myr_str text,
                      struct myr_err *err)
{
    enum { ROWS_MAX = 2000000 };
    struct myr_csv csv;
    MYR_CLEANUP(myr_strmap_done) struct myr_strmap racks = {};
    struct columns columns;
    struct myr_str rack = {"", 0};
    myr_csv_init(&csv, audit->arena, file, text);
    MYR_TRY(read_header(&csv, &columns, err));
    for (;;) {
        int rc = myr_csv_next(&csv, err);
        MYR_TRY(rc);
        if (rc == 0) {
            break;
        }
        MYR_TRY(read_row(audit, &csv, &columns, &rack, err));
        /* A rack may come back: what is no device of a network stands at the end of racks.csv. */
        if (rack.len > 0 && myr_strmap_get(&racks, rack) == MYR_MAP_NONE) {
            myr_strmap_add(
                &racks,
                (struct myr_str){myr_arena_strndup(audit->arena, rack.data, rack.len), rack.len},
                audit->out->racks++);
        }
        if (audit->placed.count > ROWS_MAX) {
            return myr_csv_error(err, &csv, 0, "more than %d rows", ROWS_MAX);
        }
    }
    return audit->lines.count
               ? MYR_OK
               : myr_err_set(err, MYR_EINVAL, "%s:1:1: nothing stands in any rack", file);
}
