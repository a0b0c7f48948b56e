/*
 * Every export of designs that differ in what exports look at: scale-up domains, planes, pods that
 * are not full, networks beside the compute network, a room; with and without a binding and
 * tenants. Held against what they were when somebody last looked (tests/kept/site-exports.txt;
 * MYRIAD_KEPT=write writes it anew): the name and the size of each file, and a digest of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "designs.h"
#include "kept.h"

static const struct shape exported[] = {
    {"nvl72", 18, "gb200-nvl72", "compute: {switch: sn5600}"},
    {"rail-only", 10, "h100-8gpu", "compute: {switch: mqm9790-ns2f, topology: rail-only}"},
    {"twin", 5, "b300-8gpu", "compute: {switch: sn5600, topology: twin-planar}, storage: {}"},
    {"dense", 20, "a100-8gpu", "compute: {switch: qm8790, tiers: 3, fill: dense, leaf_down: 8}"},
    {"everything", 5, "h100-8gpu",
     "compute: {switch: sn5600, topology: clos}, storage: {}, oob: {}, service: {}}\n"
     "room: {rows: 4, columns: 6, rack_kw: 44"},
    {"three", 9, "a100-8gpu",
     "compute: {topology: clos, switch: sn5600, tiers: 3, leaf_down: 8, leaf_up: 8}"},
    {"halves", 3, "a100-8gpu", "compute: {switch: mqm9790-ns2f, leaf_down: 8}"},
    {"four-chips", 3, "b300-8gpu-xdr", "compute: {switch: q3400, leaf_down: 8}"},
};

struct exports {
    struct myr_buf *out;
    uint32_t files, shown;
    uint64_t sum;
};

static int put_file(void *context, const char *name, const struct myr_buf *text,
                    struct myr_err *err)
{
    (void)err;
    struct exports *exports = context;
    uint64_t sum = exports->sum;
    for (const char *c = name; *c; c++) {
        sum = (sum ^ (uint8_t)*c) * UINT64_C(1099511628211);
    }
    for (size_t i = 0; i < text->len; i++) {
        sum = (sum ^ (uint8_t)text->data[i]) * UINT64_C(1099511628211);
    }
    exports->sum = sum;
    if (exports->files++ < exports->shown) {
        myr_buf_printf(exports->out, " %s %zu", name, text->len);
    }
    return MYR_OK;
}

/* Some devices have real names and addresses. */
static void bind_some(const struct myr_design *design, struct myr_binding *binding)
{
    static const char *const hosts[] = {"gpu-a01", "gpu-a02", "sw-7", "sw-8", "sw-9"};
    uint32_t row;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(hosts); i++) {
        struct myr_bound bound = {.device = i < 2 ? design->head->first_node + 2 * i
                                                  : design->networks[0].first_leaf + i - 2,
                                  .port = MYR_NONE,
                                  .host = myr_str_from(hosts[i]),
                                  .guid = i < 2 ? 0 : UINT64_C(0x98039b0300a1b200) + i,
                                  .mac = UINT64_C(0xaabbccddee00) + i};
        assert_true(myr_binding_add(binding, &bound, &row));
    }
    struct myr_bound nic = {.device = design->head->first_node,
                            .port = design->first_port[design->head->first_node],
                            .guid = UINT64_C(0x9c0591030012ab34),
                            .port_guid = UINT64_C(0x9c0591030012ab35),
                            .name = MYR_STR("mlx5_7")};
    assert_true(myr_binding_add(binding, &nic, &row));
}

static void put_exports(struct myr_buf *out, const char *name, struct myr_export *job)
{
    for (uint32_t e = 0; e < myr_exporter_count; e++) {
        const struct myr_exporter *exporter = &myr_exporters[e];
        struct exports exports = {.out = out, .shown = 3, .sum = 1};
        struct myr_export_sink sink = {&exports, put_file};
        struct myr_err err = {};
        myr_buf_printf(out, "%s net %u%s%s%s %s:", name, job->net, job->binding ? " bound" : "",
                       job->tenants ? " tenants" : "", job->vrf ? " vrf" : "", exporter->name);
        if (myr_export_run(exporter, job, &sink, &err) < 0) {
            myr_buf_printf(out, " %s%s%s\n", err.message, err.hint[0] ? "; " : "", err.hint);
        } else {
            myr_buf_printf(out, " %u files %08x\n", exports.files, (unsigned)exports.sum);
        }
    }
}

/* Every network by itself and all together; then bound, with tenants, and with what is left out. */
static void put_ways(struct myr_buf *out, struct planned *planned, const char *name, bool refused)
{
    struct myr_binding binding;
    myr_binding_init(&binding, &planned->arena, &planned->design);
    bind_some(&planned->design, &binding);
    struct myr_export job = {.design = &planned->design, .catalog = &planned->catalog};
    for (uint32_t net = 0; net <= MYR_NET_COUNT; net++) {
        bool there = net == MYR_NET_COUNT || has_network(&planned->design, net);
        job.net = (enum myr_net_id)net;
        if (there || (refused && net == MYR_NET_STORAGE)) {
            put_exports(out, name, &job);
        }
    }
    job.net = MYR_NET_COMPUTE;
    job.binding = &binding;
    put_exports(out, name, &job);
    job.tenants = "tenants.csv";
    put_exports(out, name, &job);
    job.vrf = true;
    job.binding = NULL;
    put_exports(out, name, &job);
    job.catalog = NULL;
    job.tenants = NULL;
    put_exports(out, name, &job);
    myr_binding_done(&binding);
}

static void check_kept(const struct shape *rows, uint32_t count, const char *list, const char *kept)
{
    struct myr_buf out = {}, tenants = {};
    struct myr_err err = {};
    char folder[] = "/tmp/myriad-exports-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0); /* the list of tenants is named in messages */
    myr_buf_puts(&tenants, list);
    assert_int_equal(myr_file_write("tenants.csv", &tenants, &err), MYR_OK);
    for (uint32_t s = 0; s < count; s++) {
        struct planned planned;
        plan_shape(&planned, &rows[s]);
        put_ways(&out, &planned, rows[s].name, s == 0);
        planned_done(&planned);
    }
    assert_int_equal(unlink("tenants.csv"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_kept(kept, &out);
    myr_buf_done(&tenants);
    myr_buf_done(&out);
}

static void exports_are_as_they_were(void **state)
{
    (void)state;
    check_kept(exported, MYR_ARRAY_COUNT(exported), "tenant,nodes\nred,0-1\nblue,2\n",
               "site-exports.txt");
}

/* What the first eight have not: two networks of InfiniBand, every topology, whole groups. */
static const struct shape rarely[] = {
    {"stores", 6, "h100-8gpu",
     "compute: {switch: mqm9790-ns2f, leaf_down: 12}, storage: {switch: mqm9790-ns2f}, oob: {}, "
     "service: {}}\nroom: {rows: 3, columns: 5, rack_kw: 44"},
    {"groups", 5, "h100-8gpu",
     "compute: {topology: dragonfly, switch: mqm9790-ns2f, hosts_per_switch: 6, "
     "group_switches: 3, global_ports: 3}"},
    {"grid", 12, "generic-1gpu",
     "compute: {topology: torus, switch: mqm9790-ns2f, dims: [3, 2, 2]}"},
    {"lanes", 12, "generic-1gpu", "compute: {topology: torus, switch: z9864f-on, dims: [3, 2, 2]}"},
    {"pair", 6, "h100-8gpu-2x200",
     "compute: {topology: dual-tor, switch: sn5600, leaf_down: 16, leaf_up: 8}"},
    {"deep", 8, "a100-8gpu",
     "compute: {topology: clos, switch: qm8790, tiers: 3, leaf_down: 8, leaf_up: 8}"},
    {"ether", 6, "b200-8gpu",
     "compute: {switch: sn5600, leaf_down: 16, leaf_up: 8}, storage: {}, oob: {}"},
};

static void exports_of_rare_networks_are_as_they_were(void **state)
{
    (void)state;
    check_kept(rarely, MYR_ARRAY_COUNT(rarely), "tenant,nodes\na,\"0,2-3\"\nb-long_name,1\na,4\n",
               "site-exports-rare.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exports_are_as_they_were),
        cmocka_unit_test(exports_of_rare_networks_are_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
