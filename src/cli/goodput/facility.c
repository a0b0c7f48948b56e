/*
 * facility: what a run is charged by, told: no figure without where it comes from, so that nobody
 * takes an assumption for the design's word.
 */
#include <stdio.h>

#include "goodput/goodput.h"
#include "myriad/plan.h"

/* Null where nothing is charged by it. */
static void put_figure(struct myr_answer *answer, const char *key,
                       const struct myr_run_figure *figure, double scale, int digits)
{
    if (!figure->known) {
        myr_answer_null(answer, key);
        return;
    }
    myr_answer_object(answer, key);
    myr_answer_double(answer, "value", figure->value * scale, digits);
    myr_answer_text(answer, "from", myr_run_from_names[figure->from]);
    myr_answer_text(answer, "basis", myr_basis_names[figure->basis]);
    myr_answer_end(answer);
}

void cli_goodput_put_facility(struct myr_answer *answer, const struct myr_run_facility *facility)
{
    const struct myr_run_facility *f = facility;
    myr_answer_object(answer, "facility");
    put_figure(answer, "it_mw", &f->it_watts, 1e-6, 6);
    myr_answer_u64(answer, "devices_without_watts", f->without_watts);
    put_figure(answer, "pue", &f->pue, 1, 4);
    put_figure(answer, "kwh", &f->kwh, 1, 6);
    put_figure(answer, "years", &f->years, 1, 3);
    put_figure(answer, "machine_hour", &f->machine_hour, 1, 4);
    myr_answer_object(answer, "currency");
    myr_answer_text(answer, "value", f->currency);
    myr_answer_text(answer, "from", myr_run_from_names[f->currency_from]);
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* Money only where it is asked for: power is said always. */
void cli_goodput_show_facility(struct myr_answer *answer, const struct myr_run_facility *facility,
                               bool money)
{
    const struct myr_run_facility *f = facility;
    char it[MYR_PLAN_POWER_MAX], all[MYR_PLAN_POWER_MAX], some[64] = "";
    if (f->without_watts > 0) {
        snprintf(some, sizeof(some), "; %s without a figure",
                 MYR_COUNT(f->without_watts, "device"));
    }
    myr_answer_fact(answer, "power", "%s with cooling: %s IT (%s%s), PUE %.4g (%s)",
                    myr_plan_power(f->it_watts.value * f->pue.value / 1000, all),
                    myr_plan_power(f->it_watts.value / 1000, it), myr_run_from_words(&f->it_watts),
                    some, f->pue.value, myr_run_from_words(&f->pue));
    if (!money) {
        return;
    }
    if (f->kwh.known) {
        myr_answer_fact(answer, "electricity", "%.4g %s a kWh (%s)", f->kwh.value, f->currency,
                        myr_run_from_words(&f->kwh));
    } else {
        myr_answer_fact(answer, "electricity", "no price in %s is known: --kwh gives it",
                        f->currency);
    }
    if (f->years.known && f->machine_hour.known) {
        myr_answer_fact(answer, "bought for", "%.4g years (%s)", f->years.value,
                        myr_run_from_words(&f->years));
    }
}
