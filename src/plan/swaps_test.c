/*
 * Designs in which one part is another one: each module, cable, switch and card of the catalogue in
 * the place of each that was planned, and figures of the lay besides. What the physical checker
 * says of all of them is kept as counts by rule and a digest of the words; faults_test.c has one
 * fault of each rule, with the words themselves.
 */
#include "myriad/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "faults_test.h"
#include "kept.h"
#include "myriad/physical.h"

static const char *const specs[] = {
    "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 4}, oob: }\n",
    "servers: 3\nnetworks: {compute: , storage: {switch: mqm9790-ns2f, nic_ports: 1}}\n",
    "servers: 4\nnetworks: {compute: {switch: sn5600, tiers: 2, uplink_gbps: 800,\n"
    "  length_m: {host_leaf: 30, leaf_spine: 2}}}\n",
    "servers: 4\nserver: b300-8gpu-xdr\naccept: [no-optics]\nnetworks: {compute: {switch: "
    "q3400}}\n",
    "servers: 4\nserver: a100-8gpu\nnetworks: {compute: {switch: qm8790}, service: }\n",
};

struct tally {
    uint32_t rules[128]; /* findings, in the order of myr_physical_rules */
    uint32_t checks;
    uint64_t words;
};

static void add_words(struct tally *tally, const char *words)
{
    for (; *words; words++) {
        tally->words = myr_hash_u64(tally->words + (unsigned char)*words);
    }
}

static void look(struct fixture *f, struct tally *tally)
{
    struct myr_arena arena;
    struct myr_physical physical;
    myr_arena_init(&arena);
    myr_physical_check(&arena, &f->catalog, &f->design, &physical);
    tally->checks++;
    for (size_t i = 0; i < physical.findings.count; i++) {
        const struct myr_physical_finding *finding = &physical.findings.items[i];
        uint32_t rule = 0;
        while (strcmp(myr_physical_rules[rule].name, finding->rule) != 0) {
            rule++;
        }
        tally->rules[rule]++;
        tally->words = myr_hash_u64(tally->words + finding->places);
        add_words(tally, finding->where);
        add_words(tally, finding->message);
    }
    myr_physical_done(&physical);
    myr_arena_done(&arena);
}

/* Every part of a kind at a place that holds a text; what was there comes back. */
static void try_parts(struct fixture *f, enum myr_part_kind kind, const uint32_t *names,
                      uint32_t *place, struct tally *tally)
{
    uint32_t was = *place;
    for (size_t i = 0; i < f->catalog.parts.count; i++) {
        if (f->catalog.parts.items[i].kind == kind) {
            *place = names[i];
            look(f, tally);
        }
    }
    *place = was;
}

static void try_figures(struct fixture *f, struct myr_cabletype *type, struct tally *tally)
{
    struct myr_cabletype was = *type;
    const struct myr_cabletype others[] = {
        {.gbps = was.gbps / 2, .length_mm = was.length_mm, .legs = was.legs},
        {.gbps = was.gbps * 2, .length_mm = was.length_mm, .legs = was.legs},
        {.gbps = was.gbps, .length_mm = was.length_mm + 1, .legs = was.legs},
        {.gbps = was.gbps, .length_mm = was.length_mm * 20, .legs = was.legs},
        {.gbps = was.gbps, .length_mm = was.length_mm, .legs = (uint8_t)(was.legs + 1)},
        {.gbps = was.gbps, .length_mm = was.length_mm, .legs = was.legs, .head_b = !was.head_b},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        type->gbps = others[i].gbps;
        type->length_mm = others[i].length_mm;
        type->legs = others[i].legs;
        type->head_b = others[i].head_b;
        look(f, tally);
    }
    *type = was;
    uint32_t *const names[] = {&type->part, &type->optic_a, &type->optic_b};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        *names[i] = 0; /* none at all */
        look(f, tally);
        *names[i] = i ? 0 : was.part; /* optics stay away: first one of them, then both */
    }
    *type = was;
}

static void try_all(struct fixture *f, struct tally *tally)
{
    uint32_t *names = MYR_ARENA_NEW(&f->arena, uint32_t, f->catalog.parts.count);
    for (size_t i = 0; i < f->catalog.parts.count; i++) {
        names[i] = text(f, f->catalog.parts.items[i].id);
    }
    look(f, tally);
    for (uint32_t t = 0; t < f->design.cabletype_count; t++) {
        struct myr_cabletype *type = &f->design.cabletypes[t];
        try_parts(f, MYR_PART_CABLE, names, &type->part, tally);
        try_parts(f, MYR_PART_TRANSCEIVER, names, &type->optic_a, tally);
        try_parts(f, MYR_PART_TRANSCEIVER, names, &type->optic_b, tally);
        try_figures(f, type, tally);
    }
    for (uint32_t t = 0; t < f->design.devtype_count; t++) {
        try_parts(f, MYR_PART_SWITCH, names, &f->design.devtypes[t].part, tally);
    }
    for (uint32_t c = 0; c < f->design.card_count; c++) {
        try_parts(f, MYR_PART_NIC, names, &f->design.cards[c].part, tally);
    }
}

static void what_is_said_of_every_other_part_is_kept(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t s = 0; s < MYR_ARRAY_COUNT(specs); s++) {
        struct fixture f;
        struct tally tally = {};
        plan(&f, specs[s]);
        try_all(&f, &tally);
        myr_buf_printf(&told, "%s  %u designs, words %016llx\n", specs[s], tally.checks,
                       (unsigned long long)tally.words);
        for (uint32_t i = 0; myr_physical_rules[i].name; i++) {
            if (tally.rules[i]) {
                myr_buf_printf(&told, "  %5u %s\n", tally.rules[i], myr_physical_rules[i].name);
            }
        }
        release(&f);
    }
    assert_kept("physical-swaps.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_every_other_part_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
