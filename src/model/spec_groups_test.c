/* Groups of servers, extra items, and a spec with its price list: what is read, refused and kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "model_test.h"
#include "myriad/model/spec_load.h"

#define NETS "networks: {compute: {}, storage: {}, oob: {}}\n"

/* "3 x h100-8gpu a 0xb at 1, ...; in all 3 x h100-8gpu", items behind it; or what is said. */
static void put_spec(struct fixture *f, const char *text, struct myr_buf *ret)
{
    const struct myr_doc *doc;
    struct myr_spec spec = {};
    struct myr_err err = {};
    myr_buf_clear(ret);
    assert_int_equal(myr_doc_read_yaml(&f->arena, "s", myr_str_from(text), &doc, NULL), MYR_OK);
    if (myr_spec_read(&f->arena, &f->catalog, doc, &spec, &err) < 0) {
        myr_buf_printf(ret, "%s%s%s", err.message, err.hint[0] ? " | " : "", err.hint);
        return;
    }
    for (uint32_t i = 0; i < spec.group_count; i++) {
        const struct myr_spec_group *g = &spec.groups[i];
        myr_buf_printf(ret, "%u x %s %s 0x%x line %u, ", g->servers,
                       f->catalog.parts.items[g->server_part].id, g->name, g->networks,
                       g->node->line);
    }
    myr_buf_printf(ret, "in all %u x %s", spec.servers,
                   f->catalog.parts.items[spec.server_part].id);
    for (size_t i = 0; i < spec.items.count; i++) {
        const struct myr_spec_item *item = &spec.items.items[i];
        myr_buf_printf(ret, "; %g x %s per %s of %s, %s, line %u", item->quantity,
                       f->catalog.parts.items[item->part].id, myr_per_names[item->per],
                       item->system ? item->system : "-", item->name ? item->name : "-",
                       item->node->line);
    }
    myr_spec_done(&spec);
}

static const struct {
    const char *text, *says;
} specs[] = {
    {NETS "groups:\n- {name: a, servers: 3, server: h100-8gpu}\n",
     "3 x h100-8gpu a 0xb line 3, in all 3 x h100-8gpu"},
    {NETS "groups:\n- {name: a, servers: 3, server: h100-8gpu, networks: [compute]}\n"
          "- {name: b, servers: 1, server: a100-8gpu, networks: [oob, compute]}\n"
          "- {name: c, servers: 4, server: a100-8gpu, networks: [storage]}\n"
          "- {name: d, servers: 5, server: h100-8gpu, networks: [oob, storage, oob]}\n",
     "3 x h100-8gpu a 0x1 line 3, 1 x a100-8gpu b 0x9 line 4, 4 x a100-8gpu c 0x2 line 5, "
     "5 x h100-8gpu d 0xa line 6, in all 13 x h100-8gpu"},
    {"groups: []\n", "s:1:9: 'groups' has 0 entries, 1 to 16 are expected"},
    {"groups: {}\n", "s:1:9: 'groups' is a map, a list is expected"},
    {"groups: [{}]\n", "s:1:10: the group lacks 'name'"},
    {"groups: [{name: a}]\n", "s:1:10: the group lacks 'servers'"},
    {"groups: [{name: a, servers: 1}]\n", "s:1:10: the group lacks 'server'"},
    {"groups: [{servers: 1, server: h100-8gpu}]\n", "s:1:10: the group lacks 'name'"},
    {"groups: [{name: a, servers: 0, server: h100-8gpu}]\n",
     "s:1:29: 'servers' is '0', a whole number from 1 to 1,000,000 is expected"},
    {"groups: [{name: a, servers: 1000000, server: h100-8gpu}]\n",
     "1000000 x h100-8gpu a 0x1 line 1, in all 1000000 x h100-8gpu"},
    {"groups: [{name: a, servers: 999999, server: h100-8gpu}, {name: b, servers: 1, "
     "server: h100-8gpu}]\n",
     "999999 x h100-8gpu a 0x1 line 1, 1 x h100-8gpu b 0x1 line 1, in all 1000000 x h100-8gpu"},
    {"groups: [{name: a, servers: 1000000, server: h100-8gpu}, {name: b, servers: 1, "
     "server: h100-8gpu}]\n",
     "s:1:9: 1000001 servers in all groups, at most 1000000"},
    {"groups: [{name: a, servers: 1, server: h100-8gpu}, {name: a, servers: 1, "
     "server: h100-8gpu}]\n",
     "s:1:52: two groups are called 'a'"},
    {"groups: [{name: a, servers: 1, server: h100-8gpu}, {name: b, servers: 1, "
     "server: h100-8gpu}, {name: a, servers: 1, server: h100-8gpu}]\n",
     "s:1:94: two groups are called 'a'"},
    {"groups: [{name: a, servers: 1, server: h100-8gpu, networks: []}]\n",
     "s:1:61: 'networks' is empty; one at least is expected"},
    {"groups: [{name: a, servers: 1, server: h100-8gpu, networks: compute}]\n",
     "s:1:61: 'networks' is 'compute', a list is expected"},
    {"groups: [{name: a, servers: 1, server: h100-8gpu, networks: [storage]}]\n",
     "s:1:62: the spec has no network 'storage'; add it under 'networks'"},
    {NETS "groups: [{name: a, servers: 1, server: h100-8gpu, networks: [storage]}]\n",
     "s:2:9: no group hangs on the compute network"},
    {NETS "groups:\n- {name: a, servers: 1, server: h100-8gpu, networks: [storage]}\n"
          "- {name: b, servers: 1, server: h100-8gpu}\n",
     "1 x h100-8gpu b 0xb line 4, 1 x h100-8gpu a 0x2 line 3, in all 2 x h100-8gpu"},
    {"servers: 1\nserver: h100-8gpu\nitems:\n- {part: firewall}\n"
     "- {part: cx7-400g, per: server, quantity: 2.5, system: x, name: y}\n",
     "in all 1 x h100-8gpu; 1 x firewall per piece of other, -, line 4; 2.5 x cx7-400g-osfp per "
     "server of x, y, line 5"},
    {"servers: 1\nserver: zzzzzzzzzzzzzzzzz\n", "s:2:9: unknown server 'zzzzzzzzzzzzzzzzz' | "
                                                "myriad catalog --kind 'server' lists them"},
    {"servers: 1\nserver: firewall\n",
     "s:2:9: 'server' is 'firewall', of kind device; a server is expected"},
    {"servers: 1\nnetworks: {service: {access_switch: h100-8gpu}}\n",
     "s:2:37: 'access_switch' is 'h100-8gpu', of kind server; an Ethernet switch is expected"},
    {"servers: 1\nitems: [{per: server}]\n", "s:2:9: the item lacks 'part'"},
    {"servers: 1\nitems: [{part: firewal}]\n",
     "s:2:16: unknown part 'firewal' in 'items'; did you mean 'firewall' or 'border-firewall'?"},
    {"servers: 1\nitems: [{part: zzzzzzzzzzzzzzzz}]\n",
     "s:2:16: unknown part 'zzzzzzzzzzzzzzzz' in 'items'"},
};

static void groups_and_items_are_read_or_refused(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        put_spec(f, specs[i].text, &said);
        assert_string_equal(said.data, specs[i].says);
    }
}

static void there_are_sixteen_groups_at_most(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, said = {};
    myr_buf_puts(&text, "groups:\n");
    for (uint32_t i = 1; i <= 17; i++) {
        myr_buf_printf(&text, "- {name: g%u, servers: %u, server: h100-8gpu}\n", i, i);
        put_spec(f, text.data, &said);
        if (i == 16) {
            assert_non_null(strstr(said.data, "16 x h100-8gpu g16 0x1 line 17, in all 136 x"));
        }
    }
    assert_string_equal(said.data, "s:2:1: 'groups' has 17 entries, 1 to 16 are expected");
}

/* Names from files may be of any length. */
static void a_name_of_any_length_is_looked_up(void **state)
{
    struct fixture *f = *state;
    static char text[1 << 16];
    memset(text, 'H', sizeof(text));
    for (size_t len = 1; len <= sizeof(text); len *= 2) {
        assert_int_equal(myr_catalog_find(&f->catalog, (struct myr_str){text, len}), MYR_PART_NONE);
    }
    assert_int_equal(myr_catalog_find(&f->catalog, MYR_STR("H100-8GPU")),
                     find_part(f, "h100-8gpu"));
    assert_int_equal(myr_catalog_find(&f->catalog, MYR_STR("")), MYR_PART_NONE);
}

/* The planner complains about some numbers later: their places are kept for it. */
static void places_of_a_facility_are_kept(void **state)
{
    struct fixture *f = *state;
    const struct myr_doc *doc;
    struct myr_spec spec = {};
    assert_int_equal(
        myr_doc_read_yaml(&f->arena, "s",
                          MYR_STR("servers: 1\nfacility:\n  ups: {kind: 2n, modules: 2}\n"
                                  "  supply: {volts: 400}\n  cdu: {kw: 100}\n"
                                  "  pool: {kw: 50}\n  module: {racks: 4}\n"),
                          &doc, NULL),
        MYR_OK);
    assert_int_equal(myr_spec_read(&f->arena, &f->catalog, doc, &spec, NULL), MYR_OK);
    const struct myr_doc *const nodes[] = {spec.facility.ups_node, spec.facility.supply_node,
                                           spec.facility.cdu_node, spec.facility.pool_node,
                                           spec.facility.module_node};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(nodes); i++) {
        assert_non_null(nodes[i]);
        assert_int_equal(nodes[i]->line, 3 + i);
    }
    myr_spec_done(&spec);
}

/* With its prices, or not at all; 'ret' is untouched where one of the two is wrong. */
static void a_spec_is_loaded_with_its_prices(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/myriad-spec-XXXXXX", spec_path[80], list_path[80];
    struct myr_buf text = {};
    assert_non_null(mkdtemp(folder));
    snprintf(spec_path, sizeof(spec_path), "%s/s.yaml", folder);
    snprintf(list_path, sizeof(list_path), "%s/p.csv", folder);
    myr_buf_puts(&text, "servers: 7\nserver: h100-8gpu\n");
    assert_int_equal(myr_file_write(spec_path, &text, NULL), MYR_OK);
    myr_buf_clear(&text);
    myr_buf_puts(&text, "part,price,currency\nh100-8gpu,3,EUR\n");
    assert_int_equal(myr_file_write(list_path, &text, NULL), MYR_OK);
    struct myr_spec spec = {.servers = 1};
    struct myr_err err = {};
    struct myr_price_file none = {.path = "none.csv"}, wrong = {.path = spec_path};
    struct myr_price_file list = {.path = list_path};
    assert_true(myr_spec_load(&f->arena, &f->catalog, spec_path, &none, &spec, &err) < 0);
    assert_string_equal(err.message, "none.csv: cannot open: No such file or directory");
    assert_int_equal(spec.servers, 1);
    assert_true(myr_spec_load(&f->arena, &f->catalog, list_path, NULL, &spec, &err) < 0);
    assert_int_equal(spec.servers, 1);
    assert_true(myr_spec_load(&f->arena, &f->catalog, spec_path, &wrong, &spec, &err) < 0);
    assert_non_null(strstr(err.message, "a price list (CSV: part,price,currency,date)"));
    assert_int_equal(myr_spec_load(&f->arena, &f->catalog, spec_path, NULL, &spec, NULL), MYR_OK);
    assert_int_equal(spec.servers, 7);
    assert_int_equal(spec.own_prices.count, 0);
    myr_spec_done(&spec);
    assert_int_equal(myr_spec_load(&f->arena, &f->catalog, spec_path, &list, &spec, NULL), MYR_OK);
    assert_int_equal(spec.own_prices.count, 1);
    assert_int_equal(spec.own_prices.items[0].cents, 300);
    assert_string_equal(spec.own_prices.items[0].note, list_path);
    assert_string_equal(spec.currency, "EUR");
    myr_spec_done(&spec);
    unlink(spec_path);
    unlink(list_path);
    rmdir(folder);
    myr_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(groups_and_items_are_read_or_refused, open_catalog,
                                        close_catalog),
        cmocka_unit_test_setup_teardown(there_are_sixteen_groups_at_most, open_catalog,
                                        close_catalog),
        cmocka_unit_test_setup_teardown(a_name_of_any_length_is_looked_up, open_catalog,
                                        close_catalog),
        cmocka_unit_test_setup_teardown(places_of_a_facility_are_kept, open_catalog, close_catalog),
        cmocka_unit_test_setup_teardown(a_spec_is_loaded_with_its_prices, open_catalog,
                                        close_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
