/*
 * A spec with every section, each of its values in turn of another kind: a word, a list, a map,
 * nothing. What is said of it, and where, is kept (tests/kept/model-kinds.txt): a reader that takes
 * what it should not shows there as a line that says nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "model_test.h"
#include "myriad/model/spec.h"

static const char whole[] = "name: all\n"
                            "servers: 8\n"
                            "server: h100-8gpu\n"
                            "supplied: [servers]\n"
                            "accept: [no-optics]\n"
                            "networks:\n"
                            "  compute:\n"
                            "    switch: mqm9790-ns2f\n"
                            "    topology: rail\n"
                            "    tiers: 2\n"
                            "    leaf_down: 16\n"
                            "    oversubscription: [1]\n"
                            "    length_m: {host_leaf: 5, leaf_spine: 30}\n"
                            "    items: [{part: firewall, quantity: 2}]\n"
                            "  storage: {switch: mqm9790-ns2f}\n"
                            "  oob: {}\n"
                            "storage:\n"
                            "  capacity_pb: 1\n"
                            "  read_gbytes_per_s: 100\n"
                            "  checkpoint: {model: llama3-8b, window_s: 60}\n"
                            "  tiers: [{kind: object, capacity_pb: 1}]\n"
                            "items:\n"
                            "- {part: bastion, per: server, quantity: 1, system: s, name: n}\n"
                            "room:\n"
                            "  rows: 4\n"
                            "  columns: 8\n"
                            "  pitch_m: {row: 2, column: 1}\n"
                            "  aisles: {every: 2, width_m: 1}\n"
                            "  slack: {percent: 5, m: 1}\n"
                            "  trays: {width_mm: 300, cross_rows: [1, 2]}\n"
                            "  trunks: {cables: 12}\n"
                            "  zones: {leaf_rows: 1, spine_column: A}\n"
                            "  power: [{name: p}, {name: q, parents: [p], rows: 1-2}]\n"
                            "  cooling: [{name: c, columns: A-C}]\n"
                            "  buildings: [{name: a, rows: 4}, {name: b}]\n"
                            "  distances: [{from: a, to: b, m: 50}]\n"
                            "facility:\n"
                            "  it_kw: 100\n"
                            "  overheads: {fans: 0.1}\n"
                            "  energy: {tariff_per_kwh: 1}\n"
                            "  liquid: {share: 0.5}\n"
                            "  air: {delta_k: 10}\n"
                            "  cdu: {kw: 100}\n"
                            "  ups: {kind: 2n, modules: 2}\n"
                            "  supply: {volts: 400}\n"
                            "  floor: {kg_per_m2: 1000}\n"
                            "prices:\n"
                            "  book: cn-2024-05\n"
                            "  parts: {h100-8gpu: 5}\n"
                            "optimise:\n"
                            "  objective: capex\n"
                            "  choices: {tiers: [2, 3], cooling: [air]}\n"
                            "  constraints: {power_kw_max: 900}\n";

/* What is read of the document as it is now. */
static void put_said(struct fixture *f, const struct myr_doc *root, const char *kind,
                     struct myr_buf *story)
{
    struct myr_spec spec = {};
    struct myr_err err = {};
    if (myr_spec_read(&f->arena, &f->catalog, root, &spec, &err) < 0) {
        myr_buf_printf(story, "  %s: %s\n", kind, err.message);
        return;
    }
    myr_buf_printf(story, "  %s: -\n", kind);
    myr_spec_done(&spec);
}

/* The value at '*at' as each of the other kinds, at its own place in the file. */
static void turn(struct fixture *f, const struct myr_doc *root, const struct myr_doc **at,
                 const char *path, struct myr_buf *story)
{
    static const char *const kinds[] = {"x", "[x]", "{x: 1}", "~", "''"};
    const struct myr_doc *before = *at;
    myr_buf_printf(story, "%s\n", path);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        const struct myr_doc *read;
        assert_int_equal(myr_doc_read_yaml(&f->arena, "s", myr_str_from(kinds[i]), &read, &f->err),
                         MYR_OK);
        struct myr_doc other = *read;
        other.file = before->file;
        other.line = before->line;
        other.column = before->column;
        *at = &other;
        put_said(f, root, kinds[i], story);
    }
    *at = before;
}

static void walk(struct fixture *f, const struct myr_doc *root, const struct myr_doc *node,
                 const char *path, struct myr_buf *story)
{
    for (uint32_t i = 0; node->kind != MYR_DOC_SCALAR && i < node->count; i++) {
        bool map = node->kind == MYR_DOC_MAP;
        const struct myr_doc **at = map ? &node->entries[i].value : &node->items[i];
        const char *name =
            map ? myr_arena_printf(&f->arena, "%s%s%.*s", path, *path ? "." : "",
                                   (int)node->entries[i].key.len, node->entries[i].key.data)
                : myr_arena_printf(&f->arena, "%s[%u]", path, i);
        turn(f, root, at, name, story);
        walk(f, root, *at, name, story);
    }
}

static void values_of_another_kind_are_refused(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    const struct myr_doc *root;
    assert_int_equal(myr_doc_read_yaml(&f->arena, "s", myr_str_from(whole), &root, &f->err),
                     MYR_OK);
    put_said(f, root, "as it is", &story);
    walk(f, root, root, "", &story);
    assert_kept("model-kinds.txt", &story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_of_another_kind_are_refused, open_catalog,
                                        close_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
