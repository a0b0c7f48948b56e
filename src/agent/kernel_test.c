/*
 * What an agent's files ask of the kernel, call by call, and what becomes of them when each of the
 * calls is refused (tests/kept/agent-kernel.txt): what it must not forget lies there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "disk/files.h"
#include "enrol.h"
#include "kept.h"
#include "kernel.h"
#include "launch.h"
#include "leaks.h"
#include "shim/shim.h"
#include "stops.h"

/* OpenSSL keeps its tables for the whole process. */
long myr_leaks_allowed = 10000;

static char path[200];

static const char *at(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", kernel.root, name);
    return path;
}

static void put_text(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void note_text(const char *name)
{
    char text[200] = "";
    FILE *file = fopen(at(name), "r");
    if (file) {
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        (void)fclose(file);
    }
    for (char *c = text; *c; c++) {
        *c = *c == '\n' ? '/' : *c;
    }
    myr_buf_printf(&kernel.told, "  %s is now %s'%s'\n", name, file ? "" : "not there ", text);
}

/* --- single files */

static void old_file(void)
{
    put_text("order", "the order of before\n");
}

static void put_safely(void)
{
    struct myr_err err = {};
    kernel_note("put", file_put(kernel.root, "order", MYR_STR("another order\n"), &err), &err);
    note_text("order");
}

static void put_lightly(void)
{
    struct myr_err err = {};
    kernel_note("put", file_put_lightly(kernel.root, "heard", MYR_STR("at 1\n"), &err), &err);
    note_text("heard");
}

static void get(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    kernel_note("get", file_get(kernel.root, "order", &text, &err), &err);
    myr_buf_printf(&kernel.told, "  it holds '%.*s'\n", (int)(text.len ? text.len - 1 : 0),
                   text.len ? text.data : "");
    myr_buf_printf(&kernel.told, "  it is %sthere\n",
                   file_is_there(kernel.root, "order") ? "" : "not ");
}

static void folders(void)
{
    struct myr_err err = {};
    kernel_note("one below another", folder_make(at("a/b"), 0700, &err), &err);
    err = (struct myr_err){};
    kernel_note("again", folder_make(at("a/b"), 0711, &err), &err);
    err = (struct myr_err){};
    kernel_note("on a file", folder_make(at("order"), 0711, &err), &err);
    folder_sync(at("a"));
    folder_remove(at("a/b"));
    folder_remove(at("c"));
    myr_buf_printf(&kernel.told, "  gone: %d %d\n", folder_is_gone(at("a/b")),
                   folder_is_gone(at("a")));
}

static void lock_of_one(void)
{
    int first = launch_lock(kernel.root);
    int second = launch_lock(kernel.root);
    myr_buf_printf(&kernel.told, "  locked: %d, and again: %d\n", first >= 0, second >= 0);
    if (first >= 0) {
        close(first);
    }
    if (second >= 0) {
        close(second);
    }
}

/* --- stops: what was stopped never starts again, whatever happens to the disk */

static void note_stops(struct stops *stops)
{
    for (uint64_t job = 1; job <= 4; job++) {
        uint32_t epoch = 0;
        while (epoch < 9 && stops_has(stops, job, epoch + 1)) {
            epoch++;
        }
        myr_buf_printf(&kernel.told, "%s%llu:%u", job == 1 ? "  stopped " : " ",
                       (unsigned long long)job, epoch);
    }
    myr_buf_printf(&kernel.told, ", %u lines\n", stops->lines);
}

static void stops_of(void)
{
    struct stops stops;
    struct myr_err err = {};
    int rc = stops_open(&stops, kernel.root, &err);
    kernel_note("open", rc, &err);
    if (rc == MYR_OK) {
        for (uint32_t i = 0; i < 3; i++) {
            static const struct {
                uint64_t job;
                uint32_t epoch;
            } orders[] = {{3, 1}, {4, 2}, {3, 1}};
            err = (struct myr_err){};
            kernel_note("stop", stops_add(&stops, orders[i].job, orders[i].epoch, &err), &err);
        }
        note_stops(&stops);
    }
    stops_done(&stops);
    note_text("stops");
    if (rc == MYR_OK) { /* what was said to be remembered is found again */
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        struct stops again = {.folder = kernel.root, .fd = -1};
        kernel.on = false;
        assert_int_equal(file_get(kernel.root, "stops", &text, &err), MYR_OK);
        kernel.on = true;
        stops_read(&again, (struct myr_str){text.data, text.len});
        note_stops(&again);
        stops_done(&again);
    }
}

static void part_of_a_line(void)
{
    put_text("stops", "1 5 .\n2 7 .\n3 ");
}

static void bad_lines(void)
{
    put_text("stops", "1 5 .\n1 4 .\n.\n \n1  .\n2 x .\ny 2 .\n2 1.\n2 1 \n2 4294967296 .\n2 3 .\n"
                      "2 2 ,\n3 4294967295 .\n 4 .\n4 .\n4 1 .");
}

static void stops_read_once(void)
{
    struct stops stops = {.folder = kernel.root, .fd = -1};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(file_get(kernel.root, "stops", &text, &err), MYR_OK);
    stops_read(&stops, (struct myr_str){text.data, text.len});
    note_stops(&stops);
    stops_done(&stops);
}

/* --- output: the head and pieces, under their true offsets */

static char bulk[3 << 20];

static void note_fetch(uint32_t rank, uint64_t offset, size_t most)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    uint64_t size = 0, from = offset;
    output_fetch(kernel.root, rank, &from, most, &bytes, &size);
    myr_buf_printf(&kernel.told, "  of rank %u from %llu at most %zu: %zu from %llu of %llu", rank,
                   (unsigned long long)offset, most, bytes.len, (unsigned long long)from,
                   (unsigned long long)size);
    if (bytes.len) {
        myr_buf_printf(&kernel.told, ", '%c' to '%c'", bytes.data[0], bytes.data[bytes.len - 1]);
    }
    myr_buf_putc(&kernel.told, '\n');
}

static void output_of_a_rank(void)
{
    struct output output;
    output_init(&output, kernel.root, 7);
    for (uint32_t i = 0; i < 7; i++) { /* 21 MiB: the head, five pieces of four, and one gone */
        memset(bulk, 'a' + (int)i, sizeof(bulk));
        output_take(&output, (struct myr_str){bulk, sizeof(bulk)}, NULL, NULL);
    }
    output_take(&output, MYR_STR("the end"), NULL, NULL);
    myr_buf_printf(&kernel.told, "  written: %llu\n", (unsigned long long)output.written);
    output_done(&output);
    for (uint64_t mib = 0; mib <= 22; mib += mib > 1 && mib < 12 ? 5 : 1) {
        note_fetch(7, mib << 20, 4096);
    }
    note_fetch(7, (1 << 20) - 1, 4096);
    note_fetch(7, (13 << 20) - 2, 4096);
    note_fetch(7, (13 << 20) + 1, 8 << 20);
    note_fetch(7, (17 << 20) - 1, 1);
    note_fetch(6, 0, 4096);
}

/* --- papers */

static struct myr_buf ca_cert, ca_key;

static void papers(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf cert = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf serial = {};
    struct myr_err err = {};
    int rc = enrol_ask(kernel.root, "node-1", &csr, &err);
    kernel_note("ask", rc, &err);
    if (rc < 0) {
        return;
    }
    struct myr_io_sign sign = {.ca_certificate = {ca_cert.data, ca_cert.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 3};
    assert_int_equal(
        myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, &name, &serial, &err),
        MYR_OK);
    struct myr_wire_cert answer = {.certificate = {cert.data, cert.len},
                                   .ca = {ca_cert.data, ca_cert.len}};
    kernel_note("take", enrol_take(kernel.root, &answer, &err), &err);
    err = (struct myr_err){};
    myr_buf_printf(&kernel.told, "  done: %d, due: %d\n", enrol_is_done(kernel.root),
                   enrol_is_due(kernel.root));
}

static void each_call_is_refused_once(void **state)
{
    (void)state;
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("a test", 10, &ca_cert, &ca_key, &err), MYR_OK);
    kernel.errno_changes = true;
    kernel_scenario("put a file so that it stays", old_file, put_safely);
    kernel_scenario("put a file", NULL, put_lightly);
    kernel_scenario("get a file", old_file, get);
    kernel_scenario("folders", old_file, folders);
    kernel_scenario("a lock", NULL, lock_of_one);
    kernel_scenario("stops", NULL, stops_of);
    kernel_scenario("stops behind a part of a line", part_of_a_line, stops_of);
    kernel_scenario_only("stops that say nothing", "none", bad_lines, stops_read_once);
    kernel_scenario_only("output", "pwrite", NULL, output_of_a_rank);
    kernel.sizes_differ = true;
    kernel_scenario("papers", NULL, papers);
    assert_kept("agent-kernel.txt", &kernel.told);
    myr_buf_done(&kernel.told);
    myr_buf_done(&ca_cert);
    myr_buf_done(&ca_key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_refused_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
