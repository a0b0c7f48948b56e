/*
 * Lists that are wrong in several ways at once, drawn: the planner's own bill with lines that are
 * too few, of another part, cut in two, described as longer than they are, without a system, summed
 * up wrongly, with copper in the place of fibre or cards that the servers do not have. What an
 * audit says of each is kept (tests/kept/plan-lists.txt); and of a bill as it was planned it says
 * nothing, whatever the spec pins.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "audit/audit.h"
#include "kept.h"
#include "planned_test.h"

enum { LISTS = 110, IN_WORDS = 30, SEED = 20261118, ROWS_MAX = 64 };

static const char *const specs[] = {
    "servers: 5\nserver: h200-8gpu\nprices: cn-2024-05\nnetworks: {compute: {leaf_down: 4, "
    "leaf_up: 4, length_m: {host_leaf: 2, leaf_spine: 30}}, storage: {extra_nodes: 1}}\nstorage: "
    "{capacity_tb: 300}\n",
    "servers: 6\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 8, "
    "leaf_up: 8, length_m: {host_leaf: 45, leaf_spine: 90}, items: [{part: iw-support, quantity: "
    "3}], pin: {quantities: {mqm9790-ns2f: 40, mma4z00-ns: 500, iw-support: 9}}}, service: }\n",
    "servers: 9\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, topology: clos, "
    "leaf_down: 24, leaf_up: 6}}\nroom: {rows: 1, columns: 4, rack_kw: 24, buildings: [{name: e}, "
    "{name: w}], distance_m: 120}\n",
    "servers: 9\nserver: h100-8gpu\nprices: cn-2024-05\nnetworks: {compute: {switch: sn5600, "
    "topology: clos, leaf_down: 16, leaf_up: 8, length_m: {host_leaf: 30, leaf_spine: 2}}, "
    "storage: {switch: mqm9790-ns2f, nic_ports: 1, nic_gbps: 200}}\nstorage: {servers: 3, server: "
    "flash-22x15}\n",
    "servers: 4\nprices: cn-2024-05\nnetworks: {compute: {tiers: 2}, oob: }\nsupplied: "
    "[servers]\n",
    "servers: 3\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 4, "
    "leaf_up: 4, length_m: 2, pin: {switch_optic: mms4x00-ns, nic_optic: mms4x00-ns400, "
    "host_cable: mfp7e30-n002, fabric_optic: mms4x00-ns, fabric_cable: mfp7e30-n002}}}\n",
    "servers: 8\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, "
    "leaf_down: 16, leaf_up: 8, length_m: {host_leaf: 3, leaf_spine: 3}}}\n",
    "servers: 12\nserver: generic-1gpu\nnetworks: {compute: {switch: eth-12t8-32x400, topology: "
    "clos, tiers: 3, leaf_down: 2, leaf_up: 2, length_m: {host_leaf: 1, leaf_spine: 1, "
    "spine_core: 200}}}\nitems: [{part: firewall, quantity: 3}]\n",
    "servers: 4\nserver: a100-8gpu\nnetworks: {compute: {switch: qm8790, leaf_down: 4, leaf_up: "
    "4}, storage: , service: }\n",
    "servers: 5\nserver: b300-8gpu-xdr\nnetworks: {compute: {switch: q3400, tiers: 2, length_m: "
    "{host_leaf: 2, leaf_spine: 20}, fabric_manager_ports: 1}}\n",
};

/* A line of a list, with all that is written there. */
struct row {
    const char *system, *name, *part;
    uint64_t quantity;
    double price, off; /* negative: none; what its sum is wrong by */
};

struct list {
    struct row rows[2 * ROWS_MAX];
    uint32_t count;
    double total_off; /* below 0: no line of totals */
};

static uint32_t below(struct myr_rng *rng, uint32_t count)
{
    return myr_rng_below(rng, count);
}

static bool maybe(struct myr_rng *rng, uint32_t percent)
{
    return myr_rng_below(rng, 100) < percent;
}

static void bill_of(const struct myr_design *design, struct list *ret)
{
    *ret = (struct list){.total_off = -1};
    assert_true(design->bom_count <= ROWS_MAX);
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        ret->rows[ret->count++] = (struct row){
            .system = myr_design_str(design, row->system),
            .name = myr_design_str(design, row->name),
            .part = myr_design_str(design, row->part),
            .quantity = row->quantity,
            .price = row->unit_cents < 0 ? i + 1.25 : (double)row->unit_cents / 100,
        };
    }
}

static void write_list(const struct list *list, struct myr_buf *ret)
{
    double sum = 0;
    myr_buf_puts(ret, "system,name,part,quantity,unit_price,total\n");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct row *row = &list->rows[i];
        myr_buf_printf(ret, "%s,\"%s\",%s,%llu,", row->system, row->name, row->part,
                       (unsigned long long)row->quantity);
        if (row->price >= 0) {
            double total = row->price * (double)row->quantity + row->off;
            sum += total;
            myr_buf_printf(ret, "%.2f,%.2f\n", row->price, total);
        } else {
            myr_buf_puts(ret, ",\n");
        }
    }
    if (list->total_off >= 0) {
        myr_buf_printf(ret, "Total,,,,,%.2f\n", sum + list->total_off);
    }
}

/* ---- what is wrong in a list ---- */

static enum myr_part_kind kind_of(const struct planned *p, const char *part)
{
    uint32_t at = myr_catalog_find(&p->catalog, myr_str_from(part));
    return at == MYR_PART_NONE ? MYR_PART_KIND_COUNT : p->catalog.parts.items[at].kind;
}

/* Any part of the kind, or one of those with ends. */
static const char *draw_part(struct myr_rng *rng, const struct planned *p, enum myr_part_kind kind,
                             bool fixed)
{
    const struct myr_part *found = NULL;
    uint32_t seen = 0;
    for (size_t i = 0; i < p->catalog.parts.count; i++) {
        const struct myr_part *part = &p->catalog.parts.items[i];
        if (part->kind == kind && (!fixed || part->cable.fixed_ends) && below(rng, ++seen) == 0) {
            found = part;
        }
    }
    return found ? found->id : "none-of-this-kind";
}

static void cut_in_two(struct myr_rng *rng, const struct planned *p, struct list *list, uint32_t at)
{
    struct row *row = &list->rows[at], *more = &list->rows[list->count++];
    uint64_t part = row->quantity / (2 + below(rng, 3));
    *more = *row;
    more->quantity = part;
    row->quantity -= part;
    if (maybe(rng, 60)) {
        more->part = draw_part(rng, p, kind_of(p, row->part), false);
    }
}

/* Copper in the place of the fibres of a line: modules of the network are fewer then, or none. */
static void lay_copper(struct myr_rng *rng, const struct planned *p, struct list *list, uint32_t at)
{
    const char *system = list->rows[at].system;
    bool all = maybe(rng, 50);
    list->rows[at].part = draw_part(rng, p, MYR_PART_CABLE, true);
    for (uint32_t i = 0; i < list->count; i++) {
        struct row *row = &list->rows[i];
        if (strcmp(row->system, system) == 0 && kind_of(p, row->part) == MYR_PART_TRANSCEIVER) {
            row->quantity = all ? 0 : row->quantity / (1 + below(rng, 3));
        }
    }
}

static void describe(struct myr_rng *rng, const struct planned *p, struct row *row)
{
    static const uint32_t metres[] = {1, 2, 3, 5, 30, 50, 51, 100};
    uint32_t told = metres[below(rng, MYR_ARRAY_COUNT(metres))];
    row->name = myr_arena_printf((struct myr_arena *)&p->arena, "%s, %u m", row->name, told);
}

/* What was meant for one place is in another. */
static void exchange(struct myr_rng *rng, const struct planned *p, struct list *list, uint32_t at)
{
    struct row *row = &list->rows[at];
    for (uint32_t i = 0; i < list->count; i++) {
        struct row *other = &list->rows[(at + 1 + i) % list->count];
        if (kind_of(p, other->part) == kind_of(p, row->part) && maybe(rng, 70)) {
            const char *part = row->part;
            row->part = other->part;
            other->part = part;
            return;
        }
    }
}

/* Links are what can be wrong in most ways: two of three changes are about them. */
static uint32_t draw_row(struct myr_rng *rng, const struct planned *p, const struct list *list)
{
    uint32_t at = below(rng, list->count);
    bool link = !maybe(rng, 33);
    for (uint32_t i = 0; link && i < list->count; i++, at = (at + 1) % list->count) {
        enum myr_part_kind kind = kind_of(p, list->rows[at].part);
        if (kind == MYR_PART_CABLE || kind == MYR_PART_TRANSCEIVER) {
            break;
        }
    }
    return at;
}

static void change(struct myr_rng *rng, const struct planned *p, struct list *list)
{
    uint32_t at = draw_row(rng, p, list);
    struct row *row = &list->rows[at];
    enum myr_part_kind kind = kind_of(p, row->part);
    switch (below(rng, 10)) {
    case 0:
        row->quantity -= row->quantity ? 1 + below(rng, (uint32_t)row->quantity) : 0;
        break;
    case 1:
        row->quantity = row->quantity * (2 + below(rng, 3)) / 2;
        break;
    case 2:
        row->part = kind == MYR_PART_KIND_COUNT ? "own-part" : draw_part(rng, p, kind, false);
        break;
    case 3:
        cut_in_two(rng, p, list, at);
        break;
    case 4:
        if (kind == MYR_PART_CABLE) {
            lay_copper(rng, p, list, at);
        }
        break;
    case 5:
        describe(rng, p, row);
        row->off = maybe(rng, 50) ? 7 : 0;
        break;
    case 6:
        row->system = maybe(rng, 50) ? "" : "security";
        break;
    case 7:
        row->off = below(rng, 3);
        list->total_off = below(rng, 2);
        break;
    case 8:
        exchange(rng, p, list, at);
        break;
    default:
        list->rows[list->count++] = (struct row){
            row->system, "card", draw_part(rng, p, MYR_PART_NIC, false), row->quantity, -1, 0};
        break;
    }
}

/* ---- what is said of it ---- */

static void tell_audit(const struct planned *p, const struct list *list, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_audit audit = {};
    struct myr_err err = {};
    struct myr_arena arena;
    write_list(list, &text);
    struct myr_audit_document document = {.bom = {text.data, text.len}, .bom_file = "list"};
    myr_arena_init(&arena);
    if (myr_audit_run(&arena, &p->catalog, &p->spec, &document, &audit, &err) < 0) {
        myr_buf_printf(told, "  refused: %s\n", err.message);
    }
    for (size_t i = 0; i < audit.findings.count; i++) {
        const struct myr_audit_finding *finding = &audit.findings.items[i];
        myr_buf_printf(told, "  %s %s: ", finding->rule, finding->where);
        if (isnan(finding->expected)) {
            myr_buf_printf(told, "%s | %s", finding->expected_text, finding->found_text);
        } else {
            myr_buf_printf(told, "%.10g | %.10g", finding->expected, finding->found);
        }
        myr_buf_printf(told, " %08x\n",
                       (uint32_t)myr_hash_bytes(finding->message, strlen(finding->message)));
    }
    for (size_t i = 0; i < audit.doubts.count; i++) {
        myr_buf_printf(told, "  ? %s\n", audit.doubts.items[i].where);
    }
    myr_audit_done(&audit);
    myr_arena_done(&arena);
}

/* Names are those of the design: the same text lies in the same place. */
static bool same_row(const struct row *one, const struct row *other)
{
    return one->system == other->system && one->name == other->name && one->part == other->part &&
           one->quantity == other->quantity && one->price == other->price && one->off == other->off;
}

/* The lines that differ from the bill. */
static void tell_changes(const struct list *bill, const struct list *list, struct myr_buf *told)
{
    myr_buf_puts(told, "--");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct row *row = &list->rows[i];
        if (i >= bill->count || !same_row(row, &bill->rows[i])) {
            myr_buf_printf(told, " %u: %s, %s, %llu %s%s;", i + 2, row->system, row->name,
                           (unsigned long long)row->quantity, row->part,
                           row->off > 0 ? " summed up wrongly" : "");
        }
    }
    myr_buf_puts(told, "\n");
}

/* How many findings, and a digest of all that is said: there are many such lists. */
static void tell_short(const struct planned *p, const struct list *list, uint32_t number,
                       struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    uint32_t lines = 0;
    tell_audit(p, list, &said);
    for (size_t i = 0; i < said.len; i++) {
        lines += said.data[i] == '\n';
    }
    myr_buf_printf(told, "%s%u: %u %08x", number % 8 ? ", " : "\n", number, lines,
                   (uint32_t)myr_hash_bytes(said.data, said.len));
}

static void lists_with_several_faults_are_judged_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(specs); s++) {
        struct planned p;
        struct list bill;
        struct myr_rng rng;
        planned_begin(&p, specs[s]);
        bill_of(&p.design, &bill);
        myr_rng_init(&rng, SEED, s);
        myr_buf_printf(&told, "== %s", specs[s]);
        for (uint32_t i = 0; i < LISTS; i++) {
            struct list list = bill;
            for (uint32_t k = 0; k <= i % 8; k++) {
                change(&rng, &p, &list);
            }
            if (i < IN_WORDS) {
                tell_changes(&bill, &list, &told);
                tell_audit(&p, &list, &told);
            } else {
                tell_short(&p, &list, i, &told);
            }
        }
        myr_buf_puts(&told, "\n");
        planned_end(&p);
    }
    assert_kept("plan-lists.txt", &told);
}

/* Pinned quantities are the spec's, and not judged; what the catalogue lacks a module for is. */
static void of_the_planners_own_bill_nothing_is_said(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(specs); s++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
        struct planned p;
        struct list bill;
        planned_begin(&p, specs[s]);
        bill_of(&p.design, &bill);
        bill.total_off = 0;
        tell_audit(&p, &bill, &told);
        if ((told.len > 0) != (planned_finding(&p, "no-optics") != NULL)) {
            fail_msg("%s%s", specs[s], told.len ? told.data : "nothing is said");
        }
        planned_end(&p);
    }
}

/* ---- modules and the runs that they serve ---- */

enum { CABLES = 3, MODULES = 1, RUNS = 2, ROUNDS = 200 };

/* Lines of cables, then of modules; runs, then the need of modules. All between switches. */
static void draw_runs(struct myr_rng *rng, struct audit *audit)
{
    static const char *const cables[] = {"mfp7e10-n050", "mfp7e30-n100"};
    static const char *const modules[] = {"mma4z00-ns", "mms4x00-ns"};
    static const double lengths[] = {20, 60, 200, 1000};
    audit->lines.count = 0;
    audit->need_count = RUNS + 1;
    for (uint32_t i = 0; i < CABLES + MODULES; i++) {
        struct audit_line line = {.quantity = 1, .says = {.net = MYR_NET_COMPUTE}};
        const char *part = i < CABLES ? cables[below(rng, 2)] : modules[below(rng, 2)];
        line.where = myr_arena_printf(audit->arena, "line %u", i);
        audit_line_finish(audit, &line, myr_str_from(part));
        myr_vec_push(&audit->lines, line);
        for (uint32_t k = 0; k <= RUNS; k++) {
            *audit_flow(audit, i, k) = (i < CABLES) == (k < RUNS) && (k == RUNS || maybe(rng, 40));
        }
    }
    for (uint32_t k = 0; k <= RUNS; k++) {
        audit->needs[k] = (struct audit_need){.role = k < RUNS ? AUDIT_CABLE : AUDIT_MODULE,
                                              .layer = MYR_LAYER_FABRIC,
                                              .end = k < RUNS ? AUDIT_END_ANY : AUDIT_END_SWITCH,
                                              .part = MYR_PART_NONE,
                                              .legs = 1,
                                              .gbps = 400,
                                              .length_m = lengths[below(rng, 4)],
                                              .quantity = 1};
    }
}

/* What is to be said of a module: nothing where one run is right, else the lesser fault. */
static const char *fault_of(const struct audit *audit, uint32_t module)
{
    const struct myr_part_transceiver *optic =
        &audit_part(audit, audit->lines.items[module].part)->optic;
    bool bright = false, laid = false;
    for (uint32_t i = 0; i < CABLES * RUNS; i++) {
        uint32_t cable = i / RUNS, run = i % RUNS;
        if (*audit_flow(audit, cable, run)) {
            bool light =
                audit_part(audit, audit->lines.items[cable].part)->cable.medium == optic->medium;
            if (light && optic->reach_m >= audit->needs[run].length_m) {
                return NULL;
            }
            bright = bright || light;
            laid = true;
        }
    }
    if (!laid) {
        return optic->reach_m >= audit->needs[0].length_m ? NULL : "optic-reach";
    }
    return bright ? "optic-reach" : "optic-mode";
}

static bool is_said(const struct myr_audit *audit, const char *where, const char *rule)
{
    bool said = false;
    for (size_t i = 0; i < audit->findings.count; i++) {
        const struct myr_audit_finding *finding = &audit->findings.items[i];
        said = said || (strcmp(finding->where, where) == 0 && strcmp(finding->rule, rule) == 0);
    }
    return said;
}

static void a_module_is_judged_by_the_run_that_suits_it_best(void **state)
{
    (void)state;
    struct planned p;
    struct myr_rng rng;
    struct myr_audit out = {};
    uint64_t flow[(CABLES + MODULES) * (RUNS + 1)];
    planned_begin(&p, specs[1]);
    myr_rng_init(&rng, SEED, 0);
    struct audit *audit = MYR_ARENA_ONE(&p.arena, struct audit);
    audit->arena = &p.arena;
    audit->catalog = &p.catalog;
    audit->spec = &p.spec;
    audit->asked = audit->plan = p.design;
    audit->out = &out;
    audit->flow = flow;
    for (uint32_t round = 0; round < TEST_ROUNDS(ROUNDS); round++) {
        audit->need_count = RUNS + 1;
        draw_runs(&rng, audit);
        out.findings.count = 0;
        audit_judge_optics(audit);
        for (uint32_t i = CABLES; i < CABLES + MODULES; i++) {
            const char *wanted = fault_of(audit, i), *where = audit->lines.items[i].where;
            bool dark = is_said(&out, where, "optic-mode");
            bool far = is_said(&out, where, "optic-reach");
            bool right = !wanted                             ? !dark && !far
                         : strcmp(wanted, "optic-mode") == 0 ? dark
                                                             : far && !dark;
            if (!right || audit->lines.items[i].named != (wanted != NULL)) {
                fail_msg("round %u: line %u: %d %d", round, i, dark, far);
            }
        }
    }
    myr_vec_done(&audit->lines);
    myr_audit_done(&out);
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_with_several_faults_are_judged_as_they_were),
        cmocka_unit_test(of_the_planners_own_bill_nothing_is_said),
        cmocka_unit_test(a_module_is_judged_by_the_run_that_suits_it_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
