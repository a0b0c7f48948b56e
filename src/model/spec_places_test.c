/*
 * Where a spec says something, and what is said of it there: the planner complains with the places
 * that are kept here, and whoever wrote the spec reads the messages from the first to the last
 * word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model_test.h"
#include "myriad/model/spec.h"
#include "myriad/model/spec_load.h"

static int read_text(struct fixture *f, const char *file, const char *text, struct myr_spec *ret)
{
    const struct myr_doc *doc;
    f->err = (struct myr_err){};
    MYR_TRY(myr_doc_read_yaml(&f->arena, file, myr_str_from(text), &doc, &f->err));
    return myr_spec_read(&f->arena, &f->catalog, doc, ret, &f->err);
}

static struct myr_spec must_read(struct fixture *f, const char *text)
{
    struct myr_spec spec = {};
    if (read_text(f, "s", text, &spec) < 0) {
        fail_msg("%s\n%s", f->err.message, text);
    }
    return spec;
}

/* The whole message; a spec that is refused leaves what was there as it was. */
static void assert_said(struct fixture *f, const char *text, const char *says)
{
    struct myr_spec spec = {.servers = 77};
    if (read_text(f, "s", text, &spec) >= 0) {
        fail_msg("read:\n%s", text);
    }
    assert_string_equal(f->err.message, says);
    assert_int_equal(spec.servers, 77);
    assert_null(spec.own_prices.items);
    assert_null(spec.items.items);
    assert_null(spec.accept.items);
}

/* --- places */

static void put_place(struct myr_buf *ret, const char *what, const struct myr_doc *node)
{
    if (node) {
        myr_buf_printf(ret, "%s %u:%u\n", what, node->line, node->column);
    }
}

static void put_room_places(struct myr_buf *ret, const struct myr_spec_room *room)
{
    put_place(ret, "room", room->node);
    for (uint32_t i = 0; i < room->building_count; i++) {
        put_place(ret, room->buildings[i].name, room->buildings[i].node);
    }
    for (uint32_t i = 0; i < room->power.count; i++) {
        put_place(ret, room->power.items[i].name, room->power.items[i].node);
    }
    for (uint32_t i = 0; i < room->cooling.count; i++) {
        put_place(ret, room->cooling.items[i].name, room->cooling.items[i].node);
    }
}

static void put_places(struct myr_buf *ret, const struct myr_spec *spec)
{
    put_place(ret, "root", spec->root);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        put_place(ret, myr_net_names[id], spec->nets[id].node);
        for (uint32_t i = 0; i < spec->nets[id].quantity_count; i++) {
            put_place(ret, "quantity", spec->nets[id].quantities[i].node);
        }
    }
    for (size_t i = 0; i < spec->items.count; i++) {
        put_place(ret, spec->items.items[i].system, spec->items.items[i].node);
    }
    for (uint32_t i = 0; i < spec->group_count; i++) {
        put_place(ret, spec->groups[i].name, spec->groups[i].node);
    }
    put_place(ret, "storage", spec->storage.node);
    put_place(ret, "model", spec->storage.model_node);
    for (uint32_t i = 0; i < MYR_TIER_COUNT; i++) {
        put_place(ret, myr_tier_names[i], spec->storage.tiers[i].node);
    }
    put_room_places(ret, &spec->room);
    put_place(ret, "facility", spec->facility.node);
    put_place(ret, "optimise", spec->optimise.node);
    for (uint32_t i = 0; i < MYR_CHOICE_COUNT; i++) {
        put_place(ret, myr_choice_names[i], spec->optimise.choices[i].node);
    }
    put_place(ret, "prices", spec->price_node);
}

static const struct {
    const char *text, *places;
} placed[] = {
    {"servers: 1\n", "root 1:1\ncompute 1:1\n"},
    {"servers: 1\nnetworks: {}\n", "root 1:1\n"},
    {"groups:\n  - {name: g, servers: 1, server: h100-8gpu}\n"
     "  - {name: h, servers: 1, server: h100-8gpu}\n",
     "root 1:1\ncompute 1:1\ng 2:5\nh 3:5\n"},
    {"servers: 1\nnetworks:\n  storage:\n    items: [{part: bastion}]\n"
     "    pin:\n      quantities:\n        firewall: 1\n        bastion: 2\n  service:\n"
     "items:\n  - {part: firewall}\n",
     "root 1:1\nstorage 4:5\nquantity 7:19\nquantity 8:18\nservice 9:11\nstorage 4:13\n"
     "other 11:5\n"},
    {"servers: 1\nstorage:\n  checkpoint:\n    window_s: 5\n    model: m\n  tiers:\n"
     "    - {kind: object, capacity_pb: 1}\n    - {kind: hybrid, capacity_tb: 1}\n",
     "root 1:1\ncompute 1:1\nstorage 3:3\nmodel 5:12\nhybrid 8:7\nobject 7:7\n"},
    {"servers: 1\nroom:\n  distance_m: 5\n  buildings:\n    - {name: a}\n    - {name: b}\n"
     "  power:\n    - {name: p}\n    - {name: q, parents: [p]}\n  cooling: [{name: c}]\n",
     "root 1:1\ncompute 1:1\nroom 3:3\na 5:7\nb 6:7\np 8:7\nq 9:7\nc 10:13\n"},
    {"servers: 1\nfacility:\n  bill: true\noptimise:\n  choices:\n    planes: [1]\n"
     "    switch: [sn5600]\n    fill: [dense]\n    topology: [rail]\n    tiers: [1]\n"
     "    oversubscription: [1]\n    cooling: [air]\n",
     "root 1:1\ncompute 1:1\nfacility 3:3\noptimise 5:3\nswitch 7:13\ntopology 9:15\n"
     "tiers 10:12\nfill 8:11\noversubscription 11:23\nplanes 6:13\ncooling 12:14\n"},
    /* Of prices: the list, where there is one; it is looked for from the folder of this file. */
    {"servers: 1\nprices: cn-2024-05\n", "root 1:1\ncompute 1:1\nprices 2:9\n"},
    {"servers: 1\nprices:\n  book: cn-2024-05\n", "root 1:1\ncompute 1:1\nprices 3:3\n"},
    {"servers: 1\nprices: {book: cn-2024-05, file: l.csv}\n",
     "root 1:1\ncompute 1:1\nprices 2:34\n"},
};

static void later_complaints_find_the_place(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(placed); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf places = {};
        struct myr_spec spec = must_read(f, placed[i].text);
        put_places(&places, &spec);
        assert_string_equal(places.data, placed[i].places);
        myr_spec_done(&spec);
    }
}

/* --- messages */

static const struct {
    const char *text, *says;
} refused[] = {
    {"name: x\n", "s:1:1: the spec lacks 'servers', the number of GPU servers"},
    {"servers: 1\ngroups: [{name: g, servers: 1, server: h100-8gpu}]\n",
     "s:2:9: give 'groups', or 'servers' and 'server', not both"},
    {"server: h100-8gpu\ngroups: [{name: g, servers: 1, server: h100-8gpu}]\n",
     "s:2:9: give 'groups', or 'servers' and 'server', not both"},
    {"server: h100-8gpu\n", "s:1:1: the spec lacks 'servers', the number of GPU servers"},
    /* A key that nobody knows is told before a value that is wrong. */
    {"servers: -1\nsevers: 2\n",
     "s:2:1: unknown key 'severs' in the spec; did you mean 'servers' or 'server'?"},
    {"servers: 1\nname: ''\n", "s:2:7: 'name' is empty, text is expected"},
    {"servers: 1\nnetworks: [compute]\n",
     "s:2:11: 'networks' is a list, a map of keys is expected"},
    {"servers: 1\nnetworks: {compute: 3}\n",
     "s:2:21: 'networks.compute' is '3', a map of keys is expected"},
    {"servers: 1\nnetworks: {compute: {tier: 3}}\n",
     "s:2:22: unknown key 'tier' in networks.compute; did you mean 'tiers'?"},
    {"servers: 1\nnetworks: {compute: {oversubscription: []}}\n",
     "s:2:40: 'oversubscription' has 0 entries, one for each tier (at most 3) is expected"},
    {"servers: 1\nnetworks: {compute: {oversubscription: [1, 1, 1, 1]}}\n",
     "s:2:40: 'oversubscription' has 4 entries, one for each tier (at most 3) is expected"},
    {"servers: 1\nnetworks: {compute: {dims: [2]}}\n",
     "s:2:28: 'dims' has 1 entries, 2 or 3 are expected"},
    {"servers: 1\nnetworks: {compute: {dims: [2, 2, 2, 2]}}\n",
     "s:2:28: 'dims' has 4 entries, 2 or 3 are expected"},
    {"servers: 1\nnetworks: {compute: {pin: {host_cable: mms4x00-ns}}}\n",
     "s:2:40: 'host_cable' is 'mms4x00-ns', of kind transceiver; a cable is expected"},
    {"servers: 1\nnetworks: {compute: {pin: {fabric_optic: mfp7e30-n050}}}\n",
     "s:2:42: 'fabric_optic' is 'mfp7e30-n050', of kind cable; a transceiver is expected"},
    {"servers: 1\nnetworks: {compute: {core_switch: eth-agg-10g}}\n",
     "s:2:35: 'core_switch' is 'eth-agg-10g', of kind Ethernet switch; a switch is expected"},
    {"servers: 1\nnetworks: {compute: {aggregation_switch: sn5600}}\n",
     "s:2:42: 'aggregation_switch' is 'sn5600', of kind switch; an Ethernet switch is expected"},
    {"servers: 1\nnetworks: {oob: {items: [{part: bastion, per: rack}]}}\n",
     "s:2:47: 'per' is 'rack', one of piece, gpu, server, node, nic_port, switch is expected"},
    {"servers: 1\nsupplied: servers\n", "s:2:11: 'supplied' is 'servers', a list is expected"},
    {"servers: 1\naccept: optic-form\n", "s:2:9: 'accept' is 'optic-form', a list is expected"},
    {"servers: 1\nprices: {file: ''}\n", "s:2:16: 'file' is empty, text is expected"},
    {"servers: 1\nprices: {parts: {firewall: x}}\n",
     "s:2:28: 'price' is 'x', a number from 0 to 1e+12 is expected"},
    {"servers: 1\naccept: [a]\nprices: {parts: {firewall: 1, firewallx: 1}}\n"
     "items: [{part: bastion}]\n",
     "s:3:31: unknown part 'firewallx' in 'prices'; did you mean 'firewall'?"},
    {"servers: 1\nprices:\n  parts: {H100: 1,\n    h100-8gpu: 2}\n",
     "s:4:5: 'h100-8gpu' has a price in line 3 already"},
    {"servers: 1\nnetworks: {compute: {pin: {quantities: {mma4z00-ns: 700, MMA4Z00-NS: 8}}}}\n",
     "s:2:58: 'MMA4Z00-NS' has a quantity in line 2 already"},
    {"servers: 1\nstorage: {capacity: 1P, binary: true}\n",
     "s:2:33: 'binary' without 'capacity_pb', whose petabytes it is about; other capacities are "
     "decimal"},
    {"servers: 1\nstorage: {capacity_tb: 5, capacity: 3P}\n",
     "s:2:37: give 'capacity' or 'capacity_tb', not both"},
    {"servers: 1\nstorage: {server: h100-8gpu}\n",
     "s:2:19: 'server' is 'h100-8gpu', of kind server; a storage server is expected"},
    {"servers: 1\nstorage: {tiers: [{kind: object, capacity_tb: 1, server: bastion}]}\n",
     "s:2:58: 'server' is 'bastion', of kind device; a storage server is expected"},
    {"servers: 2\noptimise: {grow_to: 1}\n",
     "s:2:21: 'grow_to' is less than 'servers', as many or more are expected"},
    {"groups: [{name: g, servers: 2, server: h100-8gpu}]\noptimise: {grow_to: 9}\n",
     "s:2:21: 'grow_to' with 'groups', servers of one kind are expected"},
    {"servers: 1\noptimise: {objective: moved_cables}\n",
     "s:2:11: moved cables without 'grow_to', the servers of the larger cluster are expected"},
};

static void what_is_refused_is_said_whole(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(refused); i++) {
        assert_said(f, refused[i].text, refused[i].says);
    }
}

/* A list of 'count' entries, each with its number where the entry has one, inside 'text'. */
static const char *with_list(struct fixture *f, const char *text, const char *entry, uint32_t count)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    const char *at = strchr(text, '$'), *number = strchr(entry, '#');
    myr_buf_put(&buf, text, (size_t)(at - text));
    for (uint32_t i = 1; i <= count; i++) {
        size_t front = number ? (size_t)(number - entry) : strlen(entry);
        myr_buf_puts(&buf, i > 1 ? ", " : "");
        myr_buf_put(&buf, entry, front);
        if (number) {
            myr_buf_put_u64(&buf, i);
            myr_buf_puts(&buf, number + 1);
        }
    }
    myr_buf_puts(&buf, at + 1);
    return myr_arena_strndup(&f->arena, buf.data, buf.len);
}

static void lists_end_somewhere(void **state)
{
    static const struct {
        const char *text, *entry;
        uint32_t most;
        const char *says;
    } rows[] = {
        {"servers: 1\nitems: [$]\n", "{part: bastion}", 64, "s:2:8: more than 64 items"},
        {"servers: 1\naccept: [$]\n", "a", 256,
         "s:2:9: 'accept' has 257 entries, at most 256 are expected"},
        {"servers: 1\nroom: {trays: {cross_rows: [$]}}\n", "#", 64,
         "s:2:28: 'cross_rows' has 65 entries, 1 to 64 are expected"},
        {"servers: 1\nroom: {distance_m: 3, buildings: [$]}\n", "{name: b#}", 16,
         "s:2:34: 'buildings' has 17 entries, 1 to 16 are expected"},
        {"servers: 1\noptimise: {choices: {oversubscription: [$]}}\n", "#", 32,
         "s:2:40: 'oversubscription' has 33 entries, 1 to 32 are expected"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_spec spec =
            must_read(f, with_list(f, rows[i].text, rows[i].entry, rows[i].most));
        myr_spec_done(&spec);
        assert_said(f, with_list(f, rows[i].text, rows[i].entry, rows[i].most + 1), rows[i].says);
    }
    assert_said(f, with_list(f, "servers: 1\nroom: {power: [$]}\n", "{name: p#}", 4097),
                "s:2:15: 'power' has 4097 entries, at most 4096 are expected");
}

/* Every part of the catalogue may be counted by hand, thirty-two of them in a network. */
static void quantities_of_thirty_two_parts_may_be_fixed(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_puts(&text, "servers: 1\nnetworks: {compute: {pin: {quantities: {");
    for (uint32_t i = 0; i < 33; i++) {
        myr_buf_printf(&text, "%s: %u, ", f->catalog.parts.items[i].id, i + 100);
        if (i == 31) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf whole = {};
            myr_buf_printf(&whole, "%s}}}}\n", text.data);
            struct myr_spec spec = must_read(f, whole.data);
            const struct myr_spec_net *net = &spec.nets[MYR_NET_COMPUTE];
            assert_int_equal(net->quantity_count, 32);
            for (uint32_t k = 0; k < 32; k++) {
                assert_int_equal(net->quantities[k].part, k);
                assert_int_equal(net->quantities[k].quantity, k + 100);
            }
            myr_spec_done(&spec);
        }
    }
    myr_buf_puts(&text, "}}}}\n");
    assert_said(f, text.data, "s:2:40: 'quantities' has 33 entries, at most 32");
}

/* Names are copied and printed: a thousand bytes are enough for any. */
static void texts_have_a_thousand_bytes_at_most(void **state)
{
    static const struct {
        const char *text, *says; /* $ is the text */
    } rows[] = {
        {"servers: 1\nname: $\n", "s:2:7: 'name' has 1001 bytes, at most 1000 are expected"},
        {"servers: 1\naccept: [$]\n", "s:2:10: 'accept' has 1001 bytes, at most 1000 are expected"},
        {"servers: 1\nprices: {file: $}\n",
         "s:2:16: 'file' has 1001 bytes, at most 1000 are expected"},
        {"servers: 1\nroom: {power: [{name: $}, {name: b, parents: [$]}]}\n",
         "s:2:23: 'name' has 1001 bytes, at most 1000 are expected"},
    };
    struct fixture *f = *state;
    char longest[1002];
    memset(longest, 'x', sizeof(longest));
    longest[1001] = '\0';
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        for (size_t len = 1000; len <= 1001; len++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            for (const char *c = rows[i].text; *c; c++) {
                myr_buf_put(&text, *c == '$' ? longest : c, *c == '$' ? len : 1);
            }
            if (len == 1000) {
                struct myr_spec spec = must_read(f, text.data);
                myr_spec_done(&spec);
            } else {
                assert_said(f, text.data, rows[i].says);
            }
        }
    }
}

/* The path of a room's file is the spec's folder and the name, 4,095 bytes in all. */
static void the_path_of_a_room_ends_somewhere(void **state)
{
    struct fixture *f = *state;
    char file[4096 + 16];
    struct myr_spec spec = {};
    for (size_t folder = 4092; folder <= 4095; folder++) {
        memset(file, 'd', folder);
        memcpy(file + folder - 1, "/s", 3);
        /* The message begins with the file and has no room for more: the code says which it is. */
        assert_int_equal(read_text(f, file, "servers: 1\nroom: ab\n", &spec),
                         folder + 2 >= 4096 ? MYR_ERANGE : MYR_ENOENT);
    }
    assert_said(f, "servers: 1\nroom: no/such.yaml\n",
                "s:2:7: 'room' is 'no/such.yaml', a map or a file that can be read is expected "
                "(No such file or directory)");
}

/* --- values */

/* A bit for each word, in any order; a word that comes twice is meant once. */
static void what_others_supply_is_a_set(void **state)
{
    static const char *const words[] = {"servers", "management_nodes", "ethernet_cabling",
                                        "fabric_managers"};
    struct fixture *f = *state;
    for (uint32_t set = 0; set < 16; set++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        myr_buf_puts(&text, "servers: 1\nsupplied: [");
        for (uint32_t i = 0; i < 8; i++) {
            if (set & 1U << (3 - i % 4)) {
                myr_buf_printf(&text, "%s, ", words[3 - i % 4]);
            }
        }
        myr_buf_puts(&text, "]\n");
        struct myr_spec spec = must_read(f, text.data);
        assert_int_equal(spec.supplied, set);
        myr_spec_done(&spec);
    }
}

/* The first sixty-four books of a catalogue can be named. */
static void a_book_is_chosen_by_its_name(void **state)
{
    struct fixture *f = *state;
    for (size_t i = f->catalog.books.count; i < 66; i++) {
        assert_added(f, myr_arena_printf(&f->arena, "prices: {book-%zu: {title: t}}\n", i + 1));
    }
    assert_int_equal(f->catalog.books.count, 66);
    for (size_t i = 0; i < 66; i++) {
        struct myr_spec spec = {};
        const char *id = f->catalog.books.items[i].id;
        int rc =
            read_text(f, "s", myr_arena_printf(&f->arena, "servers: 1\nprices: %s\n", id), &spec);
        assert_int_equal(rc == MYR_OK, i < 64);
        if (rc == MYR_OK) {
            assert_string_equal(spec.price_book, id);
            assert_null(spec.price_file);
            myr_spec_done(&spec);
        }
    }
}

/* Own prices are whole cents, and say where they are from; a file is only named here. */
static void prices_of_a_spec_are_its_own(void **state)
{
    struct fixture *f = *state;
    struct myr_spec spec =
        must_read(f, "servers: 1\nprices: {file: my.csv, parts: {firewall: 0.01, bastion: 0, "
                     "log-audit: 1.23, h100: 12.5}}\n");
    static const int64_t cents[] = {1, 0, 123, 1250};
    static const char *const parts[] = {"firewall", "bastion", "log-audit", "h100-8gpu"};
    assert_int_equal(spec.own_prices.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct myr_price *price = &spec.own_prices.items[i];
        assert_int_equal(price->cents, cents[i]);
        assert_int_equal(price->part, find_part(f, parts[i]));
        assert_string_equal(price->note, "the spec's own price");
        assert_true(!price->assumed && !price->per_servers && !price->warranty_months);
    }
    assert_string_equal(spec.price_file, "my.csv");
    assert_null(spec.price_book);
    assert_null(spec.currency);
    myr_spec_done(&spec);
}

/* Petabytes win over terabytes, in the store itself and in a tier. */
static void the_larger_word_for_a_capacity_wins(void **state)
{
    struct fixture *f = *state;
    struct myr_spec spec = must_read(
        f, "servers: 1\nstorage: {capacity_tb: 7, capacity_pb: 2, server: flash-22x15, tiers: "
           "[{kind: hybrid, capacity_tb: 7, capacity_pb: 3, server: flash-22x15, copies: 2}]}\n");
    assert_true(spec.storage.capacity_tb == 2000);
    assert_true(spec.storage.tiers[MYR_TIER_HYBRID].capacity_tb == 3000);
    assert_int_equal(spec.storage.tiers[MYR_TIER_HYBRID].server_part, find_part(f, "flash-22x15"));
    assert_int_equal(spec.storage.tiers[MYR_TIER_HYBRID].copies, 2);
    assert_null(spec.storage.tiers[MYR_TIER_OBJECT].node);
    assert_int_equal(spec.storage.server_part, find_part(f, "flash-22x15"));
    myr_spec_done(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_catalog, close_catalog)
        TEST(later_complaints_find_the_place),
        TEST(what_is_refused_is_said_whole),
        TEST(lists_end_somewhere),
        TEST(quantities_of_thirty_two_parts_may_be_fixed),
        TEST(texts_have_a_thousand_bytes_at_most),
        TEST(the_path_of_a_room_ends_somewhere),
        TEST(what_others_supply_is_a_set),
        TEST(a_book_is_chosen_by_its_name),
        TEST(prices_of_a_spec_are_its_own),
        TEST(the_larger_word_for_a_capacity_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
