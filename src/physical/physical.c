#include "myriad/physical.h"

#include "physical_internal.h"

/*
 * The order matters: joints need the sockets, cages need the cable types that joints look up, and
 * the bill needs what was counted in the cages.
 */
void myr_physical_check(struct myr_arena *arena, const struct myr_catalog *catalog,
                        const struct myr_design *design, struct myr_physical *ret)
{
    *ret = (struct myr_physical){};
    struct physical physical = {.arena = arena, .catalog = catalog, .design = design, .found = ret};
    physical_sockets(&physical);
    physical_joints(&physical);
    physical_cages(&physical);
    physical_managed(&physical);
    physical_bom(&physical);
    myr_vec_done(&physical.joints);
}

void myr_physical_done(struct myr_physical *physical)
{
    myr_vec_done(&physical->findings);
}
