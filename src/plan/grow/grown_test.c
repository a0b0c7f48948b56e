/*
 * Growth at its corners: in rooms, where ends are not chosen; of splitters, of which legs hang
 * loose; of pods that are cut anew below a third tier; with the bill of the years behind it. All
 * that is said of each is kept in plain words, with every move, every new name and the order of the
 * work (tests/kept/plan-grown.txt).
 */
#include "myriad/plan/grow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "grow/install.h"
#include "growths_test.h"
#include "kept.h"
#include "planned_test.h"

enum { ROWS_MAX = 40 };

struct grown {
    struct planned small, large;
    struct myr_growth growth;
};

static void plan(struct planned *p, const char *text)
{
    const struct myr_doc *doc;
    *p = (struct planned){};
    myr_arena_init(&p->arena);
    assert_int_equal(myr_catalog_init(&p->catalog, &p->arena, &p->err), MYR_OK);
    assert_int_equal(myr_doc_read_yaml(&p->arena, "tiny", myr_str_from(TINY), &doc, &p->err), 0);
    assert_int_equal(myr_catalog_add(&p->catalog, doc, &p->err), MYR_OK);
    if (myr_doc_read_yaml(&p->arena, "spec", myr_str_from(text), &doc, &p->err) < 0 ||
        myr_spec_read(&p->arena, &p->catalog, doc, &p->spec, &p->err) < 0 ||
        myr_plan(&p->arena, &p->catalog, &p->spec, &p->design, &p->err) < 0) {
        fail_msg("%s", p->err.message);
    }
}

static void end(struct grown *g)
{
    planned_end(&g->large);
    planned_end(&g->small);
}

/* Devices that are new, with the ids and names they get; a few of those that are called otherwise
 * than their place. */
static void tell_names(const struct myr_growth *growth, struct myr_buf *told)
{
    const struct myr_design *now = &growth->grown;
    uint32_t rows = 0;
    myr_buf_puts(told, "  new:");
    for (uint32_t i = 0; i < now->device_count && rows < ROWS_MAX; i++) {
        if (growth->from[i] == MYR_NONE) {
            myr_buf_printf(told, " %u=", myr_design_device_id(now, i));
            myr_design_name(now, i, told);
            rows++;
        }
    }
    myr_buf_puts(told, "\n");
}

static void tell_tasks(struct grown *g, struct myr_grow_crews crews, struct myr_buf *told)
{
    const struct myr_design *now = &g->growth.grown;
    struct install install;
    install_plan(&g->growth, crews, &g->large.arena, &install);
    uint64_t last = 0;
    uint32_t counts[INSTALL_PULL + 1] = {};
    for (uint32_t i = 0; i < install.count; i++) {
        const struct install_task *task = &install.tasks[i];
        counts[task->action]++;
        assert_true(task->start_s >= last && task->end_s > task->start_s);
        assert_true(task->crew < (crews.crews ? crews.crews : 1));
        last = task->start_s;
        if (i < ROWS_MAX) {
            myr_buf_printf(told, "  %llu to %llu, crew %u: %s ", (unsigned long long)task->start_s,
                           (unsigned long long)task->end_s, task->crew,
                           install_action_names[task->action]);
            if (task->action == INSTALL_STAND) {
                myr_design_name(now, task->what, told);
            } else {
                myr_buf_printf(told, "%u", task->what);
            }
            myr_buf_puts(told, "\n");
        }
    }
    myr_buf_printf(told, "  %u tasks in %u days:", install.count, install.days);
    for (uint32_t i = 0; i <= INSTALL_PULL; i++) {
        myr_buf_printf(told, " %u %s", counts[i], install_action_names[i]);
    }
    myr_buf_puts(told, "\n");
    g->growth.crews = crews.crews;
    g->growth.days = install.days;
}

/* Lines of the bill that are not those of the plan, and what is counted of each network. */
static void tell_counts(const struct grown *g, struct myr_buf *told)
{
    const struct myr_design *now = &g->growth.grown, *plan = &g->large.design;
    for (uint32_t i = 0; i < now->bom_count; i++) {
        const struct myr_bom_row *row = &now->bom[i], *was = &plan->bom[i];
        if (row->quantity != was->quantity) {
            myr_buf_printf(told, "  bill %s, %s: %llu for %llu, %lld at %lld, by %s\n",
                           myr_design_str(now, row->name), myr_design_str(now, row->part),
                           (unsigned long long)row->quantity, (unsigned long long)was->quantity,
                           (long long)row->total_cents, (long long)row->unit_cents,
                           myr_design_str(now, row->inputs));
        }
    }
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &now->networks[id];
        if (net->topology) {
            myr_buf_printf(told, "  %s: worst pair %llu Gb/s, links", myr_net_names[id],
                           (unsigned long long)net->worst_pair_gbps);
            for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
                myr_buf_printf(told, " %u", net->links[layer]);
            }
            myr_buf_puts(told, "\n");
        }
    }
    myr_buf_printf(told, "  all of it %lld, planned %lld\n", (long long)now->head->total_cents,
                   (long long)plan->head->total_cents);
}

/* Networks and layers in which nothing moves are left out. */
static void tell_value(const struct myr_value *value, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf all = {};
    planned_tell(value, value->key, &all);
    for (const char *line = all.data; line && *line;) {
        size_t len = strcspn(line, "\n") + 1;
        const char *by = strstr(line, "_by_network");
        if (!by || by > line + len || strncmp(line + len - 4, ": 0", 3) != 0) {
            myr_buf_put(told, line, len);
        }
        line += len;
    }
}

/* The answer without its longest lists, whose first rows stand for all of them. */
static void tell_answer(struct grown *g, struct myr_buf *told)
{
    struct myr_answer answer;
    struct myr_answer_form form = {.format = MYR_FORMAT_WIDE, .width = 100};
    myr_answer_init(&answer, &g->large.arena, "myriad.plan.grow", 1);
    myr_grow_answer(&g->growth, &answer);
    for (const struct myr_value *v = answer.root.first; v; v = v->next) {
        if (strcmp(v->key, "moves") != 0) {
            tell_value(v, told);
            continue;
        }
        uint32_t rows = 0;
        for (const struct myr_value *move = v->first; move && rows < ROWS_MAX; move = move->next) {
            myr_buf_puts(told, "  move");
            for (const struct myr_value *field = move->first; field; field = field->next) {
                bool null = field->kind == MYR_VALUE_NULL;
                myr_buf_printf(told, " %.*s", null ? 1 : (int)field->text.len,
                               null ? "-" : field->text.data);
            }
            myr_buf_puts(told, "\n");
            rows++;
        }
    }
    /* The page, up to its tables. */
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    assert_int_equal(myr_answer_write(&answer, &form, &page, &g->large.err), MYR_OK);
    const char *table = strstr(page.data, "\n\n");
    myr_buf_put(told, page.data, table ? (size_t)(table - page.data) + 1 : page.len);
    for (uint32_t i = 0; i < g->growth.grown.figure_count; i++) {
        const struct myr_figure *figure = &g->growth.grown.figures[i];
        const char *path = myr_design_str(&g->growth.grown, figure->path);
        if (strcmp(path, "power.energy.cost_of_years") == 0) {
            myr_buf_printf(told, "  %s: %.2f = %s\n", path, figure->value,
                           myr_design_str(&g->growth.grown, figure->inputs));
        }
    }
}

static void tell(const char *small, const char *large, struct myr_grow_crews crews,
                 struct myr_buf *told)
{
    struct grown g = {};
    plan(&g.small, small);
    plan(&g.large, large);
    myr_buf_printf(told, "== %sto %s", small, large);
    if (myr_grow(&g.large.arena, &g.large.catalog, &g.small.design, &g.large.design,
                 (struct myr_grow_names){"small.yaml", "large.yaml"}, &g.growth,
                 &g.large.err) < 0) {
        myr_buf_printf(told, "  refused: %s (%s)\n", g.large.err.message, g.large.err.hint);
        end(&g);
        return;
    }
    assert_int_equal(myr_design_check(&g.growth.grown, "grown", &g.large.err), MYR_OK);
    tell_names(&g.growth, told);
    tell_counts(&g, told);
    tell_tasks(&g, crews, told);
    tell_answer(&g, told);
    end(&g);
}

#define ROOM(rows, columns, more) \
    "room: {rows: " rows ", columns: " columns ", rack_kw: 30" more "}\n"
#define ONE(servers, keys) \
    "servers: " servers "\nserver: generic-1gpu\nnetworks: {compute: {" keys "}}\n"
#define CLOS(servers, keys)                                                          \
    "servers: " servers "\nserver: h100-8gpu\nnetworks: {compute: {topology: clos, " \
    "switch: mqm9790-ns2f" keys "}}\n"
#define ENERGY "facility: {energy: {tariff_per_kwh: 0.6, currency: CNY, years: 3}}\n"
#define DRAGON_ROOM                                                                 \
    "topology: dragonfly, switch: tiny16, group_switches: 2, hosts_per_switch: 2, " \
    "global_ports: 2"

#define FEE(price)                                                                         \
    "items: [{part: firewall}, {part: bastion, quantity: 2}]\nprices: {book: cn-2024-05, " \
    "parts: {firewall: " price "}}\n"
#define PLANAR(servers, pod)                                                                \
    "servers: " servers "\nserver: b300-8gpu\nnetworks: {compute: {topology: twin-planar, " \
    "switch: sn5600, tiers: 3, leaf_down: 8, leaf_up: 8, pod_leaves: " pod "}}\n"

static const struct {
    const char *small, *large;
    struct myr_grow_crews crews;
} cases[] = {
    /* In a room nothing is proved of links between groups and of dense fills. */
    {ONE("8", DRAGON_ROOM) ROOM("2", "3", ""),
     ONE("20", DRAGON_ROOM) ROOM("2", "5", ""),
     {2, 9, 3}},
    {ONE("7", "topology: clos, switch: tiny6, fill: dense") ROOM("2", "3", ""),
     ONE("11", "topology: clos, switch: tiny6, fill: dense") ROOM("2", "3", ""),
     {1, 9, 3}},
    {"servers: 2\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}, oob: {topology: "
     "access, homes: 1, access_switch: tiny-access, aggregation_switch: tiny-above}}\n" ROOM(
         "2", "2", ""),
     "servers: 5\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}, oob: {topology: "
     "access, homes: 1, access_switch: tiny-access, aggregation_switch: tiny-above}}\n" ROOM(
         "2", "3", ""),
     {1, 20, 4}},
    /* The room comes later, or is another: cables of other lengths are left over. */
    {CLOS("2", ", leaf_down: 8, leaf_up: 4"),
     CLOS("4", ", leaf_down: 8, leaf_up: 4") ROOM("2", "3", ""),
     {2, 20, 4}},
    {CLOS("2", ", leaf_down: 8, leaf_up: 4") ROOM("2", "2", ""),
     CLOS("4", ", leaf_down: 8, leaf_up: 4") ROOM("2", "3", ", drop_m: 9"),
     {2, 20, 4}},
    /* Splitters, of which legs hang loose before, and cages that are divided. */
    {CLOS("3", ", nic_gbps: 200, leaf_down: 24, leaf_up: 8"),
     CLOS("5", ", nic_gbps: 200, leaf_down: 24, leaf_up: 8"),
     {2, 10, 4}},
    {"servers: 1\nserver: h100-8gpu-2x200\nnetworks: {compute: {topology: clos, switch: "
     "mqm9790-ns2f, leaf_down: 12, leaf_up: 6}}\n",
     "servers: 3\nserver: h100-8gpu-2x200\nnetworks: {compute: {topology: clos, switch: "
     "mqm9790-ns2f, leaf_down: 12, leaf_up: 6}}\n",
     {2, 10, 4}},
    {ONE("5", "topology: clos, switch: tiny6, nic_gbps: 200"),
     ONE("14", "topology: clos, switch: tiny6, nic_gbps: 200"),
     {3, 10, 4}},
    /* A third tier, and pods that are larger than before. */
    {ONE("8", "topology: clos, switch: tiny4, tiers: 3"),
     ONE("11", "topology: clos, switch: tiny4, tiers: 3"),
     {2, 10, 4}},
    {ONE("12", "topology: clos, switch: tiny8, tiers: 2"),
     ONE("40", "topology: clos, switch: tiny8, tiers: 3"),
     {2, 30, 9}},
    {ONE("12", "topology: clos, switch: tiny8, tiers: 3, pod_leaves: 2"),
     ONE("30", "topology: clos, switch: tiny8, tiers: 3, pod_leaves: 4"),
     {4, 30, 9}},
    /* What is paid over the years follows the bill. */
    {CLOS("7", ", leaf_down: 5, leaf_up: 5") PRICED ENERGY,
     CLOS("8", ", leaf_down: 5, leaf_up: 5") PRICED ENERGY,
     {4, 300, 50}},
    {CLOS("15", ", fill: dense") PRICED ENERGY,
     CLOS("19", ", fill: dense") PRICED ENERGY,
     {4, 300, 50}},
    {CLOS("3", ", nic_gbps: 200, leaf_down: 10, leaf_up: 5") PRICED ENERGY,
     CLOS("7", ", nic_gbps: 200, leaf_down: 10, leaf_up: 5") PRICED ENERGY,
     {4, 300, 50}},
    /* Planes are cut anew each by itself. */
    {ONE("12", "topology: clos, switch: tiny8, tiers: 2, planes: 2, nic_gbps: 200"),
     ONE("40", "topology: clos, switch: tiny8, tiers: 3, planes: 2, nic_gbps: 200"),
     {2, 30, 9}},
    {PLANAR("6", "8"), PLANAR("14", "16"), {2, 300, 50}},
    {ONE("9", "topology: clos, switch: tiny8, tiers: 3, fill: dense"),
     ONE("21", "topology: clos, switch: tiny8, tiers: 3, fill: dense"),
     {2, 30, 9}},
    /* As many as before, at another price. */
    {CLOS("2", "") FEE("100"), CLOS("3", "") FEE("150.5"), {1, 99, 9}},
    /* What cannot be. */
    {GROUPS(GROUP("a", "3", "h100-8gpu")),
     GROUPS(GROUP("c", "2", "mi300x-8gpu") GROUP("a", "3", "h100-8gpu")),
     {1, 9, 9}},
    {OF("4", "") PRICED, OF("5", ""), {1, 9, 9}},
};

static void growth_at_its_corners_is_told(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        tell(cases[i].small, cases[i].large, cases[i].crews, &told);
    }
    assert_kept("plan-grown.txt", &told);
}

/* What ends in .myr is read as it stands, be it the smaller or the larger one. */
static void designs_are_read_from_their_files(void **state)
{
    (void)state;
    struct planned p;
    struct myr_design read[2] = {};
    char path[] = "/tmp/myriad-grown-XXXXXX", file[64];
    close(mkstemp(path));
    snprintf(file, sizeof(file), "%s.myr", path);
    plan(&p, CLOS("2", ""));
    assert_int_equal(myr_design_write(&p.design, file, &p.err), MYR_OK);
    assert_int_equal(myr_grow_read(&p.arena, &p.catalog, file, NULL, NULL, &read[0], &p.err),
                     MYR_OK);
    assert_int_equal(
        myr_grow_read_larger(&p.arena, &p.catalog, &p.design, file, NULL, NULL, &read[1], &p.err),
        MYR_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(read[i].device_count, p.design.device_count);
        assert_int_equal(read[i].cable_count, p.design.cable_count);
        myr_design_close(&read[i]);
    }
    unlink(file);
    unlink(path);
    planned_end(&p);
}

static void count_step(void *context, const char *step)
{
    *(uint32_t *)context += step[0] != '\0';
}

/* Each of the two is planned, and both take long where they are large. */
static void both_plans_of_a_growth_are_heard_of(void **state)
{
    (void)state;
    struct planned p;
    struct myr_design read[2] = {};
    static const char text[] = CLOS("2", "");
    uint32_t steps[2] = {};
    char path[] = "/tmp/myriad-heard-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    plan(&p, text);
    const struct myr_plan_listener first = {count_step, &steps[0]}, then = {count_step, &steps[1]};
    assert_int_equal(myr_grow_read(&p.arena, &p.catalog, path, NULL, &first, &read[0], &p.err),
                     MYR_OK);
    assert_int_equal(
        myr_grow_read_larger(&p.arena, &p.catalog, &p.design, path, NULL, &then, &read[1], &p.err),
        MYR_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(steps[i] > 0 && steps[i] == steps[0]);
        myr_design_close(&read[i]);
    }
    unlink(path);
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_at_its_corners_is_told),
        cmocka_unit_test(designs_are_read_from_their_files),
        cmocka_unit_test(both_plans_of_a_growth_are_heard_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
