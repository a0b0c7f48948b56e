/*
 * Specs drawn over all topologies, with the keys that people write: what is planned or refused is
 * kept in words, bills and findings in plain sight, every link, port, figure and picture as a
 * digest (tests/kept/plan-designs.txt). That plans are sound is held by tests/random/plans.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "designs_test.h"
#include "kept.h"
#include "myriad/plan/report.h"
#include "planned_test.h"

enum { SPECS = 270, SEED = 4711, REPORT_EVERY = 10 };

static uint32_t between(struct myr_rng *rng, uint32_t least, uint32_t most)
{
    return least + myr_rng_below(rng, most - least + 1);
}

static bool maybe(struct myr_rng *rng, uint32_t percent)
{
    return myr_rng_below(rng, 100) < percent;
}

/* One of the words that blanks divide. */
static struct myr_str word(struct myr_rng *rng, const char *words)
{
    uint32_t count = 1;
    for (const char *at = words; *at; at++) {
        count += *at == ' ';
    }
    uint32_t chosen = myr_rng_below(rng, count);
    for (; chosen > 0; words++) {
        chosen -= *words == ' ';
    }
    return (struct myr_str){words, strcspn(words, " ")};
}

/* ", key: value" now and then. */
static void some(struct myr_rng *rng, uint32_t percent, const char *key, const char *words,
                 struct myr_buf *spec)
{
    if (maybe(rng, percent)) {
        struct myr_str value = word(rng, words);
        myr_buf_printf(spec, ", %s: %.*s", key, (int)value.len, value.data);
    }
}

static void draw_compute(struct myr_rng *rng, const char *topology, const char *switches,
                         struct myr_buf *spec)
{
    bool groups = strstr(topology, "dragonfly") != NULL, torus = strcmp(topology, "torus") == 0;
    myr_buf_printf(spec, "topology: %s", topology);
    some(rng, 85, "switch", switches, spec);
    some(rng, 20, "length_m", "2 3 10 30 50 100 {host_leaf:_2,_leaf_spine:_30}", spec);
    some(rng, 20, "extra_nodes", "1 2 7 19", spec);
    some(rng, 10, "fabric_manager_ports", "1 2 5 8", spec);
    if (!groups && !torus) {
        some(rng, 40, "oversubscription", "1 1.5 2 3 [1,2] [1,4] [1,7] [1.5,2] [2,3,1] 0.5", spec);
        some(rng, 30, "fill", "regular dense", spec);
        some(rng, 15, "tiers", "1 2 3", spec);
        some(rng, 8, "uplink_gbps", "200 400 800", spec);
        some(rng, 8, "spine_switch", switches, spec);
        some(rng, 8, "planes", "1 2 3 4", spec);
        some(rng, 10, "leaf_down", "4 8 16 24 32", spec);
        some(rng, 10, "leaf_up", "4 8 16 24", spec);
        some(rng, 6, "pod_leaves", "1 2 4 8", spec);
    }
    if (strcmp(topology, "islands") == 0) {
        some(rng, 80, "islands", "1 2 3 4 8", spec);
    }
    if (groups) {
        some(rng, 40, "hosts_per_switch", "2 4 8 16", spec);
        some(rng, 40, "group_switches", "2 4 6 16", spec);
        some(rng, 40, "global_ports", "2 4 6 16", spec);
    }
    if (torus) {
        some(rng, 95, "dims", "[2,2] [3,4] [2,5] [4,4] [2,2,2] [3,2,4]", spec);
        some(rng, 30, "trunk", "1 2 3", spec);
        some(rng, 50, "hosts_per_switch", "4 8 16 32", spec);
    }
    some(rng, 5, "nic_ports", "1 2 4 8", spec);
    some(rng, 5, "nic_gbps", "100 200 400", spec);
    some(rng, 5, "rails", "1 2 4 8", spec);
}

static void draw_rest(struct myr_rng *rng, struct myr_buf *spec)
{
    if (maybe(rng, 25)) {
        myr_buf_puts(spec, ", storage: {extra_nodes: 1");
        some(rng, 50, "switch", "mqm9790-ns2f sn5600 eth-25t6", spec);
        some(rng, 30, "fill", "regular dense", spec);
        some(rng, 30, "oversubscription", "1 2 3", spec);
        myr_buf_puts(spec, "}");
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (maybe(rng, 20)) {
            myr_buf_printf(spec, ", %s: {topology: access", i ? "oob" : "service");
            some(rng, 30, "extra_nodes", "1 5 19", spec);
            some(rng, 30, "homes", "1 2", spec);
            some(rng, 30, "aggregation", "1 2 3 8", spec);
            some(rng, 30, "length_m", "5 10 30", spec);
            myr_buf_puts(spec, "}");
        }
    }
    myr_buf_puts(spec, "}\n");
    if (maybe(rng, 20)) {
        uint32_t copies = between(rng, 1, 3);
        myr_buf_printf(spec, "storage: {capacity_tb: %u, copies: %u}\n", between(rng, 50, 3000),
                       copies);
    }
    if (maybe(rng, 30)) {
        myr_buf_puts(spec, "prices: cn-2024-05\n");
    }
    if (maybe(rng, 15)) {
        myr_buf_puts(spec, "supplied: [servers]\n");
    }
    if (maybe(rng, 15)) {
        const char *per = maybe(rng, 50) ? "gpu" : "switch";
        myr_buf_printf(spec, "items: [{part: iw-venus, quantity: %u, per: %s}]\n",
                       between(rng, 1, 3), per);
    }
    if (maybe(rng, 15)) {
        myr_buf_puts(spec, "accept: [cable-short, no-optics, uneven-fill]\n");
    }
}

static void draw_spec(struct myr_rng *rng, uint32_t number, struct myr_buf *spec)
{
    const char *topology = topologies[number % MYR_ARRAY_COUNT(topologies)];
    bool twin = strcmp(topology, "twin-planar") == 0, two = strcmp(topology, "dual-tor") == 0;
    uint32_t kind = twin             ? 1
                    : two            ? myr_rng_below(rng, 2)
                    : maybe(rng, 30) ? 2
                                     : myr_rng_below(rng, MYR_ARRAY_COUNT(kinds));
    uint32_t servers = maybe(rng, 10)   ? between(rng, 60, 300)
                       : maybe(rng, 50) ? between(rng, 1, 12)
                                        : between(rng, 8, 60);
    if (strstr(kinds[kind].server, "nvl72") || strstr(kinds[kind].server, "384")) {
        servers = 1 + servers % 3;
    }
    myr_buf_printf(spec, "servers: %u\nserver: %s\nnetworks: {compute: {", servers,
                   kinds[kind].server);
    draw_compute(rng, topology, kinds[kind].switches, spec);
    myr_buf_puts(spec, "}");
    draw_rest(rng, spec);
    for (size_t i = 0; i < spec->len; i++) {
        spec->data[i] = spec->data[i] == '_' && spec->data[i - 1] == ':' ? ' ' : spec->data[i];
        spec->data[i] = spec->data[i] == '_' && spec->data[i - 1] == ',' ? ' ' : spec->data[i];
    }
}

static void hash(uint64_t *at, const uint32_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        *at = myr_hash_u64(*at + items[i]);
    }
}

static uint64_t digest_of(const struct myr_design *design)
{
    uint64_t digest = design->device_count;
    hash(&digest, design->link_a, design->link_count);
    hash(&digest, design->link_b, design->link_count);
    hash(&digest, design->link_cable, design->link_count);
    hash(&digest, design->first_port, design->device_count);
    for (uint32_t i = 0; i < design->device_count; i++) {
        digest = myr_hash_u64(digest + design->device_type[i]);
    }
    for (uint32_t i = 0; i < design->cable_count; i++) {
        digest = myr_hash_u64(digest + design->cable_type[i]);
    }
    return digest;
}

static uint32_t short_hash(const struct myr_buf *text)
{
    return (uint32_t)myr_hash_bytes(text->data, text->len);
}

static void tell_digests(const struct planned *p, bool report, struct myr_buf *told)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf json = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf bill = {};
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    struct myr_plan_about about = {.date = "2026-11-17"};
    assert_int_equal(myr_answer_write(&p->answer, &form, &json, NULL), MYR_OK);
    myr_plan_svg(&p->design, &svg);
    myr_plan_bom_csv(&p->design, &bill);
    myr_buf_printf(told, "  design %016llx, answer %08x, picture %08x, bill %08x",
                   (unsigned long long)digest_of(&p->design), short_hash(&json), short_hash(&svg),
                   short_hash(&bill));
    if (report) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
        myr_plan_report(&p->design, &about, &page);
        myr_buf_printf(told, ", report %08x", short_hash(&page));
    }
    myr_buf_puts(told, "\n");
}

static void tell_networks(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        const struct myr_network *net = &design->networks[i];
        if (net->topology) {
            myr_buf_printf(told,
                           "  %s: %u leaf, %u spine, %u core, %u access, %u aggregation; links %u "
                           "%u %u %u %u\n",
                           myr_net_names[i], net->leaf, net->spine, net->core, net->access,
                           net->aggregation, net->links[0], net->links[1], net->links[2],
                           net->links[3], net->links[4]);
        }
    }
    myr_buf_puts(told, "  ");
    for (uint32_t i = 0; i < design->bom_count; i++) {
        myr_buf_printf(told, "%s%llu %s", i ? ", " : "",
                       (unsigned long long)design->bom[i].quantity,
                       myr_design_str(design, design->bom[i].part));
    }
    myr_buf_puts(told, "\n");
}

static void drawn_specs_are_planned_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    struct myr_rng rng;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < TEST_ROUNDS(SPECS); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        struct planned p;
        draw_spec(&rng, i, &spec);
        myr_buf_printf(&told, "== %s", spec.data);
        planned_read(&p, spec.data);
        if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
            myr_buf_printf(&told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        } else {
            myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
            (void)myr_plan_answer(&p.design, &p.answer);
            tell_networks(&p.design, &told);
            planned_tell_findings(&p, &told);
            tell_digests(&p, i % REPORT_EVERY == 0, &told);
        }
        planned_end(&p);
    }
    assert_kept_rounds("plan-designs.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_specs_are_planned_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
