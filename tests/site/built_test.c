/*
 * The whole question of what was built: a design file, files of cables in every format, folders, a
 * binding, maps of names and speeds; and its answers in every form. Held against what was said when
 * somebody last looked (tests/kept/site-built.txt; MYRIAD_KEPT=write writes it anew): messages and
 * figures in plain sight, of each answer a digest.
 */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "designs.h"
#include "hands.h"
#include "kept.h"
#include "myriad/model/design_file.h"
#include "myriad/site/built.h"

enum { SEED = 20261119, TABLES = 14, HANDS = 6 };

static const struct shape shape = {
    "built", 5, "h100-8gpu",
    "compute: {switch: mqm9790-ns2f, leaf_down: 10}, storage: {switch: mqm9790-ns2f}"};

static const char truncated[] =
    "{\"lldp\": {\"interface\": [{\"swp1\": {\"chassis\": {\"node-00000\": "
    "{}}, \"port\": {\"id\": {\"type\": \"ifname\", \"value\": \"nic0\"}}}}, "
    "{\"swp2\": {\"chassis\"";

static void write_text(const char *path, const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_err err = {};
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
}

static void write_buf(const char *path, struct myr_buf *buf)
{
    struct myr_err err = {};
    assert_int_equal(myr_file_write(path, buf, &err), MYR_OK);
    myr_buf_clear(buf);
}

/* A host with a name of its own, which has its domain in one row and none in the others. */
static void write_spelled(const struct myr_buf *planned)
{
    static const struct myr_str host = {"node-00000", sizeof("node-00000") - 1};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const char *from = planned->data, *end = planned->data + planned->len, *at;
    for (uint32_t i = 0; (at = memmem(from, (size_t)(end - from), host.data, host.len)); i++) {
        myr_buf_put(&text, from, (size_t)(at - from));
        myr_buf_puts(&text, i ? "gpu7" : "gpu7.site.example");
        from = at + host.len;
    }
    myr_buf_put(&text, from, (size_t)(end - from));
    write_buf("spelled.csv", &text);
}

/* What was found: as planned, or as hands that were wrong plugged it, in three formats. */
static void write_cables(struct bench *bench)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, told = {};
    struct myr_cabling cabling;
    struct myr_err err = {};
    myr_cabling_init(&cabling, &bench->planned.arena);
    myr_cabling_from_design(&cabling, bench->design, MYR_NET_COMPUTE, MYR_NIC_AS_PORT);
    myr_write_p2p(&cabling, &text);
    write_spelled(&text);
    write_buf("planned.csv", &text);
    myr_write_netbox_cables(&cabling, &text);
    write_buf("netbox.csv", &text);
    myr_cabling_done(&cabling);
    myr_cabling_init(&cabling, &bench->planned.arena);
    myr_cabling_from_design(&cabling, bench->design, MYR_NET_STORAGE, MYR_NIC_AS_PORT);
    myr_write_p2p(&cabling, &text);
    write_buf("storage.csv", &text);
    myr_cabling_done(&cabling);
    struct site site = {.nics = MLX, .slow = 5, .noisy = 7};
    hands_at_work(bench, HANDS, &told);
    myr_cabling_init(&cabling, &bench->planned.arena);
    site_tell(&site, bench, &cabling, &told);
    myr_write_p2p(&cabling, &text);
    write_buf("found.csv", &text);
    myr_cabling_done(&cabling);
    myr_cabling_init(&cabling, &bench->planned.arena);
    myr_cabling_from_design(&cabling, bench->design, MYR_NET_COMPUTE, MYR_NIC_AS_DEVICE);
    struct myr_cabling_end kept = cabling.links.items[3].b;
    cabling.links.items[3].b = cabling.links.items[9].b;
    cabling.links.items[9].b = kept;
    assert_int_equal(myr_write_ibnetdiscover(&cabling, MYR_NETLIST_IBNETDISCOVER, &text, &err),
                     MYR_OK);
    write_buf("topology.txt", &text);
    myr_cabling_done(&cabling);
}

static void write_binding(const struct bench *bench)
{
    MYR_CLEANUP(myr_binding_done) struct myr_binding binding;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_arena arena;
    uint32_t row;
    myr_arena_init(&arena);
    myr_binding_init(&binding, &arena, bench->design);
    const struct myr_bound bound = {
        .device = 0, .port = MYR_NONE, .host = MYR_STR("gpu-a01"), .serial = MYR_STR("S1")};
    assert_true(myr_binding_add(&binding, &bound, &row));
    myr_binding_write(&binding, &text);
    write_buf("binding.yaml", &text);
    myr_arena_done(&arena);
}

/* A folder as people collect it: cables, tables of NetBox beside them, a text that ends early. */
static void write_folders(const struct bench *bench)
{
    char path[40];
    struct myr_err err = {};
    assert_int_equal(mkdir("many", 0755), 0);
    assert_int_equal(mkdir("one", 0755), 0);
    assert_int_equal(mkdir("none", 0755), 0);
    for (uint32_t i = 0; i < TABLES; i++) {
        snprintf(path, sizeof(path), "many/table-%02u.csv", i);
        write_text(path, i % 2 ? "name,slug\nr1,r1\n" : "name,site,status,role\nd1,s1,active,x\n");
    }
    write_text("many/leaf-1.json", truncated);
    write_text("many/leaf-2.json", truncated);
    write_text("one/table.csv", "name,slug\nr1,r1\n");
    write_text("one/leaf-1.json", truncated);
    write_text("none/read me.txt", "\n");
    write_text("hca.csv", "port,hca-name,x\nnic0,mlx5_0,\nnic1,mlx5_1,\nnic2,mlx5_4,\n");
    write_text("names.csv", "platform,os,pattern,when,cage,lane\nany,ours,Q{a},a <= cages,a,1\n");
    assert_int_equal(myr_design_write(bench->design, "x.myriad", &err), MYR_OK);
}

static uint64_t digest(const struct myr_buf *text)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < text->len; i++) {
        sum = (sum ^ (uint8_t)text->data[i]) * UINT64_C(1099511628211);
    }
    return sum ^ sum >> 32;
}

/* In each form: its length, its digest, or why there is none. */
static void put_forms(struct myr_buf *out, const char *what, const struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_printf(out, "  %s", what);
    for (uint32_t format = 0; format < MYR_FORMAT_COUNT; format++) {
        struct myr_answer_form form = {.format = (enum myr_format)format, .width = 100};
        struct myr_err err = {};
        myr_buf_clear(&text);
        if (myr_answer_write(answer, &form, &text, &err) < 0) {
            myr_buf_printf(out, " %s", err.message);
        } else {
            myr_buf_printf(out, " %zu:%08x", text.len, (unsigned)digest(&text));
        }
    }
    myr_buf_putc(out, '\n');
}

static void put_lists(struct myr_buf *out, const struct myr_built *built)
{
    static const char *const names[] = {"list 0", "list 1", "list 2", "list 3", "list 4",
                                        "list 5", "list 6", "list 7", "list 8", "list 9"};
    for (uint32_t l = 0; l < MYR_VERIFY_LISTS; l++) {
        struct myr_answer one;
        struct myr_verify_lists lists;
        myr_answer_init(&one, built->verify.arena, "myriad.verify", 1);
        myr_verify_answer(&built->verify, l == MYR_VERIFY_PORTS, &one, &lists);
        myr_verify_page_list(&lists, (enum myr_verify_list)l, &one);
        myr_answer_rows(&one, lists.lists[l]);
        put_forms(out, names[l], &one);
    }
}

static void put_orders(struct myr_buf *out, struct myr_built *built)
{
    struct myr_orders orders;
    struct myr_answer answer;
    struct myr_err err = {};
    const struct myr_orders_question question = {.crews = 2};
    assert_int_equal(myr_orders_make(&orders, built->verify.arena, &built->verify, &built->catalog,
                                     &question, &err),
                     MYR_OK);
    myr_answer_init(&answer, built->verify.arena, "myriad.orders", 1);
    myr_orders_answer(&orders, &answer);
    put_forms(out, "orders", &answer);
}

static void put_built(struct myr_buf *out, struct myr_built *built)
{
    const struct myr_verify *verify = &built->verify;
    struct myr_answer answer;
    struct myr_verify_lists lists;
    struct myr_discovery found = {};
    myr_buf_printf(out, "  %zu cables, %u truncated, %u tables, %zu names of NICs:",
                   built->cabling.links.count, built->truncated, built->table_count,
                   built->hcas.count);
    for (uint32_t s = 0; s < MYR_STATE_COUNT; s++) {
        myr_buf_printf(out, " %s %u", myr_port_state_names[s], verify->counts[s]);
    }
    myr_buf_putc(out, '\n');
    myr_built_remarks(built, out);
    myr_answer_init(&answer, verify->arena, "myriad.verify", 1);
    myr_verify_answer(verify, true, &answer, &lists);
    myr_built_put(built, &answer);
    myr_verify_page(verify, &answer);
    myr_built_say(built, &answer);
    put_forms(out, "verify", &answer);
    put_lists(out, built);
    put_orders(out, built);
    myr_binding_discover(&built->binding, verify, true, &found);
    myr_answer_init(&answer, verify->arena, "myriad.bind", 1);
    (void)myr_binding_answer(&built->binding, &found, &answer);
    put_forms(out, "bind", &answer);
}

/* --- questions */

static const char *const found_csv[] = {"found.csv"}, *const topology[] = {"topology.txt"};
static const char *const both[] = {"found.csv", "topology.txt"}, *const netbox[] = {"netbox.csv"};
static const char *const spelled[] = {"spelled.csv"};
static const char *const planned_csv[] = {"planned.csv"};
static const char *const two_nets[] = {"planned.csv", "storage.csv"};
static const char *const many[] = {"planned.csv", "many"}, *const one[] = {"planned.csv", "one"};
static const char *const none[] = {"none"}, *const missing[] = {"planned.csv", "nowhere.csv"};
static const char *const hca_pairs[] = {"mlx5_0=nic0", "hca.csv"}, *const hca_bad[] = {"mlx5_0=x"};
static const char *const speeds[] = {"NDR=200"}, *const speeds_bad[] = {"NDR:200"};

#define FILES(list)  .files = (list), .file_count = MYR_ARRAY_COUNT(list)
#define HCAS(list)   .hca_map = (list), .hca_count = MYR_ARRAY_COUNT(list)
#define SPEEDS(list) .speeds = (list), .speed_count = MYR_ARRAY_COUNT(list)

static const struct {
    const char *name;
    struct myr_built_question question;
} questions[] = {
    {"as planned", {FILES(planned_csv)}},
    {"every network", {FILES(planned_csv), .net = MYR_NET_COUNT}},
    {"two networks, two files", {FILES(two_nets), .net = MYR_NET_COUNT}},
    {"storage", {FILES(two_nets), .net = MYR_NET_STORAGE}},
    {"no such network", {FILES(planned_csv), .net = MYR_NET_OOB}},
    {"netbox", {FILES(netbox)}},
    {"netbox as a list", {FILES(netbox), .from = MYR_IMPORT_P2P}},
    {"miswired", {FILES(found_csv)}},
    {"miswired, InfiniBand", {FILES(topology)}},
    {"both", {FILES(both)}},
    {"partial", {FILES(found_csv), .partial = true}},
    {"equivalent", {FILES(found_csv), .judge = {.equivalent = true}}},
    {"counters", {FILES(found_csv), .judge = {.errors_max = 20}}},
    {"many tables", {FILES(many)}},
    {"one table", {FILES(one)}},
    {"nothing to read", {FILES(none)}},
    {"no such file", {FILES(missing)}},
    {"names of NICs", {FILES(found_csv), HCAS(hca_pairs)}},
    {"names of no NIC", {FILES(found_csv), HCAS(hca_bad)}},
    {"speeds", {FILES(topology), SPEEDS(speeds)}},
    {"no speeds", {FILES(topology), SPEEDS(speeds_bad)}},
    {"bound", {FILES(found_csv), .binding = "binding.yaml"}},
    {"bound to nothing", {FILES(found_csv), .binding = "nowhere.yaml"}},
    {"names of ports", {FILES(found_csv), .port_names = "names.csv"}},
    {"no names of ports", {FILES(found_csv), .port_names = "hca.csv"}},
    {"a host with and without its domain", {FILES(spelled)}},
    {"no design", {FILES(found_csv), .design = "found.csv"}},
};

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static void what_is_asked_of_files_is_told_as_it_was(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    char folder[] = "/tmp/myriad-built-XXXXXX";
    struct bench bench;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0); /* names of files are in messages */
    bench_init(&bench, &shape, SEED);
    write_cables(&bench);
    write_binding(&bench);
    write_folders(&bench);
    for (uint32_t q = 0; q < MYR_ARRAY_COUNT(questions); q++) {
        struct myr_built built;
        struct myr_err err = {};
        struct myr_built_question question = questions[q].question;
        question.design = question.design ? question.design : "x.myriad";
        myr_buf_printf(&out, "%s\n", questions[q].name);
        if (myr_built_open(&built, &question, &err) < 0) {
            myr_buf_printf(&out, "  %s%s%s\n", err.message, err.hint[0] ? "; " : "", err.hint);
        } else {
            put_built(&out, &built);
        }
        myr_built_close(&built);
    }
    bench_done(&bench);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    assert_kept("site-built.txt", &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_of_files_is_told_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
