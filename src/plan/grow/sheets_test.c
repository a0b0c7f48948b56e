/*
 * All files of a cluster that grows, as crews get them, and what is said of the growth: read back
 * and kept (tests/kept/plan-sheets.txt, plan-growth-answers.txt).
 */
#include "myriad/plan/grow.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "growths_test.h"
#include "kept.h"
#include "leaks.h"
#include "planned_test.h"

/* Writing a workbook asks for the time: the C library keeps the time zone for the whole process. */
long myr_leaks_allowed = 3;

enum { LINES_MAX = 60 };

struct grown {
    struct planned small, large;
    struct myr_growth growth;
};

static void begin(struct grown *g, const char *small, const char *large)
{
    planned_begin(&g->small, small);
    planned_begin(&g->large, large);
    if (myr_grow(&g->large.arena, &g->large.catalog, &g->small.design, &g->large.design,
                 (struct myr_grow_names){"small.yaml", "large.yaml"}, &g->growth,
                 &g->large.err) < 0) {
        fail_msg("%s", g->large.err.message);
    }
}

static void end(struct grown *g)
{
    planned_end(&g->large);
    planned_end(&g->small);
}

/* Some lines of a file, and a digest of all of it. */
static void tell_file(const char *path, const char *name, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(path, 16U << 20, &text, &err), MYR_OK);
    myr_buf_printf(told, "-- %s, %zu bytes, %016llx\n", name, text.len,
                   (unsigned long long)myr_hash_bytes(text.data, text.len));
    bool words = strncmp(name, "day-", 4) == 0 || strcmp(name, "install.csv") == 0 ||
                 strcmp(name, "moves.csv") == 0 || strcmp(name, "racks.csv") == 0;
    const char *line = text.data;
    for (uint32_t i = 0; words && i < LINES_MAX && *line; i++) {
        size_t len = strcspn(line, "\n") + 1;
        myr_buf_put(told, line, len);
        line += len;
    }
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Every file of the folder, which is taken away. */
static void tell_folder(const char *folder, struct myr_buf *told)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_type == DT_DIR) {
            tell_folder(path, told);
        } else {
            if (!strstr(path, ".xlsx")) { /* has times in it: workbook.py reads it */
                tell_file(path, entries[i]->d_name, told);
            }
            assert_int_equal(unlink(path), 0);
        }
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(rmdir(folder), 0);
}

#define SMALL                                                                                \
    "servers: 2\nserver: h100-8gpu\nprices: cn-2024-05\nnetworks: {compute: {switch: "       \
    "mqm9790-ns2f, topology: clos, leaf_down: 8, leaf_up: 4, tiers: 2}, service: , oob: }\n" \
    "room: {rows: 2, columns: 6, rack_kw: 24}\n"
#define LARGE                                                                                \
    "servers: 5\nserver: h100-8gpu\nprices: cn-2024-05\nnetworks: {compute: {switch: "       \
    "mqm9790-ns2f, topology: clos, leaf_down: 8, leaf_up: 4, tiers: 2}, service: , oob: }\n" \
    "room: {rows: 3, columns: 7, rack_kw: 24}\n"

#define DROPS(servers, metres)                                                             \
    "servers: " servers "\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, " \
    "topology: clos, leaf_down: 8, leaf_up: 4, tiers: 2}}\nroom: {rows: 2, columns: 6, "   \
    "rack_kw: 24, drop_m: " metres "}\n"

static void crews_get_their_sheets(void **state)
{
    (void)state;
    static const struct {
        const char *small, *large;
        struct myr_grow_crews crews;
    } cases[] = {
        {SMALL, LARGE, {0}},
        {SMALL, LARGE, {1, 400, 50}},
        {SMALL, LARGE, {2, 30, 4}},
        {OF("1", TORUS "[3, 2]"), OF("3", TORUS "[4, 2]"), {2, 9, 2}},
        {OF("1", TORUS "[2, 2]") PRICED, OF("1", TORUS "[3, 3]") PRICED, {3, 7, 1}},
        /* Cables of other lengths: the old ones are left over. */
        {DROPS("2", "2"), DROPS("3", "9"), {2, 30, 4}},
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct grown g;
        struct myr_grow_crews crews = cases[i].crews;
        char folder[] = "/tmp/myriad-sheets-XXXXXX", out[64];
        assert_non_null(mkdtemp(folder));
        snprintf(out, sizeof(out), "%s/out", folder);
        begin(&g, cases[i].small, cases[i].large);
        assert_int_equal(myr_grow_write(&g.growth, out, crews, &g.large.err), MYR_OK);
        myr_buf_printf(&told, "== %u crews, %u cables, %u devices a day: %u crews, %u days\n",
                       crews.crews, crews.cables_a_day, crews.devices_a_day, g.growth.crews,
                       g.growth.days);
        tell_folder(out, &told);
        assert_int_equal(rmdir(folder), 0);
        end(&g);
    }
    assert_kept("plan-sheets.txt", &told);
}

static void a_cluster_from_nothing_has_an_order_too(void **state)
{
    (void)state;
    struct planned p;
    struct myr_growth growth;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    char folder[] = "/tmp/myriad-sheets-XXXXXX", out[64];
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof(out), "%s/out", folder);
    planned_begin(&p, SMALL);
    myr_grow_from_nothing(&p.arena, &p.design, &growth);
    assert_int_equal(growth.new_cables, p.design.cable_count);
    assert_int_equal(myr_grow_write(&growth, out, (struct myr_grow_crews){2, 20, 5}, &p.err),
                     MYR_OK);
    tell_folder(out, &told);
    assert_int_equal(rmdir(folder), 0);
    planned_end(&p);
    assert_kept("plan-sheets-new.txt", &told);
}

static void a_growth_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *small, *large;
    } cases[] = {
        {SMALL, LARGE},
        {OF("64", "switch: mqm9790-ns2f") PRICED, OF("128", "switch: mqm9790-ns2f") PRICED},
        {OF("64", "switch: mqm9790-ns2f") PRICED, OF("64", "switch: mqm9790-ns2f") PRICED},
        {"servers: 4\nnetworks: {compute: {topology: clos}}\n",
         "servers: 9\nnetworks: {compute: {topology: clos}, oob: }\n"},
        {OF("8", TORUS "[4, 4]"), OF("16", TORUS "[8, 4]")},
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct grown g;
        struct myr_answer answer, phase;
        struct myr_answer_form form = {.format = MYR_FORMAT_WIDE, .width = 100};
        begin(&g, cases[i].small, cases[i].large);
        myr_answer_init(&answer, &g.large.arena, "myriad.plan.grow", 1);
        myr_grow_answer(&g.growth, &answer);
        myr_buf_printf(&told, "== %sto %s", cases[i].small, cases[i].large);
        for (const struct myr_value *v = answer.root.first; v; v = v->next) {
            if (strcmp(v->key, "moves") != 0) {
                planned_tell(v, v->key, &told);
            }
        }
        assert_int_equal(myr_answer_write(&answer, &form, &told, &g.large.err), MYR_OK);
        myr_answer_init(&phase, &g.large.arena, "myriad.plan", 1);
        myr_grow_phase(&g.growth, &phase);
        planned_tell(&phase.root, "phase", &told);
        myr_buf_printf(&told, "priced: %d\n", myr_grow_is_priced(&g.growth));
        end(&g);
    }
    assert_kept("plan-growth-answers.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crews_get_their_sheets),
        cmocka_unit_test(a_cluster_from_nothing_has_an_order_too),
        cmocka_unit_test(a_growth_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
