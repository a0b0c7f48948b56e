#include <stdio.h>

#include "myriad/plan.h"

/*
 * Money and bytes of a design in the units that people use: the design itself has whole cents and
 * whole gigabytes.
 */

/* From whole GB in two halves, as the design's head has them. */
static double terabytes(uint32_t high, uint32_t low)
{
    return (double)((uint64_t)high << 32 | low) / 1000;
}

/* Of all disks; and what is left of it behind copies or a code. */
double myr_plan_raw_tb(const struct myr_design_head *head)
{
    return terabytes(head->storage_raw_gb_high, head->storage_raw_gb_low);
}

double myr_plan_usable_tb(const struct myr_design_head *head)
{
    return terabytes(head->storage_usable_gb_high, head->storage_usable_gb_low);
}

/* "43.26 M CNY", "12.00 T CNY" from a million millions on; below a million to the last unit. */
const char *myr_plan_money(int64_t cents, const char *currency, char ret[MYR_PLAN_MONEY_MAX])
{
    char digits[40];
    uint64_t units = ((uint64_t)cents + 50) / 100;
    if (units >= 1000000) {
        uint64_t hundredths = (units + 5000) / 10000; /* of a million */
        char large = 'M';
        if (hundredths >= 100000000) {
            hundredths = (hundredths + 500000) / 1000000;
            large = 'T';
        }
        myr_u64_grouped(hundredths / 100, digits);
        snprintf(ret, MYR_PLAN_MONEY_MAX, "%s.%02u %c %.16s", digits, (unsigned)(hundredths % 100),
                 large, currency);
    } else {
        myr_u64_grouped(units, digits);
        snprintf(ret, MYR_PLAN_MONEY_MAX, "%s %.16s", digits, currency);
    }
    return ret;
}
