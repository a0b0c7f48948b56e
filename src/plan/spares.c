#include <math.h>

#include "figures/figures.h"

/*
 * Spare parts on the shelf: what is expected to fail until new ones come, and twice the square root
 * of that, so that it runs out in one of forty such times; one of each kind at the least. The rates
 * are published ones of fleets of other sizes and ages: all of them are marked as assumed.
 */

/* From order to delivery of a part, in weeks. */
#define RESTOCK_WEEKS 13

/* Failures of one piece in a year. */
static const struct kind {
    enum figure_id pieces, failures, spares;
    double rate;
    const char *source;
} kinds[] = {
    {FIG_SPARE_GPU_PIECES, FIG_SPARE_GPU_FAIL, FIG_SPARE_GPU, 0.03, "replaced, of three fleets"},
    {FIG_SPARE_NIC_PIECES, FIG_SPARE_NIC_FAIL, FIG_SPARE_NIC, 0.0029,
     "stops of 16,384 GPUs in 54 days"},
    {FIG_SPARE_OPTIC_PIECES, FIG_SPARE_OPTIC_FAIL, FIG_SPARE_OPTIC, 0.0117,
     "mean time of 0.75 million hours"},
    {FIG_SPARE_SWITCH_PIECES, FIG_SPARE_SWITCH_FAIL, FIG_SPARE_SWITCH, 0.0061,
     "critical errors of one operator"},
    {FIG_SPARE_PSU_PIECES, FIG_SPARE_PSU_FAIL, FIG_SPARE_PSU, 0.0096,
     "seen by jobs, for each server"},
    {FIG_SPARE_DISK_PIECES, FIG_SPARE_DISK_FAIL, FIG_SPARE_DISK, 0.01, "at most, of 2,200 drives"},
};

/* Pieces of a kind of part in the bill: what others supply is theirs to keep. */
static double billed(const struct plan *plan, enum myr_part_kind one, enum myr_part_kind other)
{
    double pieces = 0;
    for (size_t i = 0; i < plan->bom.count; i++) {
        enum myr_part_kind kind = part_at(plan, plan->bom_parts.items[i])->kind;
        pieces += kind == one || kind == other ? (double)plan->bom.items[i].quantity : 0;
    }
    return pieces;
}

/* In the order of the kinds. */
static double pieces_of(const struct plan *plan, uint32_t kind)
{
    const struct net_plan *net = &plan->nets[MYR_NET_COMPUTE];
    uint32_t disks = plan->storage_servers ? part_at(plan, plan->storage_part)->storage.disks : 0;
    const double pieces[MYR_ARRAY_COUNT(kinds)] = {
        plan->gpus,
        net->present ? net->out.host_ports : 0,
        billed(plan, MYR_PART_TRANSCEIVER, MYR_PART_TRANSCEIVER),
        billed(plan, MYR_PART_SWITCH, MYR_PART_ETHERNET),
        plan->nodes,
        (double)plan->storage_servers * disks,
    };
    return pieces[kind];
}

/* Kinds that the plan has none of have no figures. */
void plan_spares(struct plan *plan)
{
    plan_figure(plan, FIG_SPARE_WEEKS, RESTOCK_WEEKS, MYR_BASIS_ASSUMED, "a quarter");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        const struct kind *kind = &kinds[i];
        double pieces = pieces_of(plan, i), failures = pieces * kind->rate;
        double until = failures * RESTOCK_WEEKS / 52, wanted = until + 2 * sqrt(until);
        uint64_t spares = (uint64_t)wanted;
        spares += wanted > (double)spares;
        if (pieces > 0) {
            plan_figure(plan, kind->pieces, pieces, MYR_BASIS_COUNTED, "of the plan");
            plan_figure(plan, kind->failures, failures, MYR_BASIS_ASSUMED, "%.0f * %g, %s", pieces,
                        kind->rate, kind->source);
            plan_figure(plan, kind->spares, (double)spares, MYR_BASIS_COMPUTED,
                        "%.2f * %d / 52 = %.2f until new ones come", failures, RESTOCK_WEEKS,
                        until);
        }
    }
}
