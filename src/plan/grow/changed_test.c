/*
 * Clusters that grow and change at once, drawn: hosts of several kinds with splitters, longer ways,
 * so that other cables are planned for hosts that stand already, managers, storage, prices of some
 * parts and not of others. What moves and what is bought is kept (tests/kept/plan-changed.txt);
 * and whatever was chosen, no cable that stood is taken twice, and the grown bill adds up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "growths_test.h"
#include "kept.h"
#include "keys_test.h"
#include "myriad/plan/grow.h"
#include "planned_test.h"

enum { PAIRS = 320, SEED = 20261120 };

/* A network of the small and of the large cluster: other ways, no fewer hosts. */
static void draw_net(struct myr_rng *rng, const char *shape, struct myr_buf ret[2])
{
    uint32_t nodes = myr_rng_below(rng, 4), managers = myr_rng_below(rng, 3);
    uint32_t more = myr_rng_below(rng, 3);
    bool hosts = keys_maybe(rng, 50);
    for (uint32_t i = 0; i < 2; i++) {
        myr_buf_printf(&ret[i], "{%s", shape);
        DRAW_KEYS(rng, &ret[i], {40, "length_m", "2|3|30|50|{host_leaf: 3, leaf_spine: 40}"});
        if (hosts) {
            myr_buf_printf(&ret[i], ", extra_nodes: %u, fabric_manager_ports: %u", nodes + i * more,
                           managers + i);
        }
        myr_buf_puts(&ret[i], "}");
    }
}

static void draw_shape(struct myr_rng *rng, struct myr_buf *ret)
{
    if (keys_maybe(rng, 20)) {
        DRAW_KEYS(rng, ret, {100, "switch", "tiny16|tiny24"},
                  {100, "topology", "dragonfly|dragonfly+"}, {100, "group_switches", "2|3"},
                  {100, "hosts_per_switch", "2|4"}, {100, "global_ports", "2|3"});
        return;
    }
    DRAW_KEYS(rng, ret, {100, "switch", "tiny4|tiny6|tiny8|tiny12|tiny16|tiny24"},
              {100, "topology", "rail|clos|clos|rail-only|middle-of-rack"},
              {50, "fill", "dense|dense|regular"}, {40, "oversubscription", "1|2|1.5|3"},
              {25, "tiers", "2|3"}, {50, "nic_gbps", "200"});
}

static void draw_pair(struct myr_rng *rng, struct myr_buf ret[2])
{
    static const char *const prices[] = {
        "", "prices: cn-2024-05\n",
        "prices: {parts: {tiny8: 100, tiny24: 1000.5, mma4z00-ns: 7.25, mma4z00-ns400: 3}}\n"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf shape = {};
    struct myr_buf nets[2] = {}, stores[2] = {};
    bool big = keys_maybe(rng, 45), stored = big && keys_maybe(rng, 60);
    uint32_t few = 1 + myr_rng_below(rng, big ? 9 : 16), more = myr_rng_below(rng, 12);
    uint32_t disks = 1 + myr_rng_below(rng, 4), book = myr_rng_below(rng, 3);
    const char *server = !big                  ? "generic-1gpu"
                         : keys_maybe(rng, 30) ? "h100-8gpu-2x200"
                                               : "h100-8gpu";
    draw_shape(rng, &shape);
    draw_net(rng, shape.data, nets);
    draw_net(rng, "switch: tiny24, topology: clos, fill: dense, nic_gbps: 200", stores);
    for (uint32_t i = 0; i < 2; i++) {
        myr_buf_printf(&ret[i], "servers: %u\nserver: %s\nnetworks: {compute: %s", few + i * more,
                       server, nets[i].data);
        if (stored) {
            myr_buf_printf(&ret[i], ", storage: %s}\nstorage: {servers: %u}\n", stores[i].data,
                           disks + i * (more % 3));
        } else {
            myr_buf_puts(&ret[i], "}\n");
        }
        myr_buf_puts(&ret[i], prices[book]);
        myr_buf_done(&nets[i]);
        myr_buf_done(&stores[i]);
    }
}

/* ---- what holds of every growth ---- */

/* Each old cable is in one place at most, and what moved or is new is counted. */
static void check_cables(const struct myr_growth *growth, struct myr_arena *arena)
{
    const struct myr_design *now = &growth->grown, *old = growth->installed;
    uint32_t fresh = 0;
    bool *seen = MYR_ARENA_NEW(arena, bool, old->cable_count);
    for (uint32_t i = 0; i < now->cable_count; i++) {
        uint32_t from = growth->cable_from[i];
        fresh += from == MYR_NONE;
        if (from != MYR_NONE) {
            assert_true(from < old->cable_count && !seen[from]);
            seen[from] = true;
        }
    }
    assert_int_equal(fresh, growth->new_cables);
}

/* Lines without a price cost nothing; the others what they say. */
static void check_bill(const struct myr_growth *growth)
{
    const struct myr_design *now = &growth->grown;
    int64_t sum = 0;
    for (uint32_t i = 0; i < now->bom_count; i++) {
        const struct myr_bom_row *row = &now->bom[i];
        int64_t total = row->unit_cents < 0 ? 0 : row->unit_cents * (int64_t)row->quantity;
        assert_int_equal(row->total_cents > 0 ? row->total_cents : 0, total);
        sum += total;
    }
    assert_int_equal(sum, now->head->total_cents);
}

static void tell_growth(const struct myr_growth *growth, struct myr_buf *told)
{
    const struct myr_design *now = &growth->grown;
    uint64_t digest = now->device_count, bill = now->bom_count;
    for (uint32_t i = 0; i < now->link_count; i++) {
        digest = myr_hash_u64(digest + now->link_a[i]);
        digest = myr_hash_u64(digest + now->link_b[i]);
        digest = myr_hash_u64(digest + growth->cable_from[now->link_cable[i]]);
    }
    for (uint32_t i = 0; i < growth->line_count; i++) {
        const struct myr_grow_line *line = &growth->lines[i];
        bill = myr_hash_u64(bill + (uint64_t)line->quantity);
        bill = myr_hash_u64(bill + (uint64_t)line->total_cents);
        bill = myr_hash_u64(bill + myr_hash_bytes(line->part, strlen(line->part)));
    }
    myr_buf_printf(told, "  %u move (%llu at least), %u new, %u avoided; %lld, %u unpriced; ",
                   growth->move_count, (unsigned long long)growth->moved_at_least,
                   growth->new_cables, growth->avoided_total, (long long)growth->cost_cents,
                   growth->unpriced_lines);
    myr_buf_printf(told, "%08x, bill %08x\n", (uint32_t)digest, (uint32_t)bill);
}

static int plan(struct planned *p, const char *text, struct myr_design *ret)
{
    const struct myr_doc *doc;
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_TRY(myr_doc_read_yaml(&p->arena, "spec", myr_str_from(text), &doc, &p->err));
    MYR_TRY(myr_spec_read(&p->arena, &p->catalog, doc, &spec, &p->err));
    return myr_plan(&p->arena, &p->catalog, &spec, ret, &p->err);
}

/* What cannot be planned is left out: plans are held elsewhere. */
static void tell_pair(const char *small, const char *large, struct myr_buf *told)
{
    struct planned p = {};
    struct myr_design old, now;
    struct myr_growth growth;
    const struct myr_doc *doc;
    myr_arena_init(&p.arena);
    assert_int_equal(myr_catalog_init(&p.catalog, &p.arena, &p.err), MYR_OK);
    assert_int_equal(myr_doc_read_yaml(&p.arena, "tiny", myr_str_from(TINY), &doc, &p.err), MYR_OK);
    assert_int_equal(myr_catalog_add(&p.catalog, doc, &p.err), MYR_OK);
    if (plan(&p, small, &old) >= 0 && plan(&p, large, &now) >= 0) {
        struct myr_grow_names names = {"small.yaml", "large.yaml"};
        p.err = (struct myr_err){};
        myr_buf_printf(told, "== %sto %s", small, large);
        if (myr_grow(&p.arena, &p.catalog, &old, &now, names, &growth, &p.err) < 0) {
            myr_buf_printf(told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        } else {
            assert_int_equal(myr_design_check(&growth.grown, "grown", &p.err), MYR_OK);
            check_cables(&growth, &p.arena);
            check_bill(&growth);
            tell_growth(&growth, told);
        }
    }
    planned_end(&p);
}

static void clusters_grow_and_change_as_they_did(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < TEST_ROUNDS(PAIRS); i++) {
        struct myr_buf texts[2] = {};
        draw_pair(&rng, texts);
        tell_pair(texts[0].data, texts[1].data, &told);
        myr_buf_done(&texts[0]);
        myr_buf_done(&texts[1]);
    }
    assert_kept_rounds("plan-changed.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_grow_and_change_as_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
