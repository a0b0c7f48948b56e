#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "designs.h"

/* One format: how a cabling becomes text, and which reader takes it back. */
struct format {
    enum myr_import_format from;
    enum myr_nic_view view;
    void (*write)(const struct myr_cabling *cabling, struct myr_buf *ret);
};

static void write_ib(const struct myr_cabling *cabling, struct myr_buf *ret)
{
    struct myr_err err = {};
    int rc = myr_write_ibnetdiscover(cabling, MYR_NETLIST_IBNETDISCOVER, ret, &err);
    assert_int_equal(rc, MYR_OK);
}

static const struct format formats[] = {
    {MYR_IMPORT_IBNETDISCOVER, MYR_NIC_AS_DEVICE, write_ib},
    {MYR_IMPORT_P2P, MYR_NIC_AS_PORT, myr_write_p2p},
    {MYR_IMPORT_NETBOX, MYR_NIC_AS_PORT, myr_write_netbox_cables},
};

/* Write, read, write: the same bytes. Read, and every link is one of the design's. */
static void check_format(const struct planned *planned, enum myr_net_id net,
                         const struct format *format)
{
    struct myr_arena arena;
    struct myr_cabling cabling, again;
    struct myr_import import;
    struct myr_buf first = {}, second = {};
    struct myr_err err = {};
    const struct myr_design *design = &planned->design;
    myr_arena_init(&arena);
    myr_cabling_init(&cabling, &arena);
    myr_cabling_from_design(&cabling, design, net, format->view);
    format->write(&cabling, &first);
    myr_cabling_init(&again, &arena);
    myr_import_init(&import, &again);
    if (myr_import_text(&import, format->from, "file", (struct myr_str){first.data, first.len},
                        &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(again.links.count, cabling.links.count);
    for (size_t i = 0; i < again.links.count; i++) {
        uint32_t a = myr_cabling_port(design, &again, again.links.items[i].a);
        uint32_t b = myr_cabling_port(design, &again, again.links.items[i].b);
        assert_true(a != MYR_NONE && b != MYR_NONE);
        assert_int_equal(myr_design_peer(design, a), b);
    }
    format->write(&again, &second);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    myr_import_done(&import);
    myr_cabling_done(&again);
    myr_cabling_done(&cabling);
    myr_arena_done(&arena);
    myr_buf_done(&first);
    myr_buf_done(&second);
}

static void every_cabling_format_reads_back_to_the_same_bytes(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(shapes); s++) {
        struct planned planned;
        plan_shape(&planned, &shapes[s]);
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            for (uint32_t f = 0; has_network(&planned.design, net) && f < MYR_ARRAY_COUNT(formats);
                 f++) {
                check_format(&planned, (enum myr_net_id)net, &formats[f]);
            }
        }
        planned_done(&planned);
    }
}

/* Collects the files of an export. */
struct files {
    uint32_t count;
    struct myr_buf text;
};

static int take_file(void *context, const char *name, const struct myr_buf *text,
                     struct myr_err *err)
{
    struct files *files = context;
    (void)err;
    assert_true(name[0] != '/' && name[0] != '\0');
    files->count++;
    if (text->len) {
        myr_buf_put(&files->text, text->data, text->len);
    }
    return MYR_OK;
}

/* What a format says of a network that it is not made for. */
static bool is_refusal(const char *message)
{
    static const char *const reasons[] = {"InfiniBand", "no headroom is known", "bytes of headroom",
                                          "cages of 8 lanes", "NCCL uses the compute network"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(reasons); i++) {
        if (strstr(message, reasons[i])) {
            return true;
        }
    }
    return false;
}

/* Every format takes every design, or says in a word why not; twice the same. */
static void every_design_can_be_exported_and_gives_the_same_bytes_twice(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(shapes); s++) {
        struct planned planned;
        plan_shape(&planned, &shapes[s]);
        for (uint32_t i = 0; i < myr_exporter_count; i++) {
            struct files files[2] = {};
            struct myr_err err = {};
            struct myr_export job = {.design = &planned.design,
                                     .net = MYR_NET_COMPUTE,
                                     .catalog = &planned.catalog,
                                     .tenants = MYR_SOURCE_DIR "/tests/data/tenants.csv"};
            for (uint32_t twice = 0; twice < 2; twice++) {
                struct myr_export_sink sink = {&files[twice], take_file};
                int rc = myr_export_run(&myr_exporters[i], &job, &sink, &err);
                assert_true(rc == MYR_OK || is_refusal(err.message));
            }
            assert_int_equal(files[0].count, files[1].count);
            assert_int_equal(files[0].text.len, files[1].text.len);
            assert_true(err.code || files[0].text.len > 0);
            if (files[0].text.len) {
                assert_memory_equal(files[0].text.data, files[1].text.data, files[0].text.len);
            }
            myr_buf_done(&files[0].text);
            myr_buf_done(&files[1].text);
        }
        planned_done(&planned);
    }
}

static uint32_t count_of(const char *text, const char *word)
{
    uint32_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

/* The brackets of all "Nodes=" lists, counted out. */
static uint32_t nodes_listed(const char *text)
{
    uint32_t nodes = 0;
    for (const char *at = strstr(text, "Nodes=node-["); at; at = strstr(at + 1, "Nodes=node-[")) {
        const char *from = at + strlen("Nodes=node-[");
        uint64_t first, last;
        assert_true(myr_str_to_u64((struct myr_str){from, 5}, &first));
        last = first;
        if (from[5] == '-') {
            assert_true(myr_str_to_u64((struct myr_str){from + 6, 5}, &last));
        }
        nodes += (uint32_t)(last - first) + 1;
    }
    return nodes;
}

static void slurm_has_every_node_once_and_one_switch_above_all(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(shapes); s++) {
        struct planned planned;
        plan_shape(&planned, &shapes[s]);
        const char *const names[] = {"slurm", "slurm-block"};
        for (uint32_t i = 0; i < 2; i++) {
            const struct myr_exporter *exporter;
            struct files files = {};
            struct myr_err err = {};
            struct myr_export job = {.design = &planned.design, .net = MYR_NET_COMPUTE};
            struct myr_export_sink sink = {&files, take_file};
            assert_int_equal(myr_exporter_find(names[i], &exporter, &err), MYR_OK);
            assert_int_equal(myr_export_run(exporter, &job, &sink, &err), MYR_OK);
            assert_int_equal(nodes_listed(files.text.data), planned.design.head->nodes);
            if (i == 0 && count_of(files.text.data, "Nodes=") > 1) {
                assert_int_equal(count_of(files.text.data, "SwitchName=core Switches=") +
                                     count_of(files.text.data, "SwitchName=spine Switches="),
                                 1);
            }
            myr_buf_done(&files.text);
        }
        planned_done(&planned);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cabling_format_reads_back_to_the_same_bytes),
        cmocka_unit_test(every_design_can_be_exported_and_gives_the_same_bytes_twice),
        cmocka_unit_test(slurm_has_every_node_once_and_one_switch_above_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
