/*
 * design.json against the design: every key that docs/schema/design.json promises, and every value,
 * read back by the reader of documents, which shares nothing with the writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "myriad/plan.h"
#include "myriad/text.h"

static struct myr_arena arena;
static struct myr_catalog catalog;

static int set_up(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return myr_catalog_init(&catalog, &arena, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    myr_catalog_done(&catalog);
    myr_arena_done(&arena);
    return 0;
}

static const struct myr_doc *need(const struct myr_doc *map, const char *key)
{
    const struct myr_doc *value = myr_doc_get(map, key);
    if (!value) {
        fail_msg("'%s' is missing in line %u", key, map->line);
    }
    return value;
}

static void assert_number(const struct myr_doc *map, const char *key, uint64_t expected)
{
    uint64_t value;
    const struct myr_doc *there = need(map, key);
    if (!myr_str_to_u64(there->text, &value) || value != expected) {
        fail_msg("line %u: '%s' is %.*s, not %llu", map->line, key, (int)there->text.len,
                 there->text.data, (unsigned long long)expected);
    }
}

static void assert_words(const struct myr_doc *map, const char *key, const char *expected)
{
    const struct myr_doc *there = need(map, key);
    if (!myr_str_eq(there->text, myr_str_from(expected))) {
        fail_msg("line %u: '%s' is '%.*s', not '%s'", map->line, key, (int)there->text.len,
                 there->text.data, expected);
    }
}

static const char *name_of(const struct myr_design *design, uint32_t device)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_name(design, device, &name);
    return myr_arena_strndup(&arena, name.data, name.len);
}

static const char *port_of(const struct myr_design *design, uint32_t port)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_port_name(design, port, &name);
    return myr_arena_strndup(&arena, name.data, name.len);
}

/* Keys of a map in the order of the schema's list of required ones. */
static void assert_keys(const struct myr_doc *map, const struct myr_doc *schema)
{
    const struct myr_doc *required = need(schema, "required");
    assert_int_equal(map->count, required->count);
    for (uint32_t i = 0; i < required->count; i++) {
        if (!myr_doc_get(map, myr_arena_strndup(&arena, required->items[i]->text.data,
                                                required->items[i]->text.len))) {
            fail_msg("line %u: '%.*s' is missing", map->line, (int)required->items[i]->text.len,
                     required->items[i]->text.data);
        }
    }
}

static void check_head(const struct myr_doc *doc, const struct myr_design *design)
{
    const struct myr_design_head *head = design->head;
    assert_number(doc, "version", 1);
    assert_words(doc, "name", myr_design_str(design, head->name));
    assert_number(doc, "servers", head->servers);
    assert_number(doc, "nodes", head->nodes);
    assert_number(doc, "gpus", head->gpus);
    assert_number(doc, "gpus_per_node", head->gpus_per_node);
    assert_number(doc, "scale_up_gpus", head->scale_up_gpus);
}

static void check_devices(const struct myr_doc *doc, const struct myr_design *design,
                          const struct myr_doc *schema)
{
    const struct myr_doc *list = need(doc, "devices");
    const struct myr_doc *item = need(need(need(schema, "properties"), "devices"), "items");
    assert_int_equal(list->count, design->device_count);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct myr_doc *row = list->items[i];
        const struct myr_devtype *type = &design->devtypes[design->device_type[i]];
        assert_keys(row, item);
        assert_number(row, "id", i);
        assert_words(row, "name", name_of(design, i));
        assert_words(row, "part", myr_design_str(design, type->part));
        assert_number(row, "first_port", design->first_port[i]);
        assert_number(row, "ports", design->first_port[i + 1] - design->first_port[i]);
    }
}

static void check_links(const struct myr_doc *doc, const struct myr_design *design,
                        const struct myr_doc *schema)
{
    const struct myr_doc *list = need(doc, "links");
    const struct myr_doc *item = need(need(need(schema, "properties"), "links"), "items");
    assert_int_equal(list->count, design->link_count);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct myr_doc *row = list->items[i];
        uint32_t a = design->link_a[i], b = design->link_b[i], cable = design->link_cable[i];
        assert_keys(row, item);
        assert_number(row, "id", i);
        assert_number(row, "cable", cable);
        assert_number(row, "type", design->cable_type[cable]);
        assert_words(row, "a", name_of(design, design->port_device[a]));
        assert_words(row, "b", name_of(design, design->port_device[b]));
        assert_words(row, "a_port", port_of(design, a));
        assert_words(row, "b_port", port_of(design, b));
    }
}

static void check_types(const struct myr_doc *doc, const struct myr_design *design,
                        const struct myr_doc *schema)
{
    const struct myr_doc *list = need(doc, "cable_types");
    const struct myr_doc *item = need(need(need(schema, "properties"), "cable_types"), "items");
    assert_int_equal(list->count, design->cabletype_count);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct myr_doc *row = list->items[i];
        const struct myr_cabletype *type = &design->cabletypes[i];
        double metres;
        assert_keys(row, item);
        assert_words(row, "network", myr_net_names[type->net]);
        assert_words(row, "layer", myr_layer_names[type->layer]);
        assert_words(row, "part", myr_design_str(design, type->part));
        assert_words(row, "optic_a", myr_design_str(design, type->optic_a));
        assert_words(row, "optic_b", myr_design_str(design, type->optic_b));
        assert_number(row, "gbps", type->gbps);
        assert_number(row, "legs", type->legs);
        assert_true(myr_str_to_double(need(row, "length_m")->text, &metres));
        assert_int_equal((uint64_t)(metres * 1000 + 0.5), type->length_mm);
    }
}

static void check_inside(const struct myr_doc *doc, const struct myr_design *design)
{
    static const char *const kinds[] = {"numa", "pcie_switch",     "gpu",
                                        "nic",  "scale_up_switch", "dpu"};
    const struct myr_doc *parts = need(doc, "node_parts"), *links = need(doc, "node_links");
    assert_int_equal(parts->count, design->inside_count);
    for (uint32_t i = 0; i < parts->count; i++) {
        assert_words(parts->items[i], "kind", kinds[design->insides[i].kind]);
        assert_number(parts->items[i], "index", design->insides[i].index);
        assert_number(parts->items[i], "numa", design->insides[i].numa);
        bool is_nic = design->insides[i].kind == MYR_INSIDE_NIC;
        assert_words(parts->items[i], "network",
                     is_nic ? myr_net_names[design->insides[i].net] : "null");
    }
    assert_int_equal(links->count, design->inside_link_count);
    for (uint32_t i = 0; i < links->count; i++) {
        assert_number(links->items[i], "a", design->inside_links[i].a);
        assert_number(links->items[i], "b", design->inside_links[i].b);
        assert_number(links->items[i], "gbps", design->inside_links[i].gbps);
    }
}

static const struct myr_doc *written(const struct myr_design *design)
{
    char path[] = "/tmp/myr-design-json-XXXXXX";
    struct myr_outfile file;
    const struct myr_doc *doc;
    struct myr_err err = {};
    close(mkstemp(path));
    assert_int_equal(myr_outfile_open(&file, path, &err), MYR_OK);
    myr_design_put_json(design, &file);
    assert_int_equal(myr_outfile_commit(&file, &err), MYR_OK);
    int rc = myr_doc_read_file(&arena, path, &doc, &err);
    unlink(path);
    if (rc < 0) {
        fail_msg("%s", err.message);
    }
    return doc;
}

static void design_json_says_what_the_design_says(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "name: small\nservers: 5\nserver: h100-8gpu\n",
        "name: 'a \"quoted\" name'\nservers: 2\nserver: gb200-nvl72\n"
        "networks: {compute: {switch: mqm9790-ns2f}}\n",
        "servers: 40\nserver: h100-8gpu\n"
        "networks: {compute: {switch: mqm9790, leaf_down: 8, leaf_up: 4, tiers: 3}}\n",
    };
    const struct myr_doc *schema;
    struct myr_err err = {};
    assert_int_equal(
        myr_doc_read_file(&arena, MYR_SOURCE_DIR "/docs/schema/design.json", &schema, &err),
        MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
        struct myr_design design;
        const struct myr_doc *text;
        if (myr_doc_read_yaml(&arena, "spec", myr_str_from(specs[i]), &text, &err) < 0 ||
            myr_spec_read(&arena, &catalog, text, &spec, &err) < 0 ||
            myr_plan(&arena, &catalog, &spec, &design, &err) < 0) {
            fail_msg("%s", err.message);
        }
        const struct myr_doc *doc = written(&design);
        assert_keys(doc, schema);
        check_head(doc, &design);
        check_devices(doc, &design, schema);
        check_links(doc, &design, schema);
        check_types(doc, &design, schema);
        check_inside(doc, &design);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(design_json_says_what_the_design_says),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
