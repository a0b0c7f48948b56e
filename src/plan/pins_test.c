/*
 * Every module, cable and card of the catalogue, pinned where the rules would choose one: what is
 * refused and what is found is kept in words, with PART for the part that was tried, and how often;
 * the bills that come of it as a digest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "planned_test.h"

static const struct {
    const char *key;
    enum myr_part_kind kind;
} pins[] = {
    {"switch_optic", MYR_PART_TRANSCEIVER}, {"nic_optic", MYR_PART_TRANSCEIVER},
    {"fabric_optic", MYR_PART_TRANSCEIVER}, {"host_cable", MYR_PART_CABLE},
    {"fabric_cable", MYR_PART_CABLE},       {"nic", MYR_PART_NIC},
};

/* How a spec begins; the pin and the end of the map follow. */
static const char *const specs[] = {
    "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 4",
    ("servers: 3\nserver: h100-8gpu-2x200\nnetworks: {compute: {switch: sn5600, leaf_down: 8, "
     "leaf_up: 4, uplink_gbps: 800, length_m: {host_leaf: 30, leaf_spine: 2}"),
    "servers: 4\nserver: b300-8gpu-xdr\nnetworks: {compute: {switch: q3400, tiers: 2",
    "servers: 4\nserver: a100-8gpu\nnetworks: {compute: {switch: qm8790, length_m: 5",
    "servers: 4\nnetworks: {compute: , service: {length_m: 30",
};

enum { LINES_MAX = 512, CABLES_EVERY = 3 };

struct told {
    struct myr_arena arena;
    struct {
        const char *text;
        uint32_t times;
    } lines[LINES_MAX];
    uint32_t count;
    uint64_t bills;
};

/* Counts a line, in which the part tried has no name of its own. */
static void tell(struct told *told, const char *line, const char *part)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    for (const char *at; (at = strcasestr(line, part)) != NULL; line = at + strlen(part)) {
        myr_buf_put(&buf, line, (size_t)(at - line));
        myr_buf_put_lit(&buf, "PART");
    }
    myr_buf_puts(&buf, line);
    for (uint32_t i = 0; i < told->count; i++) {
        if (strcmp(told->lines[i].text, buf.data) == 0) {
            told->lines[i].times++;
            return;
        }
    }
    assert_true(told->count < LINES_MAX);
    told->lines[told->count].text = myr_arena_printf(&told->arena, "%s", buf.data);
    told->lines[told->count++].times = 1;
}

static void tell_plan(struct told *told, const struct myr_design *design, const char *part)
{
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        const char *rule = myr_design_str(design, finding->rule);
        if (strcmp(rule, "unpriced") == 0) {
            continue; /* lists the bill, which is told apart */
        }
        const char *line = myr_arena_printf(&told->arena, "%s: %s (%s)", rule,
                                            myr_design_str(design, finding->message),
                                            myr_design_str(design, finding->remedy));
        tell(told, line, part);
    }
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        for (const char *c = myr_design_str(design, row->part); *c; c++) {
            told->bills = myr_hash_u64(told->bills + (unsigned char)*c);
        }
        told->bills = myr_hash_u64(told->bills + row->quantity);
    }
}

static void try_pin(struct told *told, const struct myr_catalog *catalog, const char *text,
                    const char *part)
{
    struct myr_arena arena;
    struct myr_spec spec = {};
    struct myr_design design = {};
    struct myr_err err = {};
    const struct myr_doc *doc;
    myr_arena_init(&arena);
    assert_int_equal(myr_doc_read_yaml(&arena, "test", myr_str_from(text), &doc, &err), MYR_OK);
    if (myr_spec_read(&arena, catalog, doc, &spec, &err) < 0 ||
        myr_plan(&arena, catalog, &spec, &design, &err) < 0) {
        tell(told, myr_arena_printf(&told->arena, "refused: %s (%s)", err.message, err.hint), part);
    } else {
        tell_plan(told, &design, part);
    }
    myr_spec_done(&spec);
    myr_arena_done(&arena);
}

static void try_parts(const struct myr_catalog *catalog, const char *spec, size_t pin,
                      struct myr_buf *ret)
{
    struct told *told = myr_xrealloc(NULL, 1, sizeof(*told));
    uint32_t tried = 0, cables = 0;
    *told = (struct told){};
    myr_arena_init(&told->arena);
    for (size_t i = 0; i < catalog->parts.count; i++) {
        const struct myr_part *part = &catalog->parts.items[i];
        /* Cables of one kind differ in their length alone: some of them will do. */
        bool skip = part->kind == MYR_PART_CABLE && cables++ % CABLES_EVERY;
        if (part->kind == pins[pin].kind && !skip) {
            const char *text = myr_arena_printf(&told->arena, "%s, pin: {%s: %s}}}\n", spec,
                                                pins[pin].key, part->id);
            try_pin(told, catalog, text, part->id);
            tried++;
        }
    }
    myr_buf_printf(ret, "%s: %u parts, bills %016llx\n", pins[pin].key, tried,
                   (unsigned long long)told->bills);
    for (uint32_t i = 0; i < told->count; i++) {
        myr_buf_printf(ret, "  %4u %s\n", told->lines[i].times, told->lines[i].text);
    }
    myr_arena_done(&told->arena);
    free(told);
}

static void what_comes_of_every_pinned_part_is_kept(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_err err;
    myr_arena_init(&arena);
    assert_int_equal(myr_catalog_init(&catalog, &arena, &err), MYR_OK);
    for (size_t s = 0; s < MYR_ARRAY_COUNT(specs); s++) {
        myr_buf_printf(&told, "== %s\n", specs[s]);
        for (size_t pin = 0; pin < MYR_ARRAY_COUNT(pins); pin++) {
            try_parts(&catalog, specs[s], pin, &told);
        }
    }
    myr_catalog_done(&catalog);
    myr_arena_done(&arena);
    assert_kept("plan-pins.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_of_every_pinned_part_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
