/*
 * What is said of some hundred miswired fabrics, held against what was said when somebody last
 * looked (tests/kept/site-verdicts.txt and -oddities; MYRIAD_KEPT=write writes it anew). Other
 * tests say that a repair is the shortest one, or that a name is read; this one that nothing else
 * changes with them: who is taken for whom, which mistake gets which name, in which order steps
 * stand, what is bound.
 *
 * A case is drawn: a few mistakes of people with cables, names as one of several sites gives them,
 * and sources that do not tell everything. The figures of each stand in plain sight; of the whole
 * answer, page, list, order and binding a digest follows them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "designs.h"
#include "hands.h"
#include "kept.h"
#include "quirks.h"

enum { SEED = 20270117, STEPS_SHOWN = 3, PATTERNS_SHOWN = 4 };

static const struct room {
    struct shape shape;
    uint32_t cases;
    bool infiniband;
} rooms[] = {
    {{"rail", 6, "h100-8gpu",
      "compute: {switch: mqm9790-ns2f, leaf_down: 12}, storage: {switch: mqm9790-ns2f}"},
     20,
     true},
    {{"deep", 8, "a100-8gpu",
      "compute: {topology: clos, switch: qm8790, tiers: 3, leaf_down: 8, leaf_up: 8}"},
     16,
     true},
    {{"racks", 6, "h100-8gpu",
      "compute: {switch: sn5600, leaf_down: 16}}\n"
      "room: {rows: 4, columns: 6, rack_kw: 44"},
     12,
     false},
    {{"whole", 6, "b300-8gpu", "compute: {switch: sn5600, nic_gbps: 800}"}, 8, false},
    {{"halves", 4, "a100-8gpu", "compute: {switch: mqm9790-ns2f, leaf_down: 8}"}, 16, true},
    {{"chips", 4, "b300-8gpu-xdr", "compute: {switch: q3400, leaf_down: 8}"}, 12, true},
    {{"ether", 6, "b200-8gpu", "compute: {switch: sn5600, leaf_down: 16, leaf_up: 8}"}, 14, false},
    {{"twin", 6, "b300-8gpu", "compute: {switch: sn5600, topology: twin-planar}"}, 8, false},
    {{"pair", 6, "h100-8gpu-2x200",
      "compute: {topology: dual-tor, switch: sn5600, leaf_down: 16, leaf_up: 8}"},
     12,
     false},
    {{"groups", 5, "h100-8gpu",
      "compute: {topology: dragonfly, switch: mqm9790-ns2f, hosts_per_switch: 6, "
      "group_switches: 3, global_ports: 3}"},
     12,
     true},
    {{"grid", 12, "generic-1gpu", "compute: {topology: torus, switch: z9864f-on, dims: [3, 2, 2]}"},
     12,
     false},
};

static void put_digest(struct myr_buf *out, const char *what, const struct myr_buf *text)
{
    uint64_t digest = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < text->len; i++) {
        digest = (digest ^ (uint8_t)text->data[i]) * UINT64_C(1099511628211);
    }
    myr_buf_printf(out, " %s %08x", what, (unsigned)(digest ^ digest >> 32));
}

static void put_repair(struct myr_buf *out, const char *name, const struct myr_repair *repair)
{
    myr_buf_printf(out, " %s %u+%u-%u%s%u", name, repair->moves, repair->adds, repair->removes,
                   repair->exact ? "=" : ">", repair->lower_bound);
}

static void put_figures(struct myr_buf *out, const struct myr_verify *verify)
{
    myr_buf_put_lit(out, " ");
    for (uint32_t s = 0; s < MYR_STATE_COUNT; s++) {
        if (verify->counts[s]) {
            myr_buf_printf(out, " %s %u", myr_port_state_names[s], verify->counts[s]);
        }
    }
    put_repair(out, "| as labelled", &verify->labelled);
    put_repair(out, "or", &verify->equivalent);
    myr_buf_printf(out, " relabel %u,%u,%u\n  ", verify->relabel_links, verify->relabel_devices,
                   verify->relabel_moves);
    const struct {
        const char *name;
        uint32_t count;
    } more[] = {{"named by wiring", verify->identity_count},
                {"open", verify->ambiguity_count},
                {"assumed", verify->assumed_count},
                {"deviating", verify->deviating_count},
                {"unread", verify->unread_count},
                {"rogue", verify->rogue_links},
                {"outside", verify->outside_links},
                {"one-sided", verify->one_sided_links},
                {"contradicted", verify->contradicted},
                {"conflicts", verify->name_conflicts},
                {"slow", verify->slow_links}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(more); i++) {
        if (more[i].count) {
            myr_buf_printf(out, " %s %u", more[i].name, more[i].count);
        }
    }
    myr_buf_putc(out, '\n');
    for (uint32_t i = 0; i < verify->repair.step_count && i < STEPS_SHOWN; i++) {
        myr_buf_printf(out, "    %u: ", verify->repair.steps[i].component);
        myr_verify_step_text(verify, &verify->repair.steps[i], out);
        myr_buf_putc(out, '\n');
    }
    for (uint32_t i = 0; i < verify->pattern_count && i < PATTERNS_SHOWN; i++) {
        const struct myr_pattern *pattern = &verify->patterns[i];
        myr_buf_printf(out, "    %s %u: %.*s\n", myr_pattern_kind_names[pattern->kind],
                       pattern->ports, (int)pattern->where.len, pattern->where.data);
    }
}

static void write_answer(const struct myr_answer *answer, enum myr_format format,
                         struct myr_buf *ret)
{
    /* Lists as wide as they are: fitting them to a screen is another's, and slow. */
    struct myr_answer_form form = {.format = format, .width = format == MYR_FORMAT_WIDE ? 110 : 0};
    struct myr_err err = {};
    assert_int_equal(myr_answer_write(answer, &form, ret, &err), MYR_OK);
}

static void put_answers(struct myr_buf *out, const struct myr_verify *verify)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_answer answer;
    struct myr_verify_lists lists;
    myr_answer_init(&answer, verify->arena, "myriad.verify", 1);
    myr_verify_answer(verify, true, &answer, &lists);
    myr_verify_page(verify, &answer);
    write_answer(&answer, MYR_FORMAT_JSON, &text);
    put_digest(out, "tree", &text);
    myr_buf_clear(&text);
    write_answer(&answer, MYR_FORMAT_WIDE, &text);
    put_digest(out, "page", &text);
    myr_buf_clear(&text);
    for (uint32_t l = 0; l < MYR_VERIFY_LISTS; l++) {
        struct myr_answer one;
        struct myr_verify_lists again;
        myr_answer_init(&one, verify->arena, "myriad.verify", 1);
        myr_verify_answer(verify, l == MYR_VERIFY_PORTS, &one, &again);
        myr_verify_page_list(&again, (enum myr_verify_list)l, &one);
        write_answer(&one, MYR_FORMAT_TABLE, &text);
    }
    put_digest(out, "lists", &text);
}

static void put_orders(struct myr_buf *out, const struct bench *bench,
                       const struct myr_verify *verify, uint32_t number, struct myr_buf *state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_orders orders;
    struct myr_answer answer;
    struct myr_err err = {};
    const char *colours[] = {"host=blue", "fabric=red"};
    struct myr_orders_question question = {
        .crews = 1 + number % 3, .colours = colours, .colour_count = number % 2 ? 2 : 0};
    assert_int_equal(
        myr_orders_make(&orders, verify->arena, verify, &bench->planned.catalog, &question, &err),
        MYR_OK);
    if (state->len && myr_orders_since_text(&orders, "state.csv",
                                            (struct myr_str){state->data, state->len}, &err) < 0) {
        fail_msg("%s", err.message);
    }
    myr_buf_printf(out, "  orders %u in %u visits, wait %u s; open %u fresh %u mended %u unseen %u",
                   orders.count, orders.visits, orders.wait_s, orders.open.count,
                   orders.fresh.count, orders.mended.count, orders.unseen.count);
    for (uint32_t language = 0; language < MYR_LANGUAGES; language++) {
        myr_orders_csv(&orders, (enum myr_language)language, &text);
    }
    put_digest(out, "| csv", &text);
    myr_buf_clear(&text);
    if (orders.count <= 2) { /* codes to scan take their time */
        for (uint32_t language = 0; language < MYR_LANGUAGES; language++) {
            myr_orders_html(&orders, (enum myr_language)language, &text);
        }
        put_digest(out, "sheets", &text);
        myr_buf_clear(&text);
    }
    myr_answer_init(&answer, verify->arena, "myriad.orders", 1);
    myr_orders_answer(&orders, &answer);
    write_answer(&answer, MYR_FORMAT_JSON, &text);
    write_answer(&answer, MYR_FORMAT_WIDE, &text);
    put_digest(out, "tree", &text);
    /* The orders borrow names from the state before: it goes when the new one is written. */
    myr_buf_clear(&text);
    myr_orders_state(&orders, &text);
    put_digest(out, "state", &text);
    struct myr_buf before = *state;
    *state = text;
    text = before;
    myr_buf_putc(out, '\n');
}

static void put_binding(struct myr_buf *out, const struct bench *bench,
                        const struct myr_verify *verify, bool by_wiring)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_binding_done) struct myr_binding binding;
    struct myr_discovery found = {};
    struct myr_answer answer;
    myr_binding_init(&binding, verify->arena, bench->design);
    myr_binding_discover(&binding, verify, by_wiring, &found);
    myr_discovery_remarks(&binding, &found, &text);
    myr_binding_write(&binding, &text);
    myr_answer_init(&answer, verify->arena, "myriad.bind", 1);
    (void)myr_binding_answer(&binding, &found, &answer);
    write_answer(&answer, MYR_FORMAT_JSON, &text);
    write_answer(&answer, MYR_FORMAT_WIDE, &text);
    myr_buf_printf(out, "  bound %u unknown %u contradicted %u", found.bound, found.unknown,
                   found.contradicted);
    put_digest(out, "|", &text);
    myr_buf_putc(out, '\n');
}

/* In the second round of cases sources are odd: two or three quirks each, in turn. */
static const uint32_t oddities[] = {
    TOLD_BY_BOTH | BARE_PORTS,
    ERRORS_APART | LIGHT_APART,
    STRANGERS | REAL_GUIDS,
    MODEL_BEHIND | REAL_GUIDS,
    BOUND | REAL_GUIDS,
    HCAS_TOLD | REAL_GUIDS,
    REAL_GUIDS | NAMELESS,
    MEDIA_TOLD,
    TWICE,
    SMALL_LISTS | REAL_GUIDS,
    BLANK_NAMES | REAL_GUIDS,
    HOSTS_ALONE | REAL_GUIDS,
    HOSTS_ALONE | BOUND | REAL_GUIDS,
    TOLD_BY_BOTH | STRANGERS | BOUND,
    LIGHT_APART | MODEL_BEHIND | REAL_GUIDS,
    BARE_PORTS | HCAS_TOLD | REAL_GUIDS,
    TOLD_BY_BOTH | REAL_GUIDS,
    SMALL_LISTS | HOSTS_ALONE | REAL_GUIDS,
    BOUND | NAMELESS | REAL_GUIDS,
};

static const struct myr_hca_name hcas[] = {{MYR_STR("mlx5_0"), MYR_STR("nic7")},
                                           {MYR_STR("mlx5_1"), MYR_STR("nic6")},
                                           {MYR_STR("MLX5_2"), MYR_STR("nic5")},
                                           {MYR_STR("mlx5_3"), MYR_STR("nic9")},
                                           {MYR_STR("mlx5_9"), MYR_STR("nic0")}};

static void put_case(struct bench *bench, const struct room *room, uint32_t number, uint32_t quirks,
                     struct myr_buf *state, struct myr_buf *out)
{
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_verify verify;
    struct myr_err err = {};
    struct site site;
    struct myr_verify_options options = {.catalog = &bench->planned.catalog,
                                         .port_names = &bench->names,
                                         .equivalent = number % 3 == 2,
                                         .partial = number % 8 == 5,
                                         .errors_max = number % 2 ? 4 : 0,
                                         .hcas = quirks & HCAS_TOLD ? hcas : NULL,
                                         .hca_count =
                                             quirks & HCAS_TOLD ? MYR_ARRAY_COUNT(hcas) : 0};
    MYR_CLEANUP(myr_binding_done) struct myr_binding binding;
    myr_arena_init(&arena);
    myr_binding_init(&binding, &arena, bench->design);
    myr_cabling_init(&cabling, &arena);
    myr_buf_printf(out, "%s %u:", room->shape.name, number);
    site_draw(&site, bench, number, room->infiniband);
    hands_at_work(bench, number, out);
    site_tell(&site, bench, &cabling, out);
    if (quirks) {
        tell_oddly(bench, &site, quirks, &cabling);
    }
    if (quirks & BOUND) {
        bind_some(bench, &site, quirks, &binding);
        options.binding = &binding;
    }
    int rc = myr_verify(&verify, &arena, bench->design, &cabling, &options, &err);
    if (rc < 0) {
        myr_buf_printf(out, "  %s\n", err.message);
    } else {
        put_figures(out, &verify);
        put_orders(out, bench, &verify, number, state);
        put_binding(out, bench, &verify, number % 2);
        myr_buf_printf(out, "  %s |", myr_verify_clean(&verify) ? "clean" : "not as planned");
        put_answers(out, &verify);
        myr_buf_putc(out, '\n');
    }
    myr_cabling_done(&cabling);
    myr_arena_done(&arena);
}

/* A room is planned once for both rounds. */
static void verdicts_are_as_they_were(void **state)
{
    (void)state;
    struct myr_buf out = {}, odd = {}, before = {};
    for (uint32_t r = 0; r < MYR_ARRAY_COUNT(rooms); r++) {
        struct bench bench;
        bench_init(&bench, &rooms[r].shape, SEED + r);
        myr_buf_clear(&before);
        for (uint32_t number = 0; number < rooms[r].cases; number++) {
            put_case(&bench, &rooms[r], number, 0, &before, &out);
        }
        myr_rng_init(&bench.rng, SEED + 100 + r, 0);
        myr_buf_clear(&before);
        for (uint32_t i = 0; i < rooms[r].cases; i++) {
            uint32_t quirks = oddities[(i + 3 * r) % MYR_ARRAY_COUNT(oddities)];
            bool chips = strcmp(rooms[r].shape.name, "chips") == 0 && !(quirks & TOLD_BY_BOTH);
            quirks |= chips && i % 4 < 3 ? CHIPS : 0;
            myr_buf_printf(&odd, "%x ", quirks);
            put_case(&bench, &rooms[r], (i + 5 * r) % 23, quirks, &before, &odd);
        }
        bench_done(&bench);
    }
    assert_kept("site-verdicts.txt", &out);
    assert_kept("site-oddities.txt", &odd);
    myr_buf_done(&before);
    myr_buf_done(&odd);
    myr_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_are_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
