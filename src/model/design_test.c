/*
 * Designs of the fuzzers' corpus, small ones of every shape: what devices, ports, racks and ranges
 * are called and where, and the way back; the JSON of each; the file, byte by byte; and what is
 * said of files that are none. Texts are kept in tests/kept/designs.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <zlib.h>

#include "kept.h"
#include "myriad/model.h"
#include "myriad/model/design_file.h"
#include "myriad/model/ids.h"

enum { ALIGN = 64 };

static const char *const names[] = {"access", "cards", "dragonfly", "grown", "groups",
                                    "room",   "three", "torus",     "two"};

/* In memory as a mapping would have it; free() lets it go. */
struct image {
    void *data;
    size_t bytes;
};

static struct image read_image(const char *name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf path = {}, file = {};
    struct image image;
    myr_buf_printf(&path, "%s/tests/fuzz/corpus/design/%s", MYR_SOURCE_DIR, name);
    assert_int_equal(myr_file_read(path.data, 1 << 20, &file, NULL), MYR_OK);
    assert_int_equal(posix_memalign(&image.data, ALIGN, file.len), 0);
    memcpy(image.data, file.data, file.len);
    image.bytes = file.len;
    return image;
}

static void put_ranges(const struct myr_design *design, struct myr_buf *text)
{
    for (uint32_t kind = 0; kind < MYR_DEVICE_KIND_COUNT; kind++) {
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            struct myr_device_range range =
                myr_design_range(design, (enum myr_device_kind)kind, (enum myr_net_id)net);
            if (range.count > 0 && range.first < design->device_count &&
                design->place[range.first].kind == kind) {
                myr_buf_printf(text, "  %s of %s: %u from %u\n",
                               myr_device_kind_name((enum myr_device_kind)kind), myr_net_names[net],
                               range.count, range.first);
            }
        }
    }
}

/* A name leads back to its device, a longer one to nothing, and a shorter one where it says. */
static void put_device(const struct myr_design *design, uint32_t device, struct myr_buf *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_name(design, device, &name);
    assert_int_equal(myr_design_find(design, (struct myr_str){name.data, name.len}), device);
    uint32_t shorter = myr_design_find(design, (struct myr_str){name.data, name.len - 1});
    myr_buf_printf(text, "  %u %s (cut: %d):", device, name.data, (int)shorter);
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        myr_buf_puts(text, " ");
        myr_design_port_name(design, p, text);
        myr_buf_printf(text, "(%u)", myr_design_port_cage(design, p));
    }
    myr_buf_puts(text, "\n");
    myr_buf_puts(&name, "x");
    assert_int_equal(myr_design_find(design, (struct myr_str){name.data, name.len}), MYR_NONE);
}

static void put_names(const struct myr_design *design, struct myr_buf *text)
{
    put_ranges(design, text);
    for (uint32_t d = 0; d < design->device_count; d++) {
        put_device(design, d, text);
    }
    for (uint32_t r = 0; r < design->rack_count; r++) {
        myr_buf_puts(text, r ? " " : "  racks: ");
        myr_design_rack_name(design, r, text);
    }
    myr_buf_puts(text, design->rack_count ? "\n" : "");
    for (uint32_t l = 0; l < design->link_count; l++) {
        assert_int_equal(myr_design_link_at(design, myr_design_link_id(design, l)), l);
    }
    assert_int_equal(myr_design_link_at(design, MYR_NONE), MYR_NONE);
    assert_int_equal(myr_design_link_at(design, 1u << 30), MYR_NONE);
    myr_buf_printf(text, "  %.4f bytes a cable\n", myr_design_bytes_per_cable(design));
}

/* The file that 'put' writes, read back. */
static void written(void (*put)(const struct myr_design *, struct myr_outfile *),
                    const struct myr_design *design, struct myr_buf *ret)
{
    char path[] = "/tmp/myriad-design-XXXXXX";
    struct myr_outfile file;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(myr_outfile_open(&file, path, NULL), MYR_OK);
    put(design, &file);
    assert_int_equal(myr_outfile_commit(&file, NULL), MYR_OK);
    assert_int_equal(myr_file_read(path, 1 << 22, ret, NULL), MYR_OK);
    unlink(path);
}

static void designs_are_called_and_told_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf json = {};
        struct image image = read_image(names[i]);
        struct myr_design design;
        assert_int_equal(myr_design_parse(&design, image.data, image.bytes, names[i], NULL),
                         MYR_OK);
        myr_buf_printf(&text, "%s\n", names[i]);
        put_names(&design, &text);
        written(myr_design_put_json, &design, &json);
        myr_buf_put(&text, json.data, json.len);
        free(image.data);
    }
    assert_kept("designs.txt", &text);
}

/* Boxes of power and cooling stand last; they are found by halving, whatever stands before. */
static void boxes_of_power_and_cooling_are_a_range_at_the_end(void **state)
{
    static struct myr_design_head head;
    static struct myr_network networks[MYR_NET_COUNT];
    struct myr_place places[9] = {};
    (void)state;
    for (uint32_t others = 0; others <= 3; others++) {
        for (uint32_t pdus = 0; pdus <= 3; pdus++) {
            for (uint32_t cdus = 0; cdus <= 3; cdus++) {
                struct myr_design design = {.head = &head,
                                            .networks = networks,
                                            .place = places,
                                            .device_count = others + pdus + cdus};
                for (uint32_t i = 0; i < design.device_count; i++) {
                    places[i].kind = i < others          ? MYR_DEVICE_LEAF
                                     : i < others + pdus ? MYR_DEVICE_PDU
                                                         : MYR_DEVICE_CDU;
                }
                struct myr_device_range pdu =
                    myr_design_range(&design, MYR_DEVICE_PDU, MYR_NET_COMPUTE);
                struct myr_device_range cdu =
                    myr_design_range(&design, MYR_DEVICE_CDU, MYR_NET_OOB);
                assert_int_equal(pdu.first, others);
                assert_int_equal(pdu.count, pdus);
                assert_int_equal(cdu.first, others + pdus);
                assert_int_equal(cdu.count, cdus);
            }
        }
    }
}

/* Planes first, then pods and units, by rails the other way round; the ordinal last. */
static void places_have_an_order(void **state)
{
    static const struct {
        struct myr_place a, b;
        int order;
    } rows[] = {
        {{.plane = 0, .pod = 9}, {.plane = 1}, -1},
        {{.pod = 1, .unit = 9, .ordinal = 9}, {.pod = 2}, -1},
        {{.unit = 1, .ordinal = 9}, {.unit = 2}, -1},
        {{.ordinal = 1}, {.ordinal = 2}, -1},
        {{.ordinal = 2}, {.ordinal = 2}, 0},
        {{.style = MYR_NAME_RAIL_POD, .unit = 1, .pod = 9},
         {.style = MYR_NAME_RAIL_POD, .unit = 2},
         -1},
        {{.style = MYR_NAME_RAIL_GROUP, .unit = 1, .pod = 9},
         {.style = MYR_NAME_RAIL_GROUP, .unit = 2},
         -1},
        {{.style = MYR_NAME_RAIL_POD, .pod = 1, .ordinal = 9},
         {.style = MYR_NAME_RAIL_POD, .pod = 2},
         -1},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_int_equal(myr_place_compare(&rows[i].a, &rows[i].b), rows[i].order);
        assert_int_equal(myr_place_compare(&rows[i].b, &rows[i].a), -rows[i].order);
    }
}

static void a_design_is_written_as_it_was_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf again = {};
        struct image image = read_image(names[i]);
        struct myr_design design;
        assert_int_equal(myr_design_parse(&design, image.data, image.bytes, names[i], NULL),
                         MYR_OK);
        written(myr_design_put, &design, &again);
        assert_int_equal(again.len, image.bytes);
        assert_memory_equal(again.data, image.data, image.bytes);
        free(image.data);
    }
}

static void nodes_are_of_one_kind_where_all_that_counts_is_alike(void **state)
{
    struct image image = read_image("groups");
    struct myr_design design;
    struct myr_err err = {};
    (void)state;
    assert_int_equal(myr_design_parse(&design, image.data, image.bytes, "groups", NULL), MYR_OK);
    assert_true(design.group_count >= 2);
    struct myr_server_group *a = &design.groups[0], *b = &design.groups[design.group_count - 1];
    for (uint32_t i = 1; i < design.group_count; i++) {
        uint32_t name = design.groups[i].name, first = design.groups[i].first_node;
        design.groups[i] = *a;
        design.groups[i].name = name;
        design.groups[i].first_node = first;
    }
    assert_int_equal(myr_design_one_kind(&design, "d", &err), MYR_OK);
    uint32_t *const fields[] = {&b->gpus_per_node, &b->gpu_part,         &b->scale_up_gpus,
                                &b->scale_up_gbps, &b->nodes_per_server, &b->networks};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fields); i++) {
        *fields[i] ^= 1;
        assert_int_equal(myr_design_one_kind(&design, "d", &err), MYR_EINVAL);
        *fields[i] ^= 1;
    }
    b->networks ^= 2; /* which other networks they are on does not count */
    assert_int_equal(myr_design_one_kind(&design, "d", &err), MYR_OK);
    char wanted[400];
    for (uint32_t off = 0; off < 2; off++) {
        (off ? a : b)->networks &= ~1u;
        (off ? b : a)->networks |= 1;
        b->gpus_per_node = a->gpus_per_node + 1;
        assert_int_equal(myr_design_one_kind(&design, "d", &err), MYR_EINVAL);
        snprintf(wanted, sizeof(wanted),
                 "d: nodes of different kinds: group '%s' has %u x %s a node%s, group '%s' %u x "
                 "%s%s; one kind is expected here",
                 myr_design_str(&design, a->name), a->gpus_per_node,
                 myr_design_str(&design, a->gpu_part), off ? " off the compute network" : "",
                 myr_design_str(&design, design.groups[1].name), design.groups[1].gpus_per_node,
                 myr_design_str(&design, design.groups[1].gpu_part),
                 off || design.groups[1].networks & 1 ? "" : " off the compute network");
        assert_string_equal(err.message, wanted);
        assert_string_equal(err.hint, "plan the groups one by one: a spec with that group alone");
    }
    design.group_count = 1;
    assert_int_equal(myr_design_one_kind(&design, "d", &err), MYR_OK);
    free(image.data);
}

/* --- files that are none */

/* The layout of design_file.c. */
enum { HEADER = 32, VERSION_AT = 8, COUNT_AT = 12, BYTES_AT = 16, TABLE_CRC_AT = 24, CRC_AT = 28 };

static void put_u32(const struct image *image, size_t at, uint32_t value, bool mend)
{
    memcpy((char *)image->data + at, &value, sizeof(value));
    uint32_t crc = (uint32_t)crc32_z(0, image->data, CRC_AT);
    if (mend) {
        memcpy((char *)image->data + CRC_AT, &crc, sizeof(crc));
    }
}

static void assert_said(const struct image *image, size_t bytes, int code, const char *says)
{
    struct myr_design design;
    struct myr_err err = {};
    char wanted[200] = "";
    if (says) {
        snprintf(wanted, sizeof(wanted), "d:1:1: not a usable design file: %s", says);
    }
    assert_int_equal(myr_design_parse(&design, image->data, bytes, "d", &err), code);
    assert_string_equal(err.message, wanted);
    assert_string_equal(err.hint, says ? "write it again with: myriad plan SPEC --out DIR" : "");
}

static void what_is_wrong_with_a_header_is_said(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        bool mend;
        const char *says;
    } rows[] = {
        {0, 0, true, "it does not begin like one"},
        {4, 0, true, "it does not begin like one"},
        {BYTES_AT, 0, false, "the header's checksum is wrong"},
        {CRC_AT, 0, false, "the header's checksum is wrong"},
        {BYTES_AT, 20543, true, "it is cut off or has grown"},
        {BYTES_AT, 20545, true, "it is cut off or has grown"},
        {BYTES_AT + 4, 1, true, "it is cut off or has grown"},
        {COUNT_AT, 256, true, "the checksum of its table of sections is wrong"},
        {COUNT_AT, 257, true, "its table of sections does not fit"},
        {COUNT_AT, 0xFFFFFFFF, true, "its table of sections does not fit"},
        {COUNT_AT, 1, true, "the checksum of its table of sections is wrong"},
        {TABLE_CRC_AT, 1, true, "the checksum of its table of sections is wrong"},
        {HEADER, 0, true, "the checksum of its table of sections is wrong"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct image image = read_image("room");
        put_u32(&image, rows[i].at, rows[i].value, rows[i].mend);
        assert_said(&image, image.bytes, MYR_ECORRUPT, rows[i].says);
        free(image.data);
    }
    /* A table that ends with the file would fit; one more entry does not. */
    struct image image = read_image("room");
    uint32_t most = 5;
    put_u32(&image, COUNT_AT, most, true);
    put_u32(&image, BYTES_AT, HEADER + most * 40, true);
    assert_said(&image, HEADER + (size_t)most * 40, MYR_ECORRUPT,
                "the checksum of its table of sections is wrong");
    put_u32(&image, BYTES_AT, HEADER + most * 40 - 1, true);
    assert_said(&image, HEADER + (size_t)most * 40 - 1, MYR_ECORRUPT,
                "its table of sections does not fit");
    assert_said(&image, HEADER, MYR_ECORRUPT, "it is cut off or has grown");
    assert_said(&image, HEADER - 1, MYR_ECORRUPT, "it does not begin like one");
    put_u32(&image, VERSION_AT, 7, false);
    struct myr_err err = {};
    struct myr_design design;
    assert_int_equal(myr_design_parse(&design, image.data, image.bytes, "d", &err), MYR_EVERSION);
    assert_string_equal(err.message,
                        "d:1:1: design file of version 7, this program reads version 1");
    free(image.data);
}

/* No byte may change unseen: those between sections and behind the last one are zero. */
static void every_byte_of_a_file_counts(void **state)
{
    struct image image = read_image("two");
    struct myr_design design;
    uint8_t *bytes = image.data;
    uint32_t between = 0, behind = 0;
    (void)state;
    for (size_t i = 0; i < image.bytes; i++) {
        struct myr_err err = {};
        bytes[i] ^= 0x10;
        assert_true(myr_design_parse(&design, image.data, image.bytes, "d", &err) < 0);
        between += strstr(err.message, "there is something between its sections") != NULL;
        behind += strstr(err.message, "there is something behind its sections") != NULL;
        bytes[i] ^= 0x10;
    }
    assert_int_equal(myr_design_parse(&design, image.data, image.bytes, "d", NULL), MYR_OK);
    /* What the last section leaves of its 64 bytes, and all other gaps. */
    uint64_t used = HEADER, end = 0;
    for (uint32_t i = 0; i < *(uint32_t *)(bytes + COUNT_AT); i++) {
        uint64_t offset, length;
        memcpy(&offset, bytes + HEADER + i * 40 + 16, sizeof(offset));
        memcpy(&length, bytes + HEADER + i * 40 + 24, sizeof(length));
        assert_int_equal(offset % ALIGN, 0);
        used += 40 + length;
        end = offset + length;
    }
    assert_int_equal(behind, image.bytes - end);
    assert_int_equal(between + behind, image.bytes - used);
    assert_true(image.bytes - end < ALIGN);
    free(image.data);
}

static void files_that_cannot_be_mapped_are_refused(void **state)
{
    char folder[] = "/tmp/myriad-design-XXXXXX", path[100], wanted[200];
    struct myr_design design = {};
    struct myr_err err = {};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(wanted, sizeof(wanted), "%s:1:1: not a usable design file: it is a folder", folder);
    assert_int_equal(myr_design_open(&design, folder, &err), MYR_ECORRUPT);
    assert_string_equal(err.message, wanted);
    snprintf(path, sizeof(path), "%s/d", folder);
    assert_true(myr_design_open(&design, path, &err) < 0);
    snprintf(wanted, sizeof(wanted), "%s: cannot open: No such file or directory", path);
    assert_string_equal(err.message, wanted);
    assert_int_equal(myr_file_write(path, &(struct myr_buf){}, NULL), MYR_OK);
    assert_int_equal(myr_design_open(&design, path, &err), MYR_ECORRUPT);
    snprintf(wanted, sizeof(wanted), "%s:1:1: not a usable design file: it is empty", path);
    assert_string_equal(err.message, wanted);
    struct image image = read_image("two");
    struct myr_buf whole = {.data = image.data, .len = image.bytes};
    assert_int_equal(myr_file_write(path, &whole, NULL), MYR_OK);
    assert_int_equal(myr_design_open(&design, path, NULL), MYR_OK);
    assert_int_equal(design.mapping_bytes, image.bytes);
    assert_memory_equal(design.mapping, image.data, image.bytes);
    MYR_CLEANUP(myr_buf_done) struct myr_buf again = {};
    char other[110];
    snprintf(other, sizeof(other), "%s-2", path);
    assert_int_equal(myr_design_write(&design, other, NULL), MYR_OK);
    assert_int_equal(myr_file_read(other, 1 << 20, &again, NULL), MYR_OK);
    assert_int_equal(again.len, image.bytes);
    assert_memory_equal(again.data, image.data, image.bytes);
    unlink(other);
    assert_true(myr_design_write(&design, "/no/folder/d", &err) < 0);
    assert_string_equal(err.message, "/no/folder/d: cannot write: No such file or directory");
    myr_design_close(&design);
    assert_null(design.mapping);
    assert_null(design.head);
    assert_int_equal(design.device_count, 0);
    free(image.data);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(designs_are_called_and_told_as_they_were),
        cmocka_unit_test(boxes_of_power_and_cooling_are_a_range_at_the_end),
        cmocka_unit_test(places_have_an_order),
        cmocka_unit_test(a_design_is_written_as_it_was_read),
        cmocka_unit_test(nodes_are_of_one_kind_where_all_that_counts_is_alike),
        cmocka_unit_test(what_is_wrong_with_a_header_is_said),
        cmocka_unit_test(every_byte_of_a_file_counts),
        cmocka_unit_test(files_that_cannot_be_mapped_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
