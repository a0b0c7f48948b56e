/*
 * What both answers about failures say of one case. A plain question and a planned run both put
 * these keys, in this order.
 */
#include "goodput/goodput.h"

const char *const cli_goodput_faults[3] = {"crash", "hang", "node-lost"};

void cli_goodput_put_renewal(struct myr_answer *answer, enum myr_practice practice,
                             struct myr_job_rate rate, const struct myr_renewal *renewal,
                             const struct myr_goodput *goodput, const struct myr_played *played)
{
    myr_answer_text(answer, "practice", myr_practice_name(practice));
    myr_answer_text(answer, "rate", rate.name);
    myr_answer_double(answer, "failures_per_1000_node_days", rate.per_1000_node_days, 6);
    myr_answer_double(answer, "mtbf_h", goodput->mean_time_between_s / 3600, 6);
    myr_answer_double(answer, "recovery_s", renewal->durable.recovery, 6);
    myr_answer_double(answer, "stall_s", renewal->durable.stall, 6);
    myr_answer_double(answer, "interval_s", renewal->interval, 6);
    myr_answer_double(answer, "goodput", goodput->goodput, 8);
    myr_answer_double(answer, "stalled", goodput->stalled, 8);
    myr_answer_double(answer, "recovering", goodput->recovering, 8);
    myr_answer_double(answer, "repeated", goodput->repeated, 8);
    cli_put_known(answer, "played", played->known, played->goodput, 8);
    cli_put_known(answer, "played_error", played->known, played->error, 8);
}
