#include "plan_internal.h"

/*
 * Published rates in MB/s for each started 32 servers of 8 GPUs: good, better, best (read, write).
 * What reads and writes are GPUs: a rack of 72 counts as nine such servers.
 */
enum { RATE_GPUS = 32 * 8 };

static const struct {
    uint32_t read_mbytes, write_mbytes;
} rates[] = {{0, 0}, {15000, 7500}, {40000, 20000}, {125000, 62500}};

/*
 * Storage servers by capacity and by rate, whichever asks for more. Whole numbers throughout:
 * gigabytes and megabytes per second, so that "just fits" never depends on rounding.
 */
int plan_storage(struct plan *plan, struct myr_err *err)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    if (!spec->node) {
        return MYR_OK;
    }
    const struct myr_part_storage *server = &part_at(plan, plan->storage_part)->storage;
    uint32_t data = spec->erasure_data ? spec->erasure_data : 1;
    uint32_t stored = spec->erasure_data ? spec->erasure_data + spec->erasure_parity
                                         : (spec->copies ? spec->copies : 2);
    uint64_t usable_gb = (uint64_t)(spec->capacity_tb * 1000 + 0.5);
    uint64_t raw_gb = server->disks * server->disk_gb;
    uint64_t by_capacity = (usable_gb * stored + raw_gb * data - 1) / (raw_gb * data);

    uint64_t gpus = plan->gpus;
    uint64_t units = ceil_div(gpus, RATE_GPUS);
    const struct myr_part *nic =
        server->nic ? part_at(plan, myr_catalog_find(plan->catalog, myr_str_from(server->nic)))
                    : NULL;
    uint64_t line_mbytes =
        nic ? (uint64_t)nic->nic.port_gbps * (server->nic_ports ? server->nic_ports : 1) * 125 : 0;
    uint64_t read = rates[spec->rate_class].read_mbytes * units;
    uint64_t write = rates[spec->rate_class].write_mbytes * units * stored / data;
    uint64_t wanted = read > write ? read : write;
    uint64_t by_rate = line_mbytes ? ceil_div(wanted, line_mbytes) : 0;

    uint64_t count = by_capacity > by_rate ? by_capacity : by_rate;
    if (spec->servers) {
        count = spec->servers;
    }
    if (count == 0) {
        return myr_doc_error(err, spec->node, MYR_EINVAL,
                             "'storage' needs 'capacity_tb', 'capacity_pb', 'rate' or 'servers'");
    }
    if (count > 100000) {
        return myr_doc_error(err, spec->node, MYR_ERANGE,
                             "%llu storage servers would be needed, at most 100,000 are allowed",
                             (unsigned long long)count);
    }
    plan->storage_servers = (uint32_t)count;
    plan->storage_raw_tb = (double)(count * raw_gb) / 1000;
    uint64_t kept_gb = count * raw_gb * data / stored; /* whole gigabytes, rounded down */
    plan->storage_usable_tb = (double)kept_gb / 1000;
    plan->storage_rule =
        "max(ceil(usable * stored / data / raw of one server), ceil(rate / line rate of one "
        "server))";
    plan->storage_inputs = myr_arena_printf(
        plan->arena,
        "usable=%llu GB, stored/data=%u/%u, raw of one=%u x %llu GB; by capacity %llu, by rate "
        "%llu (%llu MB/s over %llu MB/s each)%s",
        (unsigned long long)usable_gb, stored, data, server->disks,
        (unsigned long long)server->disk_gb, (unsigned long long)by_capacity,
        (unsigned long long)by_rate, (unsigned long long)wanted, (unsigned long long)line_mbytes,
        spec->servers ? "; count given in the spec" : "");
    if (wanted > count * line_mbytes) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-slow", "storage",
                     line_mbytes ? "raise storage.servers or leave it out"
                                 : "take storage servers whose cards are known",
                     "%llu storage servers carry %llu MB/s, %llu MB/s are asked for",
                     (unsigned long long)count, (unsigned long long)(count * line_mbytes),
                     (unsigned long long)wanted);
    }
    if (spec->servers && spec->servers < by_capacity) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-short", "storage",
                     "raise storage.servers or leave it out",
                     "%u storage servers hold %.2f TB, %.2f TB are asked for", spec->servers,
                     plan->storage_usable_tb, spec->capacity_tb);
    }
    return MYR_OK;
}
