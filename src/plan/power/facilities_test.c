/*
 * Figures of plans that few halls are like: servers of several kinds or larger than any rack, parts
 * that state nothing, lines in two buildings, every wish of storage. Each figure is told in full,
 * with what it rests on and what went into it, where it differs from that of the plainest plan
 * (tests/kept/plan-figures.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "planned_test.h"

static const char own_parts[] =
    "servers:\n"
    "  still: {title: states nothing, gpu: h100-sxm, gpus_per_node: 4, nics: {compute: {nic: "
    "cx7-400g-osfp, count: 4}}}\n"
    "  flat: {title: states no height, gpu: h100-sxm, gpus_per_node: 4, nics: {compute: {nic: "
    "cx7-400g-osfp, count: 4}}, watts: 4000}\n"
    "  tower: {title: larger than any rack, gpu: h100-sxm, gpus_per_node: 4, nics: {compute: {nic: "
    "cx7-400g-osfp, count: 4}}, watts: 900000, rack_units: 42, weight_kg: 4000}\n"
    "  even: {title: just 64 kW, gpu: h100-sxm, gpus_per_node: 4, nics: {compute: {nic: "
    "cx7-400g-osfp, count: 4}}, watts: 64000, rack_units: 40, weight_kg: 800}\n"
    "switches:\n"
    "  mute: {title: states no watts, technology: infiniband, cages: 32, form: osfp, top: finned, "
    "lanes: 8, lane_gbps: 100, cage_gbps: 800, port_gbps: 400, rack_units: 1}\n"
    "storage:\n"
    "  own-rates: {title: states its rates, disks: 10, disk_gb: 4000, nic: cx6-200g, nic_ports: 1, "
    "disk_read_mbytes: 1000, disk_write_mbytes: 300, iops: 70000, metadata_ops: 9000, watts: 500, "
    "rack_units: 2, weight_kg: 20}\n"
    "  no-card: {title: no card, disks: 10, disk_gb: 4000}\n"
    "devices:\n"
    "  box: {title: a box, watts: 77, rack_units: 1}\n";

#define PLAIN   "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f}}\n"
#define HALL    PLAIN "facility: "
#define STORE   PLAIN "storage: "
#define ONE(id) "servers: 4\nserver: " id "\nnetworks: {compute: {switch: mqm9790-ns2f}}\n"

/* The first is what the others are held against. */
static const char *const specs[] = {
    PLAIN,
    ONE("still"),
    ONE("flat"),
    ONE("tower"),
    ONE("even"),
    ONE("even") "facility: {supply: {kind: hvdc}, ups: {kind: n, module_kw: 64}}\n",
    ONE("even") "facility: {supply: {kind: hvdc, breaker_a: 80, busway_a: 250}}\n",
    ONE("even") "facility: {cooling: cold-plate, liquid: {share: 1}, cdu: {kw: 64, derate: 1, "
                "spares: 0}}\n",
    ONE("even") "facility: {cooling: immersion, pool: {kw: 256}, module: {racks: 2, kw: 64}}\n",
    ONE("even") "room: {rows: 4, columns: 2, rack_kw: 64, rack_u: 42}\n",
    ONE("even") "room: {rows: 4, columns: 2, rack_kw: 70, server_kw: 69}\n",
    "servers: 60\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}}\n",
    "servers: 60\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}}\nfacility: "
    "{it_kw: 500, cooling: cold-plate}\n",
    "servers: 12\nserver: gb200-nvl72\nnetworks: {compute: , service: , oob: }\n",
    "servers: 300\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}, service: }\n"
    "facility: {cooling: cold-plate, liquid: {pipe_m: 900}}\n",
    "servers: 4\nnetworks: {compute: {switch: mute}, storage: , service: , oob: }\n"
    "storage: {capacity_tb: 200}\n",
    "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, length_m: 1}}\n",
    "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, length_m: 70, tiers: 2}}\n",
    "servers: 4\nserver: b300-8gpu-xdr\nnetworks: {compute: {switch: q3200, tiers: 2, "
    "fabric_manager_ports: 2, extra_nodes: 2}, oob: }\n",
    "groups: [{name: a, servers: 5, server: h100-8gpu}, {name: b, servers: 3, server: h200-8gpu}, "
    "{name: c, servers: 1, server: tower, networks: [compute]}]\nnetworks: {compute: {switch: "
    "mqm9790-ns2f, topology: clos}}\n",
    "groups: [{name: a, servers: 5, server: h100-8gpu}]\nnetworks: {compute: }\nroom: {rows: 4, "
    "columns: 3, server_kw: 9}\n",
    PLAIN "items: [{part: box, quantity: 2.5}, {part: box, per: server}, {part: firewall}, {part: "
          "iw-venus, quantity: 9}]\n",
    "servers: 8\nnetworks: {compute: , oob: }\nroom: {rows: 3, columns: 3, rack_kw: 22, managed: "
    "true, buildings: [{name: x, rows: 3, columns: 2}, {name: y, rows: 3, columns: 2}], "
    "distance_m: 40}\nfacility: {cooling: cold-plate, cdu: {per: row}}\n",
    "servers: 8\nnetworks: {compute: , oob: }\nroom: {rows: 3, columns: 3, rack_kw: 22, managed: "
    "true, place: shortest, aisles: {every: 2, width_m: 1.5}, pitch_m: {row: 0.8, column: 1.4}, "
    "power: [{name: a, kw: 200, rows: 1-3}]}\nfacility: {bill: true, cooling: cold-plate}\n",
    "servers: 2\nserver: gb200-nvl72\nnetworks: {compute: }\nprices: cn-2024-05\nfacility: {bill: "
    "true, cooling: immersion, energy: {currency: CNY}}\n",
    "servers: 4\nserver: gb200-nvl72\nnetworks: {compute: }\nfacility: {supply: {kind: hvdc, "
    "volts: "
    "48}}\n",
    PLAIN "room: {rows: 4, columns: 2, aisles: {every: 0}}\n",
    PLAIN "prices: {book: cn-2024-05, parts: {cooling-cdu: 5000, cooling-coolant: 3, h100-8gpu: "
          "2000000}}\nfacility: {bill: true, cooling: cold-plate, energy: {currency: CNY}}\n",
    HALL "{energy: {currency: EUR}}\n",
    HALL "{energy: {currency: EUR, exchange: 8}}\n",
    HALL "{energy: {currency: CNY, tariff_per_kwh: 0, grid_kg_per_kwh: 0}}\n",
    HALL "{energy: {green_share: 1, years: 1}, load: 0.5, heat_reuse: 1, cooling: cold-plate}\n",
    HALL "{air: {rack_kw_max: 5}}\n",
    HALL "{air: {rack_kw_max: 500}, price_per_kw: {air: 1, cold-plate: 2, immersion: 3}}\n",
    HALL "{cooling: immersion, overheads: {fans: 0.5, ups: 0.5}, ups: {kind: none}}\n",
    HALL "{cooling: cold-plate, liquid: {head_kpa: 1, pipe_m: 500}}\n",
    HALL "{supply: {kind: ac, power_factor: 1, continuous: 1, volts: 230}}\n",
    HALL "{ups: {kind: n+1, minutes: 0}, step: {idle_share: 0, limit_share: 1}}\n",
    HALL "{per_gpu: {gpu_w: 100, host_w: 0, other_share: 0}, module: {kw: 1}}\n",
    HALL "{floor: {rack_kg: 0, kg_per_m2: 100}, module: {racks: 1}}\n",
    STORE "{capacity_tb: 100, mtbf_hours: 1000, repair_hours: 100}\n",
    STORE "{capacity_tb: 100, mtbf_hours: 100, repair_hours: 100, copies: 3}\n",
    STORE "{capacity_tb: 900, repair_hours: 300, erasure: {data: 4, parity: 1}}\n",
    STORE "{capacity_tb: 100, availability_percent: 99.5, copies: 1, mtbf_hours: 500, "
          "repair_hours: 2}\n",
    STORE "{capacity_tb: 100, availability_percent: 99.7, copies: 1, mtbf_hours: 500, "
          "repair_hours: 2}\n",
    STORE "{capacity_tb: 1, server: own-rates, read_gbytes_per_s: 21, write_gbytes_per_s: 8}\n",
    STORE "{capacity_tb: 1, server: own-rates, iops: 200000, metadata_ops: 30000}\n",
    STORE "{capacity_tb: 10, server: no-card}\n",
    STORE "{capacity_tb: 10, rate: good, server: no-card}\n",
    STORE "{rate: good, server: no-card}\n",
    STORE "{capacity_tb: 1, files: 40G, scan_hours: 10}\n",
    STORE "{capacity_tb: 1, files: 40M, scan_hours: 1, metadata_ops: 900000, file_kb: 5}\n",
    STORE "{capacity_tb: 1, files: 1G, file_kb: 4.096, servers: 1}\n",
    STORE "{checkpoint: {model: llama3-8b, window_s: 1}}\n",
    STORE "{servers: 1, checkpoint: {model: llama3-405b, window_s: 1}}\n",
    STORE "{checkpoint: {model: nobody, window_s: 1}}\n",
    STORE "{servers: 100000}\n",
    STORE "{capacity_pb: 1000000}\n",
    STORE "{}\n",
    STORE "{capacity_tb: 10, copies: 3, availability_percent: 99}\n",
    STORE "{capacity_tb: 1, server: own-rates, metadata_ops: 30000}\n",
    STORE "{servers: 2, tiers: [{kind: hybrid, capacity_pb: 1}, {kind: object, capacity_pb: 2, "
          "server: own-rates, erasure: {data: 3, parity: 1}}]}\n",
    "servers: 33\nserver: h100-8gpu\nstorage: {rate: better}\n",
    "servers: 32\nserver: h100-8gpu\nstorage: {rate: best, copies: 1}\n",
};

/* One line of a figure: path, value in full, unit, basis, what went into it. */
static void tell_figures(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t i = 0; i < design->figure_count; i++) {
        const struct myr_figure *figure = &design->figures[i];
        myr_buf_printf(told, "  %s: ", myr_design_str(design, figure->path));
        if (figure->text) {
            myr_buf_puts(told, myr_design_str(design, figure->text));
        } else {
            myr_buf_printf(told, "%.11g", figure->value);
        }
        myr_buf_printf(told, " %s, %s: %s\n", myr_design_str(design, figure->unit),
                       myr_basis_names[figure->basis], myr_design_str(design, figure->inputs));
    }
}

static void tell_spec(const char *text, struct myr_buf *told)
{
    struct planned p = {};
    const struct myr_doc *parts, *doc;
    myr_arena_init(&p.arena);
    assert_int_equal(myr_catalog_init(&p.catalog, &p.arena, &p.err), MYR_OK);
    if (myr_doc_read_yaml(&p.arena, "parts", myr_str_from(own_parts), &parts, &p.err) < 0 ||
        myr_catalog_add(&p.catalog, parts, &p.err) < 0 ||
        myr_doc_read_yaml(&p.arena, "spec", myr_str_from(text), &doc, &p.err) < 0) {
        fail_msg("%s, in\n%s", p.err.message, text);
    }
    if (myr_spec_read(&p.arena, &p.catalog, doc, &p.spec, &p.err) < 0 ||
        myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
        myr_buf_printf(told, "  refused (%d): %s (%s)\n", p.err.code, p.err.message, p.err.hint);
    } else {
        tell_figures(&p.design, told);
        planned_tell_findings(&p, told);
        for (uint32_t i = 0; i < p.design.bom_count; i++) {
            const struct myr_bom_row *row = &p.design.bom[i];
            const char *system = myr_design_str(&p.design, row->system);
            if (strcmp(system, "cooling") == 0 || strcmp(system, "storage system") == 0) {
                myr_buf_printf(told, "  %llu %s: %s, %s\n", (unsigned long long)row->quantity,
                               myr_design_str(&p.design, row->name),
                               myr_design_str(&p.design, row->rule),
                               myr_design_str(&p.design, row->inputs));
            }
        }
    }
    planned_end(&p);
}

static void every_figure_is_what_it_was(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf first = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
        myr_buf_printf(&told, "== %s", specs[i]);
        tell_spec(specs[i], i ? &now : &first);
        if (i == 0) {
            myr_buf_put(&told, first.data, first.len);
            continue;
        }
        for (const char *line = now.data; *line;) {
            size_t len = strcspn(line, "\n") + 1;
            const char *at = memmem(first.data, first.len, line, len);
            if (!at || (at != first.data && at[-1] != '\n')) {
                myr_buf_put(&told, line, len);
            }
            line += len;
        }
    }
    assert_kept("plan-figures.txt", &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_is_what_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
