#include "verify/verify.h"

/*
 * Links that are where they should be, but slow. Speed is compared with the plan, unless nearly all
 * links of that planned speed are found at one lower speed: then the source speaks of speeds in
 * another tongue (a simulator without NDR, a fabric that is not yet tuned), which is worth one line
 * and not ten thousand.
 */

/* A fabric has a handful of speeds; a list with more than 64 pairs of them is noise anyway. */
enum { SPEEDS_MAX = 64, WHOLE_FILE_PERCENT = 90 };

/* How often a planned speed was found as which speed and width. */
struct speed_row {
    uint32_t planned_gbps, gbps, width;
    uint32_t count;
};

struct speed_table {
    struct speed_row rows[SPEEDS_MAX];
    uint32_t count;
};

static void tally(struct speed_table *table, uint32_t planned, const struct myr_cabling_link *link)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct speed_row *row = &table->rows[i];
        if (row->planned_gbps == planned && row->gbps == link->gbps && row->width == link->width) {
            row->count++;
            return;
        }
    }
    if (table->count < SPEEDS_MAX) {
        table->rows[table->count++] = (struct speed_row){planned, link->gbps, link->width, 1};
    }
}

/* What links of this planned speed usually run at; 0 when no speed is told. */
static struct speed_row usual(const struct speed_table *table, uint32_t planned)
{
    struct speed_row most = {.planned_gbps = planned};
    uint32_t total = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct speed_row *row = &table->rows[i];
        if (row->planned_gbps == planned) {
            total += row->count;
            most = row->count > most.count ? *row : most;
        }
    }
    bool whole_file = (uint64_t)most.count * 100 >= (uint64_t)total * WHOLE_FILE_PERCENT;
    if (!whole_file || most.gbps == 0 || most.gbps > planned) {
        most.gbps = planned;
    }
    MYR_ASSERT(most.gbps <= planned && most.count <= total);
    return most;
}

static bool is_degraded(const struct myr_cabling_link *link, struct speed_row expected,
                        uint64_t errors_max)
{
    bool slow =
        link->gbps ? link->gbps < expected.gbps : link->width && link->width < expected.width;
    return slow || link->errors > errors_max;
}

/* Errors that were told apart from the cables, by the GUID of a device or of a NIC's port. */
static void degrade_by_counters(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    const struct myr_cabling *cabling = verify->cabling;
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map devices = {0};
    for (uint32_t i = 0; i < cabling->devices.count && cabling->errors.count; i++) {
        const uint64_t guids[] = {cabling->devices.items[i].guid,
                                  cabling->devices.items[i].port_guid};
        for (uint32_t g = 0; g < MYR_ARRAY_COUNT(guids); g++) {
            if (guids[g]) {
                (void)myr_u64map_add(&devices, guids[g], i); /* the first one that has it */
            }
        }
    }
    for (uint32_t i = 0; i < cabling->errors.count; i++) {
        const struct myr_cabling_errors *row = &cabling->errors.items[i];
        const uint32_t *device = myr_u64map_find(&devices, row->guid);
        struct myr_cabling_end end = {device ? *device : 0, row->port};
        uint32_t port = device ? identify_port(&job->identify, end) : MYR_NONE;
        if (port == MYR_NONE || verify->state[port] != MYR_STATE_RIGHT ||
            row->count <= verify->options.errors_max) {
            continue;
        }
        MYR_ASSERT(verify->found[port] != MYR_NONE); /* it was right */
        verify->state[port] = MYR_STATE_DEGRADED;
        if (!verify_is_foreign(verify, verify->found[port])) {
            verify->state[verify->found[port]] = MYR_STATE_DEGRADED;
        }
    }
}

void verify_degrade(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    const struct myr_design *design = verify->design;
    struct speed_table table = {.count = 0};
    for (uint32_t p = 0; p < design->port_count; p++) {
        if (verify->state[p] == MYR_STATE_RIGHT && p < verify->found[p]) {
            tally(&table, verify_planned_gbps(design, p),
                  &verify->cabling->links.items[verify->found_link[p]]);
        }
    }
    struct speed_row expected = {.planned_gbps = 0};
    for (uint32_t p = 0; p < design->port_count; p++) {
        if (verify->state[p] != MYR_STATE_RIGHT) {
            continue;
        }
        uint32_t planned = verify_planned_gbps(design, p);
        if (planned != expected.planned_gbps) {
            expected = usual(&table, planned);
        }
        if (expected.gbps < planned && verify->slow_planned_gbps == 0) {
            verify->slow_planned_gbps = planned;
            verify->slow_found_gbps = expected.gbps;
        }
        if (is_degraded(&verify->cabling->links.items[verify->found_link[p]], expected,
                        verify->options.errors_max)) {
            verify->state[p] = MYR_STATE_DEGRADED;
        }
    }
    degrade_by_counters(job);
}
