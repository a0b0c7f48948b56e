#include "storage/storage.h"

/*
 * What the storage system gives, and whether the wishes that are no count of servers hold. needs.c
 * has decided how many servers there are; here their rates, the checkpoint's time and the walk
 * through all files follow, each as a figure with its rule, then the availability. Tiers behind the
 * flash are sized here as well, by capacity alone.
 */

const struct storage_class storage_classes[STORAGE_CLASSES] = {
    {"best", 125, 62.5}, {"better", 40, 20}, {"good", 15, 7.5}};

/* The best class whose rates both are reached. */
static const char *class_of(const struct plan *plan, double read, double write)
{
    double units = ceil_div(plan->gpus, 256);
    for (uint32_t i = 0; i < STORAGE_CLASSES; i++) {
        if (read >= storage_classes[i].read_gbytes * units &&
            write >= storage_classes[i].write_gbytes * units) {
            return storage_classes[i].name;
        }
    }
    return "none";
}

/* Shown beside what is planned, so that it can be seen which wish decided. */
static void put_needs(struct plan *plan, const struct storage_needs *needs)
{
    const struct {
        enum figure_id id;
        uint64_t value;
    } rows[] = {{FIG_ST_CAPACITY, needs->by_capacity}, {FIG_ST_RATE, needs->by_rate},
                {FIG_ST_IOPS, needs->by_iops},         {FIG_ST_METADATA, needs->by_metadata},
                {FIG_ST_FILES, needs->by_files},       {FIG_ST_CHECKPOINT, needs->by_checkpoint}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        plan_figure(plan, rows[i].id, (double)rows[i].value, MYR_BASIS_COMPUTED,
                    "%u server%s planned", plan->storage_servers,
                    plan->storage_servers == 1 ? " is" : "s are");
    }
}

/* Writing costs more than once: copies and parity pass the same ports and disks. */
static void put_rates(struct plan *plan, const struct storage_needs *needs)
{
    struct storage_server built = storage_built(plan, needs);
    const struct storage_server *one = &built;
    double count = plan->storage_servers;
    double read = count * (double)storage_reads(one) / 1000;
    double write =
        count * (double)storage_writes(one) / 1000 * (double)needs->data / (double)needs->stored;
    /* What the whole system gives, then what one server adds to it. */
    plan_figure(plan, FIG_ST_READ, read, MYR_BASIS_COMPUTED, "%.0f * %llu MB/s", count,
                (unsigned long long)storage_reads(one));
    plan_figure(plan, FIG_ST_WRITE, write, MYR_BASIS_COMPUTED, "%.0f * %llu MB/s * %u / %u", count,
                (unsigned long long)storage_writes(one), (unsigned)needs->data,
                (unsigned)needs->stored);
    plan_figure(plan, FIG_ST_GPU_READ, plan->gpus ? read / plan->gpus : 0, MYR_BASIS_COMPUTED,
                "%.1f GB/s / %u", read, plan->gpus);
    plan_figure(plan, FIG_ST_GPU_IOPS, count * (double)one->iops, MYR_BASIS_COMPUTED, "%.0f * %llu",
                count, (unsigned long long)one->iops);
    plan_figure(plan, FIG_ST_META_OPS, count * (double)one->metadata_ops, MYR_BASIS_COMPUTED,
                "%.0f * %llu", count, (unsigned long long)one->metadata_ops);
    plan_figure_word(plan, FIG_ST_CLASS, class_of(plan, read, write), MYR_BASIS_COMPUTED);
    /* Of one server: what the sums above are made of. */
    plan_figure(plan, FIG_ST_NIC, (double)one->port_mbytes / 1000, MYR_BASIS_COUNTED,
                one->port_mbytes == needs->one.port_mbytes ? "its card" : "its ports as built");
    plan_figure(plan, FIG_ST_DISK_READ, (double)one->read_mbytes / 1000, one->read_basis,
                "its disks");
    plan_figure(plan, FIG_ST_DISK_WRITE, (double)one->write_mbytes / 1000, one->write_basis,
                "its disks");
    plan_figure(plan, FIG_ST_ONE_IOPS, (double)one->iops, one->iops_basis, "4 KiB, read");
    plan_figure(plan, FIG_ST_ONE_META, (double)one->metadata_ops, one->metadata_basis,
                "look-ups and creations");
}

/* What is in one server, as an offer lists it; what the part does not say is no figure. */
static void put_server(struct plan *plan)
{
    const struct myr_part *part = part_at(plan, plan->storage_part);
    const struct myr_part_storage *one = &part->storage;
    const struct {
        enum figure_id id;
        uint64_t value;
    } rows[] = {{FIG_ST_CPUS, one->processors},          {FIG_ST_CORES, one->processor_cores},
                {FIG_ST_MEMORY, one->memory_gb},         {FIG_ST_SYS, one->system_disks},
                {FIG_ST_SYS_GB, one->system_disk_gb},    {FIG_ST_META_DISKS, one->metadata_disks},
                {FIG_ST_META_GB, one->metadata_disk_gb}, {FIG_ST_DISKS, one->disks},
                {FIG_ST_DISK_GB, one->disk_gb}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (rows[i].value) {
            plan_figure(plan, rows[i].id, (double)rows[i].value,
                        part->assumed ? MYR_BASIS_ASSUMED : MYR_BASIS_COUNTED, "%s", part->id);
        }
    }
}

/* How long it takes to write and to read back, and what is kept of it; two by default. */
static void put_checkpoint(struct plan *plan, const struct storage_needs *needs)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    if (!spec->model) {
        return;
    }
    /* Two checkpoints are kept where the spec does not say. */
    double gb = (double)needs->state_bytes / 1e9, kept = spec->checkpoints ? spec->checkpoints : 2;
    double write = plan_figure_value(plan, FIG_ST_WRITE);
    double read = plan_figure_value(plan, FIG_ST_READ);
    plan_figure(plan, FIG_ST_STATE, gb, MYR_BASIS_COMPUTED, "%s", spec->model);
    plan_figure(plan, FIG_ST_WINDOW, spec->window_s, MYR_BASIS_GIVEN, "window_s");
    /* 0 where nothing is known of the rates. */
    plan_figure(plan, FIG_ST_TAKES, write > 0 ? gb / write : 0, MYR_BASIS_COMPUTED,
                "%.1f GB / %.1f GB/s", gb, write);
    plan_figure(plan, FIG_ST_READS, read > 0 ? gb / read : 0, MYR_BASIS_COMPUTED,
                "%.1f GB / %.1f GB/s, one replica reads it", gb, read);
    plan_figure(plan, FIG_ST_SPACE, gb * kept / 1000,
                spec->checkpoints ? MYR_BASIS_COMPUTED : MYR_BASIS_ASSUMED, "%g kept", kept);
}

/* Nothing where the spec names no files. */
static void put_files(struct plan *plan, const struct storage_needs *needs)
{
    const struct myr_spec_storage *spec = &plan->spec->storage;
    if (spec->files <= 0) {
        return;
    }
    double ops = plan_figure_value(plan, FIG_ST_META_OPS);
    plan_figure(plan, FIG_ST_FILE_COUNT, spec->files, MYR_BASIS_GIVEN, "files");
    plan_figure(plan, FIG_ST_FILE_DATA, (double)needs->file_gb / 1000, MYR_BASIS_COMPUTED,
                "%g files of %g KB", spec->files, spec->file_kb);
    plan_figure(plan, FIG_ST_FILE_META, spec->files * ENTRY_BYTES * ENTRY_COPIES / 1e12,
                MYR_BASIS_ASSUMED, "%d bytes, %d copies", ENTRY_BYTES, ENTRY_COPIES);
    plan_figure(plan, FIG_ST_SCAN, ops > 0 ? spec->files / ops / 3600 : 0, MYR_BASIS_COMPUTED,
                "%g / %.0f a second", spec->files, ops);
}

/* ---- tiers behind the flash ---- */

/* By default that of its kind, which is built in. */
uint32_t plan_tier_part(const struct myr_catalog *catalog, const struct myr_spec *spec,
                        uint32_t tier)
{
    static const char *const parts[MYR_TIER_COUNT] = {"hybrid-24x20", "object-36x22"};
    const struct myr_spec_tier *wanted = &spec->storage.tiers[tier];
    if (!wanted->node) {
        return MYR_PART_NONE;
    }
    return wanted->server_part != MYR_PART_NONE
               ? wanted->server_part
               : myr_catalog_find(catalog, myr_str_from(parts[tier]));
}

/* 0 and no part where the spec has no such tier. Without copies or a code it keeps three copies. */
uint32_t plan_tier_servers(const struct plan *plan, uint32_t tier, uint32_t *ret_part)
{
    const struct myr_spec_tier *spec = &plan->spec->storage.tiers[tier];
    if (!spec->node) {
        return 0;
    }
    *ret_part = plan_tier_part(plan->catalog, plan->spec, tier);
    MYR_ASSERT(*ret_part != MYR_PART_NONE); /* they are built in */
    const struct myr_part_storage *server = &part_at(plan, *ret_part)->storage;
    uint64_t data = spec->erasure_data ? spec->erasure_data : 1;
    uint64_t stored =
        spec->erasure_data ? data + spec->erasure_parity : (spec->copies ? spec->copies : 3);
    /* usable * stored / (raw * data): one division, of whole numbers. */
    uint64_t raw = server->disks * server->disk_gb * data;
    uint64_t wanted = (uint64_t)(spec->capacity_tb * 1000 + 0.5) * stored;
    /* Whole servers, in whole GB: nothing hangs on rounding. */
    uint64_t count = wanted / raw + (wanted % raw > 0);
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* Its four figures begin at 'base': servers, raw, usable, read rate. Tiers are not cabled, so the
 * rate is that of the part. */
static void put_tier(struct plan *plan, uint32_t tier, uint32_t base)
{
    const struct myr_spec_tier *spec = &plan->spec->storage.tiers[tier];
    uint32_t part, count = plan_tier_servers(plan, tier, &part);
    if (!count) {
        return;
    }
    const struct myr_part_storage *server = &part_at(plan, part)->storage;
    struct storage_server one = storage_one(plan, server);
    /* As plan_tier_servers() has counted them. */
    double data = spec->erasure_data ? spec->erasure_data : 1;
    double stored =
        spec->erasure_data ? data + spec->erasure_parity : (spec->copies ? spec->copies : 3);
    double raw = (double)count * server->disks * (double)server->disk_gb / 1000;
    const char *id = part_at(plan, part)->id;
    plan_figure(plan, (enum figure_id)base, count, MYR_BASIS_COMPUTED, "%s, stored/data=%g/%g", id,
                stored, data);
    plan_figure(plan, (enum figure_id)(base + 1), raw, MYR_BASIS_COMPUTED, "%u x %llu GB each",
                server->disks, (unsigned long long)server->disk_gb);
    plan_figure(plan, (enum figure_id)(base + 2), raw * data / stored, MYR_BASIS_COMPUTED,
                "%.2f TB * %g / %g", raw, data, stored);
    plan_figure(plan, (enum figure_id)(base + 3), count * (double)storage_reads(&one) / 1000,
                one.read_basis, "%u * %llu MB/s", count, (unsigned long long)storage_reads(&one));
}

/* What each wish needs, then what the servers give: the order in which people ask. */
void plan_storage_figures(struct plan *plan)
{
    const struct storage_needs *needs = plan->storage_needs;
    if (!needs) {
        return;
    }
    put_needs(plan, needs);
    put_rates(plan, needs);
    put_server(plan);
    put_checkpoint(plan, needs);
    put_files(plan, needs);
    storage_availability(plan, needs);
    storage_homes(plan);
    put_tier(plan, MYR_TIER_HYBRID, FIG_ST_HYBRID_SERVERS);
    put_tier(plan, MYR_TIER_OBJECT, FIG_ST_OBJECT_SERVERS);
}
