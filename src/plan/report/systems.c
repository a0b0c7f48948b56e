#include "report/report.h"

/*
 * What the bill is made of: sums that a report shows, explains and draws. All three ask here, so
 * that they cannot differ. Systems are told apart by their string, which the design has once.
 */

/* The first systems of the bill, should there be more than fit; lines without a price add nothing.
 */
uint32_t report_systems(const struct myr_design *design,
                        struct report_system ret[REPORT_SYSTEMS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        uint32_t at = 0;
        while (at < count && ret[at].name != row->system) {
            at++;
        }
        /* A bill of so many systems is not expected; what comes behind has lines, but no sum. */
        if (at == REPORT_SYSTEMS_MAX) {
            continue;
        }
        if (at == count) {
            ret[count++] = (struct report_system){row->system, -1};
        }
        if (row->unit_cents >= 0) {
            ret[at].cents = (ret[at].cents < 0 ? 0 : ret[at].cents) + row->total_cents;
        }
    }
    return count;
}
