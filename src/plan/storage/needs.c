#include <math.h>

#include "myriad/work/model.h"
#include "myriad/work/state.h"
#include "storage/storage.h"

/*
 * How many storage servers there must be: by capacity, rate, operations, metadata, files and
 * checkpoint, each by itself, of which the largest counts. docs/planning.md has the formulas and
 * the class values.
 */

/*
 * Published rates in MB/s for each started 32 servers of 8 GPUs: good, better, best (read, write).
 * What reads and writes are GPUs: a rack of 72 counts as nine such servers.
 */
enum { RATE_GPUS = 32 * 8 };

/* By the spec's class; the first is that of none. */
static const struct {
    uint32_t read_mbytes, write_mbytes;
} rates[] = {{0, 0}, {15000, 7500}, {40000, 20000}, {125000, 62500}};

/* The part's own figure, or the class value, which is then marked as assumed. */
static uint64_t or_class(double of_part, uint64_t assumed, enum myr_basis *ret_basis)
{
    *ret_basis = of_part > 0 ? MYR_BASIS_COUNTED : MYR_BASIS_ASSUMED;
    return of_part > 0 ? (uint64_t)of_part : assumed;
}

/* Class values: an NVMe disk, and a server whose processors make the operations. */
struct storage_server storage_one(const struct plan *plan, const struct myr_part_storage *server)
{
    struct storage_server one = {};
    const struct myr_part *nic =
        server->nic ? part_at(plan, myr_catalog_find(plan->catalog, myr_str_from(server->nic)))
                    : NULL;
    /* 125 MB/s for each Gb/s. Without a known card nothing can be carried. */
    one.port_mbytes =
        nic ? (uint64_t)nic->nic.port_gbps * (server->nic_ports ? server->nic_ports : 1) * 125 : 0;
    one.read_mbytes = server->disks * or_class(server->disk_read_mbytes, 6000, &one.read_basis);
    one.write_mbytes = server->disks * or_class(server->disk_write_mbytes, 2800, &one.write_basis);
    one.iops = or_class(server->iops, 1500000, &one.iops_basis);
    one.metadata_ops = or_class(server->metadata_ops, 100000, &one.metadata_basis);
    one.metadata_gb = server->disks * server->disk_gb / 20; /* a twentieth of its disks */
    return one;
}

/* Ports and disks in one line: the slower of both decides. */
uint64_t storage_reads(const struct storage_server *one)
{
    return storage_least(one->port_mbytes, one->read_mbytes);
}

uint64_t storage_writes(const struct storage_server *one)
{
    return storage_least(one->port_mbytes, one->write_mbytes);
}

/* Rounded up, but for noise of the arithmetic; limited, so that nothing overflows later. */
static uint64_t up(double value)
{
    return value < 1e18 ? (uint64_t)ceil(value - 1e-9) : UINT64_C(1000000000000000000);
}

/* Rounded up; 0 where a server has none of it: then that wish decides nothing. */
static uint64_t divide(uint64_t wanted, uint64_t each)
{
    return each ? wanted / each + (wanted % each > 0) : 0;
}

/* Many small files take whole blocks, entries in the metadata service, and time to walk through. */
static void need_files(const struct myr_spec_storage *spec, struct storage_needs *needs)
{
    enum { BLOCK_KB = 4 };
    /* The larger of the stated operations and those that a scan in time needs. */
    double ops = spec->metadata_ops;
    if (spec->scan_hours > 0 && spec->files / (spec->scan_hours * 3600) > ops) {
        ops = spec->files / (spec->scan_hours * 3600);
    }
    needs->wanted_metadata_ops = ops;
    needs->by_metadata = divide(up(ops), needs->one.metadata_ops);
    double entries_gb = spec->files * ENTRY_BYTES * ENTRY_COPIES / 1e9;
    needs->by_files = divide(up(entries_gb), needs->one.metadata_gb);
    double blocks = spec->file_kb > 0 ? ceil(spec->file_kb * 1000 / 1024 / BLOCK_KB) : 0;
    needs->file_gb = up(spec->files * blocks * BLOCK_KB * 1024 / 1e9);
}

/* The state in BF16 training; every copy of it is written within the window. */
static int need_checkpoint(struct plan *plan, struct storage_needs *needs, struct myr_err *err)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    struct myr_model model;
    struct myr_err why = {};
    if (!spec->model) {
        return MYR_OK;
    }
    if (myr_model_find(plan->arena, spec->model, &model, &why) < 0) {
        char shown[MYR_EXCERPT_MAX];
        return myr_doc_error(err, spec->model_node, MYR_ENOENT,
                             "'model' is '%s', a model that 'myriad fit models' lists or a file of "
                             "one is expected",
                             myr_text_excerpt(myr_str_from(spec->model), shown));
    }
    needs->state_bytes = myr_checkpoint_bytes(&model, MYR_PRECISION_BF16);
    /* Copies and parity are written as well. */
    double written = (double)needs->state_bytes * (double)needs->stored / (double)needs->data;
    needs->by_checkpoint = divide(up(written / 1e6 / spec->window_s), storage_writes(&needs->one));
    return MYR_OK;
}

/* The wish that asks for most decides the count. */
static uint64_t most_of(const struct storage_needs *needs)
{
    const uint64_t all[] = {needs->by_capacity, needs->by_rate,  needs->by_iops,
                            needs->by_metadata, needs->by_files, needs->by_checkpoint};
    uint64_t most = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        most = all[i] > most ? all[i] : most;
    }
    return most;
}

#define TOO_FEW "%u storage servers, %llu are needed for %s"
#define REMEDY  "raise storage.servers or leave it out"

/* A number that the spec gives may be too small for its wishes; rates are checked even if counted,
 * as servers without a known card carry nothing. */
static void check_given(struct plan *plan, const struct storage_needs *needs, uint64_t count)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    /* What the servers have to write in all, copies and parity included. */
    uint64_t write = needs->write_mbytes * needs->stored / needs->data;
    uint64_t wanted = needs->read_mbytes > write ? needs->read_mbytes : write;
    uint64_t line = storage_reads(&needs->one), carried = count * line;
    if (needs->read_mbytes > carried || write > count * storage_writes(&needs->one)) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-slow", "storage",
                     line ? "raise storage.servers or leave it out"
                          : "take storage servers whose cards are known",
                     "%llu storage servers carry %llu MB/s, %llu MB/s are asked for",
                     (unsigned long long)count, (unsigned long long)carried,
                     (unsigned long long)wanted);
    }
    /* A counted number is enough by itself: only a given one may be too small. */
    if (!spec->servers) {
        return;
    }
    if (spec->servers < needs->by_capacity) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-short", "storage",
                     "raise storage.servers or leave it out",
                     "%u storage servers hold %.2f TB, %.2f TB are asked for", spec->servers,
                     plan->storage_usable_tb, spec->capacity_tb);
    }
    uint32_t given = spec->servers;
    if (given < needs->by_iops) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-iops", "storage", REMEDY, TOO_FEW, given,
                     (unsigned long long)needs->by_iops, "operations");
    }
    if (given < needs->by_metadata) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-metadata", "storage", REMEDY, TOO_FEW,
                     given, (unsigned long long)needs->by_metadata, "metadata operations");
    }
    if (given < needs->by_files) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-files", "storage", REMEDY, TOO_FEW, given,
                     (unsigned long long)needs->by_files, "the entries of all files");
    }
    if (given < needs->by_checkpoint) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "storage-checkpoint", "storage", REMEDY, TOO_FEW,
                     given, (unsigned long long)needs->by_checkpoint, "a checkpoint in its window");
    }
}

/* The line of the bill tells all that went into the count; wishes that nobody has are left out. */
static const char *inputs_of(const struct plan *plan, const struct storage_needs *needs,
                             const struct myr_part_storage *server)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    uint64_t write = needs->write_mbytes * needs->stored / needs->data;
    uint64_t wanted = needs->read_mbytes > write ? needs->read_mbytes : write;
    const char *more = "";
    if (spec->iops > 0 || needs->wanted_metadata_ops > 0 || spec->files > 0 || spec->model) {
        more = myr_arena_printf(
            plan->arena,
            "; by operations %llu, by metadata %llu, by files %llu, by "
            "checkpoint %llu",
            (unsigned long long)needs->by_iops, (unsigned long long)needs->by_metadata,
            (unsigned long long)needs->by_files, (unsigned long long)needs->by_checkpoint);
    }
    return myr_arena_printf(
        plan->arena,
        "usable=%llu GB, stored/data=%u/%u, raw of one=%u x %llu GB; by capacity %llu, by rate "
        "%llu (%llu MB/s over %llu MB/s each)%s%s",
        (unsigned long long)needs->usable_gb, (unsigned)needs->stored, (unsigned)needs->data,
        server->disks, (unsigned long long)server->disk_gb, (unsigned long long)needs->by_capacity,
        (unsigned long long)needs->by_rate, (unsigned long long)wanted,
        (unsigned long long)storage_reads(&needs->one), more,
        spec->servers ? "; count given in the spec" : "");
}

/* What is asked for, in whole units: "just fits" never depends on rounding. */
static void read_wishes(const struct plan *plan, struct storage_needs *needs)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    uint64_t units = ceil_div(plan->gpus, RATE_GPUS);
    needs->data = spec->erasure_data ? spec->erasure_data : 1;
    needs->stored = spec->erasure_data ? spec->erasure_data + spec->erasure_parity
                                       : (spec->copies ? spec->copies : 2);
    uint64_t read = up(spec->read_gbytes * 1000), write = up(spec->write_gbytes * 1000);
    needs->read_mbytes = rates[spec->rate_class].read_mbytes * units;
    needs->write_mbytes = rates[spec->rate_class].write_mbytes * units;
    needs->read_mbytes = read > needs->read_mbytes ? read : needs->read_mbytes;
    needs->write_mbytes = write > needs->write_mbytes ? write : needs->write_mbytes;
}

/*
 * Storage servers by capacity, rate, operations, files and checkpoint, whichever asks for most.
 * Whole numbers throughout: gigabytes and megabytes per second.
 */
int plan_storage(struct plan *plan, struct myr_err *err)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    if (!spec->node) {
        return MYR_OK;
    }
    const struct myr_part_storage *server = &part_at(plan, plan->storage_part)->storage;
    struct storage_needs *needs = MYR_ARENA_ONE(plan->arena, struct storage_needs);
    plan->storage_needs = needs;
    needs->one = storage_one(plan, server);
    read_wishes(plan, needs);
    need_files(spec, needs);
    /* Decimal bytes throughout, as disks are sold. */
    uint64_t raw_gb = server->disks * server->disk_gb;
    uint64_t asked_gb = (uint64_t)(spec->capacity_tb * 1000 + 0.5);
    /* Files are capacity, too: whichever is more. */
    needs->usable_gb = asked_gb > needs->file_gb ? asked_gb : needs->file_gb;
    needs->by_capacity = divide(needs->usable_gb * needs->stored, raw_gb * needs->data);
    /* Whichever direction asks for more. */
    uint64_t by_read = divide(needs->read_mbytes, storage_reads(&needs->one));
    uint64_t by_write =
        divide(needs->write_mbytes * needs->stored / needs->data, storage_writes(&needs->one));
    needs->by_rate = by_read > by_write ? by_read : by_write;
    needs->by_iops = divide(up(spec->iops), needs->one.iops);
    MYR_TRY(need_checkpoint(plan, needs, err));

    /* The spec's own number beats all wishes; what it misses becomes findings. */
    uint64_t count = spec->servers ? spec->servers : most_of(needs);
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
    uint64_t kept_gb = count * raw_gb * needs->data / needs->stored; /* rounded down */
    plan->storage_usable_tb = (double)kept_gb / 1000;
    plan->storage_rule =
        "max(ceil(usable * stored / data / raw of one server), ceil(rate / line rate of one "
        "server))";
    plan->storage_inputs = inputs_of(plan, needs, server);
    check_given(plan, needs, count);
    return MYR_OK;
}
