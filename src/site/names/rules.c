#include "myr_site_port_names.h"
#include "myriad/site/port_names.h"
#include "myriad/text.h"
#include "names/reading.h"

/* The rows of catalog/port-names.csv, and of files like it. */

enum { RULES_MAX = 4096, FILE_BYTES_MAX = 1 << 20 };

/* 'when' and all from 'example' on may be missing from a file. */
enum column { PLATFORM, OS, PATTERN, WHEN, CAGE, LANE, EXAMPLE, AT, PORTS, COLUMN_COUNT };

static const char *const headers[COLUMN_COUNT] = {"platform", "os",      "pattern", "when", "cage",
                                                  "lane",     "example", "at",      "ports"};

/* 'at' is where each column stands in this file, MYR_NONE where it is not there. */
struct rule_reader {
    struct myr_port_names *names;
    struct myr_arena *arena;
    struct myr_csv csv;
    uint32_t at[COLUMN_COUNT];
    uint32_t field_count; /* of the header: all rows have as many */
};

static struct myr_str keep(struct myr_arena *arena, struct myr_str text)
{
    return (struct myr_str){myr_arena_strndup(arena, text.data, text.len), text.len};
}

static struct myr_str field(const struct rule_reader *r, enum column column)
{
    uint32_t at = r->at[column];
    return at == MYR_NONE ? MYR_STR("") : r->csv.fields[at];
}

/* Columns in any order; others than these are left alone. */
static int read_header(struct rule_reader *r, struct myr_err *err)
{
    int rc = myr_csv_next(&r->csv, err);
    MYR_TRY(rc);
    if (rc == 0) {
        struct myr_doc place = {.file = r->csv.file, .line = 1, .column = 1};
        return myr_doc_error(err, &place, MYR_EINVAL, "the file is empty");
    }
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        r->at[c] = MYR_NONE;
        for (uint32_t f = 0; f < r->csv.count; f++) {
            r->at[c] = myr_str_eq_nocase(r->csv.fields[f], myr_str_from(headers[c])) ? f : r->at[c];
        }
        /* The others only explain the rule. */
        if (r->at[c] == MYR_NONE && c <= LANE && c != WHEN) {
            return myr_csv_error(err, &r->csv, 0, "a list of port names has a column '%s'",
                                 headers[c]);
        }
    }
    r->field_count = r->csv.count;
    return MYR_OK;
}

/* Systems are numbered as they are met; readings of a name are kept by these numbers. */
static int system_of(struct rule_reader *r, struct myr_str name, uint32_t *ret, struct myr_err *err)
{
    struct myr_port_names *names = r->names;
    for (uint32_t i = 0; i < names->systems.count; i++) {
        if (myr_str_eq_nocase(names->systems.items[i], name)) {
            *ret = i;
            return MYR_OK;
        }
    }
    /* Systems are bits of a mask. */
    if (names->systems.count == MYR_PORT_SYSTEMS_MAX) {
        return myr_csv_error(err, &r->csv, r->at[OS], "more than %u systems", MYR_PORT_SYSTEMS_MAX);
    }
    *ret = (uint32_t)names->systems.count;
    myr_vec_push(&names->systems, keep(r->arena, name));
    return MYR_OK;
}

/* When the file is read, not when a name is: a mistake is told with its place. */
static int check_rule(struct rule_reader *r, const struct myr_name_rule *rule, struct myr_err *err)
{
    static const enum column columns[] = {WHEN, CAGE, LANE};
    const struct myr_str texts[] = {rule->when, rule->cage, rule->lane};
    const char *fault = reading_pattern_fault(rule->pattern);
    if (fault) {
        return myr_csv_error(err, &r->csv, r->at[PATTERN], "pattern: %s", fault);
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        /* Only 'when' may be empty: the rule then always holds. */
        fault = texts[i].len         ? reading_expr_fault(texts[i])
                : columns[i] == WHEN ? NULL
                                     : "it is empty";
        if (fault) {
            return myr_csv_error(err, &r->csv, r->at[columns[i]], "%s: %s", headers[columns[i]],
                                 fault);
        }
    }
    return MYR_OK;
}

/* All texts are kept: the file's own memory goes. */
static int read_rule(struct rule_reader *r, struct myr_err *err)
{
    struct myr_name_rule rule = {.platform = keep(r->arena, field(r, PLATFORM)),
                                 .pattern = keep(r->arena, field(r, PATTERN)),
                                 .when = keep(r->arena, field(r, WHEN)),
                                 .cage = keep(r->arena, field(r, CAGE)),
                                 .lane = keep(r->arena, field(r, LANE)),
                                 .example = keep(r->arena, field(r, EXAMPLE)),
                                 .at = keep(r->arena, field(r, AT)),
                                 .ports = keep(r->arena, field(r, PORTS))};
    MYR_TRY(system_of(r, field(r, OS), &rule.system, err));
    MYR_TRY(check_rule(r, &rule, err));
    if (r->names->rules.count == RULES_MAX) {
        return myr_csv_error(err, &r->csv, 0, "more than %u rules", RULES_MAX);
    }
    myr_vec_push(&r->names->rules, rule);
    return MYR_OK;
}

/* Rules add up: later ones are asked first. */
int myr_port_names_add_text(struct myr_port_names *names, struct myr_arena *arena, const char *file,
                            struct myr_str text, struct myr_err *err)
{
    struct rule_reader r = {.names = names, .arena = arena};
    int rc;
    myr_csv_init(&r.csv, arena, file, text);
    MYR_TRY(read_header(&r, err));
    while ((rc = myr_csv_next(&r.csv, err)) > 0) {
        /* A comma too many would shift all that follows. */
        if (r.csv.count != r.field_count) {
            return myr_csv_error(err, &r.csv, r.csv.count - 1,
                                 "the row has %u fields, the header %u", r.csv.count,
                                 r.field_count);
        }
        MYR_TRY(read_rule(&r, err));
    }
    return rc;
}

int myr_port_names_add_file(struct myr_port_names *names, struct myr_arena *arena, const char *path,
                            struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(
        myr_kind_read(path, FILE_BYTES_MAX, MYR_KIND_BIT(CSV), "a list of port names", &text, err));
    return myr_port_names_add_text(names, arena, myr_file_name(path),
                                   (struct myr_str){text.data, text.len}, err);
}

/* System 0 is the design's own spelling. */
int myr_port_names_init(struct myr_port_names *names, struct myr_arena *arena, struct myr_err *err)
{
    *names = (struct myr_port_names){};
    myr_vec_push(&names->systems, MYR_STR("own"));
    const struct myr_embedded *file = &myr_site_port_names[0];
    struct myr_str text = {(const char *)file->data, file->size};
    return myr_port_names_add_text(names, arena, file->name, text, err);
}

void myr_port_names_done(struct myr_port_names *names)
{
    myr_vec_done(&names->rules);
    myr_vec_done(&names->systems);
}
