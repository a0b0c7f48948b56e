/*
 * A design that is right, with its cables laid wrong: two links that changed places, a link that is
 * missing, one in another port of its box, a cable of another type, two cables that became one, one
 * that became two. There are thousands of such designs, so what is said of each kind of mistake is
 * kept as a table (tests/kept/physical-wiring.txt): in how many designs, at how many places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "shop_test.h"

struct table {
    struct myr_arena arena;
    struct myr_strmap lines;
    MYR_VEC(uint64_t) places;
    MYR_VEC(uint32_t) designs;
    uint32_t tried, clean;
};

static void look(const struct bench *b, struct table *table)
{
    struct myr_arena arena;
    struct myr_physical physical;
    myr_arena_init(&arena);
    myr_physical_check(&arena, &b->catalog, &b->design, &physical);
    table->tried++;
    table->clean += physical.findings.count == 0;
    for (size_t i = 0; i < physical.findings.count; i++) {
        const struct myr_physical_finding *finding = &physical.findings.items[i];
        struct myr_str line = myr_str_from(myr_arena_printf(
            &table->arena, "%s at %s: %s", finding->rule, finding->where, finding->message));
        uint32_t at = myr_strmap_get(&table->lines, line);
        if (at == MYR_MAP_NONE) {
            at = table->lines.count;
            assert_true(myr_strmap_add(&table->lines, line, at));
            myr_vec_push(&table->places, 0);
            myr_vec_push(&table->designs, 0);
        }
        table->places.items[at] += finding->places;
        table->designs.items[at]++;
    }
    myr_physical_done(&physical);
    myr_arena_done(&arena);
}

static void join(struct bench *b, uint32_t link, uint32_t port_b)
{
    b->port_link[b->link_b[link]] = MYR_NONE;
    b->link_b[link] = port_b;
    b->port_link[port_b] = link;
}

static void swap_links(struct bench *b, struct table *table)
{
    for (uint32_t i = 0; i < b->design.link_count; i++) {
        for (uint32_t k = i + 1; k < b->design.link_count; k++) {
            uint32_t here = b->link_b[i], there = b->link_b[k];
            join(b, i, there);
            join(b, k, here);
            b->port_link[there] = i;
            look(b, table);
            join(b, i, here);
            join(b, k, there);
            b->port_link[here] = i;
        }
    }
}

/* What lies behind it moves up; a cable whose only link it was goes too. */
static void cut_link(struct bench *b, uint32_t link)
{
    uint32_t cable = b->link_cable[link];
    bool last = b->first_link[cable + 1] - b->first_link[cable] == 1;
    b->port_link[b->link_a[link]] = b->port_link[b->link_b[link]] = MYR_NONE;
    b->design.link_count--;
    for (uint32_t i = link; i < b->design.link_count; i++) {
        b->link_a[i] = b->link_a[i + 1];
        b->link_b[i] = b->link_b[i + 1];
        b->link_cable[i] = b->link_cable[i + 1] - last;
        b->port_link[b->link_a[i]] = b->port_link[b->link_b[i]] = i;
    }
    b->design.cable_count -= last;
    for (uint32_t c = cable; c < b->design.cable_count; c++) {
        b->cable_type[c] = b->cable_type[c + last];
        b->first_link[c + 1] = b->first_link[c + 1 + last] - 1;
    }
}

static void miss_links(struct bench *b, struct table *table)
{
    for (uint32_t i = 0; i < b->design.link_count; i++) {
        struct bench was = *b;
        cut_link(b, i);
        look(b, table);
        *b = was;
    }
}

static void move_links(struct bench *b, struct table *table)
{
    for (uint32_t i = 0; i < b->design.link_count; i++) {
        uint32_t was = b->link_b[i], device = b->port_device[was];
        for (uint32_t port = b->first_port[device]; port < b->first_port[device + 1]; port++) {
            if (b->port_link[port] == MYR_NONE) {
                join(b, i, port);
                look(b, table);
                join(b, i, was);
            }
        }
    }
}

static void change_types(struct bench *b, struct table *table)
{
    for (uint32_t cable = 0; cable < b->design.cable_count; cable++) {
        uint16_t was = b->cable_type[cable];
        for (uint32_t type = 0; type < b->design.cabletype_count; type++) {
            b->cable_type[cable] = (uint16_t)type;
            look(b, table);
        }
        b->cable_type[cable] = was;
    }
}

/* The last one of the two gives its type. */
static void merge_cables(struct bench *b, struct table *table)
{
    for (uint32_t cable = 0; cable + 1 < b->design.cable_count; cable++) {
        struct bench was = *b;
        b->design.cable_count--;
        for (uint32_t c = cable; c < b->design.cable_count; c++) {
            b->cable_type[c] = b->cable_type[c + 1];
            b->first_link[c + 1] = b->first_link[c + 2];
        }
        for (uint32_t link = b->first_link[cable + 1] - 1; link < b->design.link_count; link++) {
            b->link_cable[link] -= link >= was.first_link[cable + 1];
        }
        for (uint32_t link = was.first_link[cable + 1]; link < b->first_link[cable + 1]; link++) {
            b->link_cable[link] = cable;
        }
        look(b, table);
        *b = was;
    }
}

/* Behind each of their links but the last. */
static void split_cables(struct bench *b, struct table *table)
{
    for (uint32_t link = 1; link < b->design.link_count; link++) {
        uint32_t cable = b->link_cable[link];
        if (b->link_cable[link - 1] != cable) {
            continue;
        }
        struct bench was = *b;
        b->design.cable_count++;
        for (uint32_t c = b->design.cable_count - 1; c > cable; c--) {
            b->cable_type[c] = b->cable_type[c - 1];
            b->first_link[c + 1] = b->first_link[c];
        }
        b->first_link[cable + 1] = link;
        for (uint32_t i = link; i < b->design.link_count; i++) {
            b->link_cable[i]++;
        }
        look(b, table);
        *b = was;
    }
}

typedef void lay_fn(struct bench *b, struct table *table);

static void lay_wrong(struct bench *b, const char *what, lay_fn *wrong, struct myr_buf *told)
{
    struct table table = {};
    myr_arena_init(&table.arena);
    wrong(b, &table);
    myr_buf_printf(told, "%s: %u designs, nothing is said of %u\n", what, table.tried, table.clean);
    for (uint32_t i = 0; i < table.lines.count; i++) {
        myr_buf_printf(told, "  %4u designs, %4llu places, %s\n", table.designs.items[i],
                       (unsigned long long)table.places.items[i], table.lines.keys[i].data);
    }
    myr_vec_done(&table.places);
    myr_vec_done(&table.designs);
    myr_strmap_done(&table.lines);
    myr_arena_done(&table.arena);
}

static void what_is_said_of_cables_laid_wrong_is_kept(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    lay_wrong(&b, "two links changed places", swap_links, &told);
    lay_wrong(&b, "a link is missing", miss_links, &told);
    lay_wrong(&b, "a link is in another port of its box", move_links, &told);
    lay_wrong(&b, "a cable is of another type", change_types, &told);
    lay_wrong(&b, "two cables are one", merge_cables, &told);
    lay_wrong(&b, "a cable is two", split_cables, &told);
    assert_kept("physical-wiring.txt", &told);
    bench_done(&b);
}

/* The storage leaves' uplinks: the first of a cage by the head of a splitter, towards the hosts. */
static void a_splitter_and_a_straight_fibre_do_not_share_a_cage(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    uint32_t link = b.port_link[bench_port(&b, shop_first(SHOP_STORAGE_LEAF), 1, 0)];
    struct myr_cabletype fork = b.cabletypes[b.cable_type[b.link_cable[link]]];
    fork.part = bench_text(&b, "mpo-split");
    fork.legs = 2;
    b.cable_type[b.link_cable[link]] = (uint16_t)bench_lay(&b, fork);
    /* Both links of the cable leave by one connector, or the second by itself. */
    bench_tell(&b, &told);
    assert_null(strstr(told.data, "physical-cage-mixed"));
    uint32_t straight = bench_lay(&b, b.cabletypes[b.cable_type[b.link_cable[link + 2]]]);
    bench_cable(&b, straight);
    b.link_cable[link + 1] = b.design.cable_count - 1;
    myr_buf_clear(&told);
    bench_tell(&b, &told);
    assert_non_null(strstr(told.data,
                           "physical-cage-mixed, 1 at storage leaf_spine: a straight fibre "
                           "and a splitter in one cage of ethsw\n"));
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_cables_laid_wrong_is_kept),
        cmocka_unit_test(a_splitter_and_a_straight_fibre_do_not_share_a_cage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
