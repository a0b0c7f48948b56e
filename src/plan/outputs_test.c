/*
 * The files of a plan, as they lie in its folder: lists row by row, the workbook sheet by sheet
 * (tests/kept/plan-outputs.txt). Pictures, pages and the design have tests of their own; here they
 * are there, and not empty.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "kept.h"
#include "leaks.h"
#include "myriad/plan/report.h"
#include "planned_test.h"

/* Writing a workbook asks for the time: the C library keeps the time zone for the whole process. */
long myr_leaks_allowed = 3;

static const struct {
    const char *spec, *labels;
} cases[] = {
    {"name: a, \"b\"\nservers: 2\nserver: generic-1gpu\nprices: cn-2024-05\nnetworks: {compute: "
     "{switch: mqm9790-ns2f, topology: clos, nic_gbps: 200}, oob: }\nroom: {rows: 2, columns: 2}\n"
     "items: [{part: firewall, name: \"wall, large\"}, {part: iw-support, quantity: 2}]\n",
     NULL},
    {"servers: 1\nserver: a100-8gpu\nnetworks: {compute: {switch: qm8790, leaf_down: 8, leaf_up: "
     "8, "
     "tiers: 2, length_m: 1.5, pin: {quantities: {qm8790: 1}}}}\naccept: [quantity-short]\n",
     "leaf/p0-g0-r0"},
    {"servers: 2\nserver: b300-8gpu\nprices: {parts: {sn5600: 12.34}}\nnetworks: {compute: "
     "{switch: "
     "sn5600, topology: twin-planar, nic_ports: 1, leaf_down: 2, leaf_up: 2}}\n",
     NULL},
};

static uint32_t little(const unsigned char *at, uint32_t bytes)
{
    uint32_t value = 0;
    for (uint32_t i = bytes; i-- > 0;) {
        value = value << 8 | at[i];
    }
    return value;
}

/* One part of the workbook, by the entry of the directory at its end. */
static void tell_entry(const unsigned char *zip, const unsigned char *entry, struct myr_buf *told)
{
    uint32_t method = little(entry + 10, 2), packed = little(entry + 20, 4);
    uint32_t size = little(entry + 24, 4), name_len = little(entry + 28, 2);
    const unsigned char *local = zip + little(entry + 42, 4);
    const unsigned char *data = local + 30 + little(local + 26, 2) + little(local + 28, 2);
    char *text = myr_xrealloc(NULL, (size_t)size + 1, 1);
    if (method == 0) {
        memcpy(text, data, size);
    } else {
        z_stream stream = {.next_in = (unsigned char *)data,
                           .avail_in = packed,
                           .next_out = (unsigned char *)text,
                           .avail_out = size};
        assert_int_equal(inflateInit2(&stream, -15), Z_OK);
        assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
        assert_int_equal(inflateEnd(&stream), Z_OK);
    }
    text[size] = '\0';
    /* A line a tag of rows and columns: so that a difference can be read. */
    myr_buf_printf(told, "  %.*s\n", (int)name_len, (const char *)entry + 46);
    for (const char *at = text; *at; at++) {
        bool line = strncmp(at, "<row", 4) == 0 || strncmp(at, "<col ", 5) == 0 ||
                    strncmp(at, "<si>", 4) == 0 || strncmp(at, "<c ", 3) == 0 ||
                    strncmp(at, "<font", 5) == 0 || strncmp(at, "<xf", 3) == 0;
        if (line) {
            myr_buf_puts(told, "\n    ");
        }
        if (*at != '\n' && *at != '\r') {
            myr_buf_putc(told, *at);
        }
    }
    myr_buf_puts(told, "\n");
    free(text);
}

static void tell_workbook(const struct myr_buf *file, struct myr_buf *told)
{
    static const char *const wanted[] = {"xl/worksheets/sheet1.xml",
                                         "xl/worksheets/sheet2.xml",
                                         "xl/sharedStrings.xml",
                                         "xl/workbook.xml",
                                         "xl/styles.xml",
                                         "docProps/core.xml"};
    const unsigned char *zip = (const unsigned char *)file->data;
    size_t end = file->len - 22;
    assert_int_equal(little(zip + end, 4), 0x06054b50);
    const unsigned char *entry = zip + little(zip + end + 16, 4);
    for (uint32_t i = 0; i < little(zip + end + 10, 2); i++) {
        assert_int_equal(little(entry, 4), 0x02014b50);
        uint32_t name_len = little(entry + 28, 2);
        for (size_t k = 0; k < MYR_ARRAY_COUNT(wanted); k++) {
            if (strlen(wanted[k]) == name_len && memcmp(entry + 46, wanted[k], name_len) == 0) {
                tell_entry(zip, entry, told);
            }
        }
        entry += 46 + name_len + little(entry + 30, 2) + little(entry + 32, 2);
    }
}

/* What is in the folder; the files are taken away. */
static uint32_t empty(const char *folder)
{
    uint32_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) {
            assert_int_equal(unlinkat(dirfd(dir), entry->d_name, 0), 0);
            count++;
        }
    }
    closedir(dir);
    return count;
}

/* Sheets of labels, a line a tag, without their codes and style. */
static void tell_labels(const char *folder, struct myr_buf *told)
{
    static const char *const skipped[][2] = {{"<svg", "</svg>"}, {"<style", "</style>"}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    struct myr_err err = {};
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, MYR_REPORT_LABELS);
    assert_int_equal(myr_file_read(path, 16U << 20, &file, &err), MYR_OK);
    myr_buf_printf(told, "-- %s\n", MYR_REPORT_LABELS);
    for (const char *at = file.data; *at;) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(skipped); i++) {
            if (strncmp(at, skipped[i][0], strlen(skipped[i][0])) == 0) {
                at = strstr(at, skipped[i][1]) + strlen(skipped[i][1]);
            }
        }
        if (strncmp(at, "<div", 4) == 0) {
            myr_buf_puts(told, "\n    ");
        }
        myr_buf_putc(told, *at++);
    }
    myr_buf_puts(told, "\n");
}

static void tell_files(const struct planned *p, const char *folder, bool labels,
                       struct myr_buf *told)
{
    uint32_t count = 0;
    for (const char *name; (name = myr_plan_file_name(&p->design, count)) != NULL; count++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
        struct myr_err err = {};
        char path[256];
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (myr_file_read(path, 16U << 20, &file, &err) < 0) {
            fail_msg("%s", err.message);
        }
        assert_true(file.len > 0);
        myr_buf_printf(told, "-- %s\n", name);
        if (strstr(name, ".csv")) {
            myr_buf_put(told, file.data, file.len);
        } else if (strstr(name, ".xlsx")) {
            tell_workbook(&file, told);
        }
    }
    if (labels) {
        tell_labels(folder, told);
    }
    myr_buf_printf(told, "-- %u files\n", empty(folder));
}

static void the_files_of_a_plan_are_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    char folder[] = "/tmp/myriad-outputs-XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct planned p;
        struct myr_plan_about about = {.date = "2026-11-17", .labels = cases[i].labels};
        planned_begin(&p, cases[i].spec);
        myr_buf_printf(&told, "== %s", cases[i].spec);
        if (myr_plan_write(&p.design, i ? &about : NULL, folder, &p.err) < 0) {
            fail_msg("%s", p.err.message);
        }
        tell_files(&p, folder, cases[i].labels != NULL, &told);
        /* A wrong choice of labels, and nothing is written. */
        about.labels = "rack-of-nobody";
        assert_true(myr_plan_write(&p.design, &about, folder, &p.err) < 0);
        myr_buf_printf(&told, "-- %s (%s), %u files\n", p.err.message, p.err.hint, empty(folder));
        planned_end(&p);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_kept("plan-outputs.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_files_of_a_plan_are_what_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
