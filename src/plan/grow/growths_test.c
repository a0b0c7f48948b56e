/*
 * Pairs of clusters of which the one grows into the other, drawn over all topologies, in switches
 * of few ports so that pods are cut anew and leaves fill up: what moves, what is bought, and who
 * takes whose place is kept (tests/kept/plan-growths.txt). That moves are few is held by growth.py.
 */
#include "myriad/plan/grow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "growths_test.h"
#include "kept.h"

enum { PAIRS = 400, SEED = 20261117 };

struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    const struct myr_doc *doc;
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    assert_int_equal(myr_catalog_init(&f->catalog, &f->arena, &f->err), MYR_OK);
    assert_int_equal(myr_doc_read_yaml(&f->arena, "tiny", myr_str_from(TINY), &doc, &f->err), 0);
    assert_int_equal(myr_catalog_add(&f->catalog, doc, &f->err), MYR_OK);
}

static void end(struct fixture *f)
{
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
}

static int plan(struct fixture *f, const char *text, struct myr_design *ret)
{
    const struct myr_doc *doc;
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_TRY(myr_doc_read_yaml(&f->arena, "spec", myr_str_from(text), &doc, &f->err));
    MYR_TRY(myr_spec_read(&f->arena, &f->catalog, doc, &spec, &f->err));
    return myr_plan(&f->arena, &f->catalog, &spec, ret, &f->err);
}

static void hash(uint64_t *at, const uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        *at = myr_hash_u64(*at + items[i]);
    }
}

/* Who is where, with all ports and ids. */
static uint64_t digest_of(const struct myr_growth *growth)
{
    const struct myr_design *now = &growth->grown;
    uint64_t digest = now->device_count;
    hash(&digest, growth->to, growth->installed->device_count);
    hash(&digest, growth->from, now->device_count);
    hash(&digest, growth->cable_from, now->cable_count);
    hash(&digest, now->link_a, now->link_count);
    hash(&digest, now->link_b, now->link_count);
    hash(&digest, now->link_id, now->link_count);
    hash(&digest, now->port_id, now->port_count);
    for (uint32_t i = 0; i < growth->move_count; i++) {
        hash(&digest, &growth->moves[i].old_cable, 1);
        hash(&digest, &growth->moves[i].cable, 1);
        hash(&digest, &(uint32_t){growth->moves[i].net * 8U + growth->moves[i].layer}, 1);
    }
    for (uint32_t i = 0; i < now->device_count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        myr_design_name(now, i, &name);
        digest ^= myr_hash_bytes(name.data, name.len) + i;
    }
    return digest;
}

/* Sums that must agree with each other, whatever was chosen. */
static void check_sums(const struct myr_growth *growth)
{
    const struct myr_design *now = &growth->grown;
    uint32_t moved = 0, kept = 0, avoided = 0, fresh = 0;
    int64_t cost = 0;
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            moved += growth->moved[net][layer];
            avoided += growth->avoided[net][layer];
        }
    }
    for (uint32_t i = 0; i < now->device_count; i++) {
        kept += growth->from[i] != MYR_NONE;
        assert_true(growth->from[i] == MYR_NONE || growth->to[growth->from[i]] == i);
    }
    for (uint32_t i = 0; i < now->cable_count; i++) {
        fresh += growth->cable_from[i] == MYR_NONE;
    }
    for (uint32_t i = 0; i < growth->line_count; i++) {
        const struct myr_grow_line *line = &growth->lines[i];
        assert_true(line->quantity == (int64_t)line->needed - (int64_t)line->had);
        cost += line->total_cents;
    }
    assert_int_equal(moved, growth->move_count);
    assert_int_equal(avoided, growth->avoided_total);
    assert_int_equal(kept, growth->installed->device_count);
    assert_int_equal(fresh, growth->new_cables);
    assert_int_equal(cost, growth->cost_cents);
    assert_true(growth->moved_at_least <= growth->move_count);
}

static void tell_growth(const struct myr_growth *growth, struct myr_buf *told)
{
    check_sums(growth);
    myr_buf_printf(told, "  %u cables move (%llu at least), %u new; bought %u lines, %u unpriced, ",
                   growth->move_count, (unsigned long long)growth->moved_at_least,
                   growth->new_cables, growth->line_count, growth->unpriced_lines);
    myr_buf_printf(told, "%lld; ahead %u switches for %lld save %u; %016llx\n",
                   (long long)growth->cost_cents, growth->first_switches,
                   (long long)growth->first_cents, growth->avoided_total,
                   (unsigned long long)digest_of(growth));
}

static void tell_lines(const struct myr_growth *growth, struct myr_buf *told)
{
    for (uint32_t i = 0; i < growth->line_count; i++) {
        const struct myr_grow_line *line = &growth->lines[i];
        myr_buf_printf(told, "    %s, %s, %s: %lld (%llu to %llu) at %lld, %lld after %lld\n",
                       line->system, line->name, line->part, (long long)line->quantity,
                       (unsigned long long)line->had, (unsigned long long)line->needed,
                       (long long)line->unit_cents, (long long)line->total_cents,
                       (long long)line->had_cents);
    }
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            if (growth->moved[net][layer] || growth->avoided[net][layer]) {
                myr_buf_printf(told, "    moved in %s, layer %u: %u, avoided %u\n",
                               myr_net_names[net], layer, growth->moved[net][layer],
                               growth->avoided[net][layer]);
            }
        }
    }
}

/* What was drawn and cannot be planned is left out: plans are held elsewhere. */
static void tell_pair(struct fixture *f, const char *small, const char *large, bool drawn,
                      struct myr_buf *told)
{
    struct myr_design old, now;
    struct myr_growth growth;
    struct myr_grow_names names = {"small.yaml", "large.yaml"};
    f->err = (struct myr_err){};
    if (plan(f, small, &old) < 0 || plan(f, large, &now) < 0) {
        assert_true(drawn);
        return;
    }
    myr_buf_printf(told, "== %sto %s", small, large);
    int rc = myr_grow(&f->arena, &f->catalog, &old, &now, names, &growth, &f->err);
    if (rc < 0) {
        myr_buf_printf(told, "  %d: %s (%s)\n", rc, f->err.message, f->err.hint);
        return;
    }
    assert_int_equal(myr_design_check(&growth.grown, "grown", &f->err), MYR_OK);
    tell_growth(&growth, told);
    if (!drawn) {
        tell_lines(&growth, told);
    }
}

/* ---- drawn pairs ---- */

static uint32_t between(struct myr_rng *rng, uint32_t least, uint32_t most)
{
    return least + myr_rng_below(rng, most - least + 1);
}

static bool maybe(struct myr_rng *rng, uint32_t percent)
{
    return myr_rng_below(rng, 100) < percent;
}

static void draw_torus(struct myr_rng *rng, struct myr_buf ret[2])
{
    uint32_t a = between(rng, 2, 3), b = between(rng, 2, 3), trunk = between(rng, 1, 2);
    uint32_t more_a = a + between(rng, 0, 2), more_b = b + between(rng, 0, 2);
    bool turned = maybe(rng, 50);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t rows = i == 0 ? a : turned ? more_b : more_a;
        uint32_t columns = i == 0 ? b : turned ? more_a : more_b;
        myr_buf_printf(&ret[i],
                       "topology: torus, switch: tiny24, hosts_per_switch: 4, trunk: %u, dims: "
                       "[%u, %u]",
                       trunk, rows, columns);
    }
}

/* A compute network; 'ret' are its keys in the small and in the large cluster. */
static void draw_network(struct myr_rng *rng, struct myr_buf ret[2])
{
    static const char *const kinds[] = {"rail", "clos", "rail-only", "middle-of-rack"};
    static const char *const ratios[] = {"1", "2", "1.5", "3"};
    static const uint32_t ports[] = {4, 6, 8, 12, 16, 24};
    uint32_t kind = myr_rng_below(rng, 10);
    struct myr_buf *keys = &ret[0];
    if (kind == 0) {
        draw_torus(rng, ret);
        return;
    }
    if (kind <= 2) {
        uint32_t switches = between(rng, 2, 4), hosts = between(rng, 1, 3);
        myr_buf_printf(keys,
                       "topology: dragonfly%s, switch: tiny16, group_switches: %u, "
                       "hosts_per_switch: %u, global_ports: %u",
                       kind == 1 ? "" : "+", switches, hosts, between(rng, 1, 3));
    } else {
        const char *word = kinds[myr_rng_below(rng, 4)];
        myr_buf_printf(keys, "topology: %s, switch: tiny%u", word, ports[myr_rng_below(rng, 6)]);
        if (maybe(rng, 50)) {
            myr_buf_printf(keys, ", fill: %s", maybe(rng, 50) ? "regular" : "dense");
        }
        if (maybe(rng, 50)) {
            myr_buf_printf(keys, ", oversubscription: %s", ratios[myr_rng_below(rng, 4)]);
        }
        if (maybe(rng, 30)) {
            myr_buf_printf(keys, ", tiers: %u", between(rng, 2, 3));
        }
        if (maybe(rng, 30)) {
            myr_buf_printf(keys, ", fabric_manager_ports: %u", between(rng, 1, 3));
        }
    }
    myr_buf_puts(&ret[1], ret[0].data);
}

static void draw_pair(struct myr_rng *rng, struct myr_buf ret[2])
{
    struct myr_buf nets[2] = {}, rest = {}, storage = {};
    bool big = maybe(rng, 30);
    uint32_t few = between(rng, 1, 24), many = few + between(rng, 0, 24);
    draw_network(rng, nets);
    if (big && maybe(rng, 60)) {
        const char *fill = maybe(rng, 50) ? "dense" : "regular";
        myr_buf_printf(&rest, ", storage: {switch: tiny24, fill: %s, extra_nodes: %u}", fill,
                       between(rng, 0, 4));
        myr_buf_printf(&storage, "storage: {capacity_tb: %u, copies: 2}\n", between(rng, 1, 900));
    }
    if (maybe(rng, 30)) {
        myr_buf_puts(&rest, ", oob: {topology: access, homes: 1, access_switch: tiny-access, "
                            "aggregation_switch: tiny-above}");
    } else if (maybe(rng, 20)) {
        myr_buf_puts(&rest, ", oob: ");
    }
    for (uint32_t i = 0; i < 2; i++) {
        myr_buf_printf(&ret[i], "servers: %u\nserver: %s\nnetworks: {compute: {%s}%s}\n%s",
                       i ? many : few, big ? "h100-8gpu" : "generic-1gpu", nets[i].data,
                       rest.len ? rest.data : "", storage.len ? storage.data : "");
        myr_buf_done(&nets[i]);
    }
    myr_buf_done(&rest);
    myr_buf_done(&storage);
}

static void drawn_pairs_grow_as_they_did(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    struct fixture f;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct myr_buf texts[2] = {};
        if (i % 50 == 0) { /* what it takes is given back in between */
            if (i) {
                end(&f);
            }
            begin(&f);
        }
        draw_pair(&rng, texts);
        tell_pair(&f, texts[0].data, texts[1].data, true, &told);
        myr_buf_done(&texts[0]);
        myr_buf_done(&texts[1]);
    }
    end(&f);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        begin(&f);
        tell_pair(&f, pairs[i].small, pairs[i].large, false, &told);
        end(&f);
    }
    assert_kept("plan-growths.txt", &told);
}

/* ---- groups, which are read from files ---- */

static void write_text(const char *path, const char *text)
{
    struct myr_buf buf = {};
    struct myr_err err = {};
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
    myr_buf_done(&buf);
}

static void tell_groups(struct fixture *f, const char *folder, const char *const texts[3],
                        struct myr_buf *told)
{
    char path[128];
    struct myr_design designs[3];
    struct myr_growth growths[2];
    const struct myr_design *stands = &designs[0];
    snprintf(path, sizeof(path), "%s/spec.yaml", folder);
    for (uint32_t i = 0; i < 3 && texts[i]; i++) {
        write_text(path, texts[i]);
        f->err = (struct myr_err){};
        int rc = i ? myr_grow_read_larger(&f->arena, &f->catalog, stands, path, NULL, NULL,
                                          &designs[i], &f->err)
                   : myr_grow_read(&f->arena, &f->catalog, path, NULL, NULL, &designs[i], &f->err);
        rc = rc < 0 || i == 0
                 ? rc
                 : myr_grow(&f->arena, &f->catalog, stands, &designs[i],
                            (struct myr_grow_names){"small", "large"}, &growths[i - 1], &f->err);
        myr_buf_printf(told, "== %s", texts[i]);
        if (rc < 0) {
            const char *words = strstr(f->err.message, "spec.yaml");
            myr_buf_printf(told, "  %d: %s (%s)\n", rc, words ? words : f->err.message,
                           f->err.hint);
            return;
        }
        if (i > 0) {
            stands = &growths[i - 1].grown;
            tell_growth(&growths[i - 1], told);
        }
        for (uint32_t g = 0; g < stands->group_count; g++) {
            const struct myr_server_group *group = &stands->groups[g];
            myr_buf_printf(told, "  %s: %u servers %s from node %u\n",
                           myr_design_str(stands, group->name), group->servers,
                           myr_design_str(stands, group->server_part), group->first_node);
        }
    }
}

static void groups_grow_in_stretches(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    char folder[] = "/tmp/myriad-growths-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(grouped); i++) {
        struct fixture f;
        begin(&f);
        tell_groups(&f, folder, grouped[i], &told);
        end(&f);
    }
    snprintf(path, sizeof(path), "%s/spec.yaml", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_kept("plan-groups.txt", &told);
}

static void what_ends_in_myr_is_a_design(void **state)
{
    (void)state;
    assert_true(myr_grow_is_design("a.myr"));
    assert_false(myr_grow_is_design(".myr"));
    assert_false(myr_grow_is_design("a.myrx"));
    assert_false(myr_grow_is_design("amyr"));
    assert_false(myr_grow_is_design(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_pairs_grow_as_they_did),
        cmocka_unit_test(groups_grow_in_stretches),
        cmocka_unit_test(what_ends_in_myr_is_a_design),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
