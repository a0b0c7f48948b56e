/*
 * failures: how often a job is struck, and what is left of its time. A rate is failures per 1,000
 * node-days of the nodes at hand, whoever it comes from.
 */
#include "myriad/fit/failures.h"
#include "myriad/text/kind.h"

#define DATA_BYTES_MAX ((size_t)4 << 20)

/* Shipped rows, and a file's over them; 'path' may be NULL. */
int myr_recovery_read(struct myr_recovery *recovery, struct myr_arena *arena, const char *path,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    int rc = myr_recovery_init(recovery, arena, err);
    if (rc < 0 || !path) {
        return rc;
    }
    MYR_TRY(
        myr_kind_read(path, DATA_BYTES_MAX, MYR_KINDS_DOC(RECOVERY), "recovery data", &file, err));
    return myr_recovery_add(recovery, arena, myr_file_name(path),
                            (struct myr_str){file.data, file.len}, err);
}

const char *myr_practice_name(enum myr_practice practice)
{
    return practice == MYR_PRACTICE_COMMON ? "common" : "best";
}

/* Rates */

/* Parts are counted by GPU, node and job: their sum is turned into the unit of the other rates. */
static double sum_per_1000_node_days(const struct myr_recovery *recovery, double gpus, double nodes)
{
    struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
    uint32_t count = myr_failure_classes(recovery, gpus, nodes, classes);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += classes[i].per_day;
    }
    return sum / nodes * 1000;
}

/* Bounds that no cluster reaches, so that later sums stay finite. */
static int read_rate(const char *word, double *ret, struct myr_err *err)
{
    const double low = 1e-6, high = 1e6;
    if (myr_str_to_double(myr_str_from(word), ret) && *ret >= low && *ret <= high) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "--rate is '%.40s', a number from %g to %g is expected",
                         word, low, high);
    myr_err_hint(err, "failures per 1,000 node-days, or one of llama3, rsc-1, rsc-2, classes");
    return rc;
}

/* A name, "classes" or a number; names are of nodes with 8 GPUs and follow the GPUs of a node. */
static int find_rates(const struct myr_recovery *recovery, const char *word, double gpus,
                      double gpus_per_node, struct myr_job_rate *ret, uint32_t *ret_count,
                      struct myr_err *err)
{
    /* One row holds all three published rates: Llama 3's between those of RSC-2 and RSC-1. */
    const struct myr_recovery_row *row = myr_recovery_find(recovery, "rate.job_stop_all_node");
    if (!row) {
        return myr_err_set(err, MYR_ENOENT, "the recovery data lack 'rate.job_stop_all_node'");
    }
    const double size = gpus_per_node / 8; /* published of nodes with 8 GPUs */
    const struct myr_job_rate published[] = {
        {"llama3", row->typical * size}, {"rsc-1", row->high * size}, {"rsc-2", row->low * size}};
    /* Nothing asked for: a usual rate and a high one, so that answers span them. */
    if (!word) {
        ret[0] = published[0];
        ret[1] = published[1];
        *ret_count = 2;
        return MYR_OK;
    }
    *ret_count = 1;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(published); i++) {
        if (strcmp(word, published[i].name) == 0) {
            ret[0] = published[i];
            return MYR_OK;
        }
    }
    if (strcmp(word, "classes") == 0) {
        ret[0] = (struct myr_job_rate){
            "classes", sum_per_1000_node_days(recovery, gpus, gpus / gpus_per_node)};
        return MYR_OK;
    }
    ret[0].name = "given";
    return read_rate(word, &ret[0].per_1000_node_days, err);
}

int myr_job_rates(const struct myr_recovery *recovery, const char *word, double gpus,
                  double gpus_per_node, struct myr_job_rate ret[MYR_JOB_RATES_MAX],
                  uint32_t *ret_count, struct myr_err *err)
{
    MYR_ASSERT(gpus > 0 && gpus_per_node > 0);
    int rc = find_rates(recovery, word, gpus, gpus_per_node, ret, ret_count, err);
    if (rc < 0) {
        return rc;
    }
    for (uint32_t i = 0; i < *ret_count; i++) {
        if (!(ret[i].per_1000_node_days > 0)) { /* the user's own data may say so */
            rc = myr_err_set(err, MYR_EINVAL, "the recovery data have no failures (rate '%s' is 0)",
                             ret[i].name);
            myr_err_hint(err, "--rate R gives failures per 1,000 node-days");
            return rc;
        }
    }
    return MYR_OK;
}

/* What kinds of parts the failures are of, a day and as shares of all. */
uint32_t myr_failure_shares(const struct myr_recovery *recovery, double gpus, double gpus_per_node,
                            double per_1000_node_days,
                            struct myr_failure_share ret[MYR_FAILURE_CLASSES_MAX])
{
    struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
    double nodes = gpus / gpus_per_node, sum = 0;
    uint32_t count = myr_failure_classes(recovery, gpus, nodes, classes);
    for (uint32_t i = 0; i < count; i++) {
        sum += classes[i].per_day;
    }
    /*
     * A rate of the job's own is dealt to the parts in their proportions; 0: as the data have it.
     */
    double whole = sum / nodes * 1000;
    double scale = per_1000_node_days > 0 ? per_1000_node_days / whole : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_recovery_row *row = myr_recovery_find(recovery, classes[i].key);
        MYR_ASSERT(row);
        ret[i] =
            (struct myr_failure_share){row, classes[i].per_day * scale, classes[i].per_day / sum};
    }
    return count;
}

/* Rows */

struct myr_played myr_failure_play(const struct myr_renewal *renewal, uint64_t failures)
{
    const double attempts_most = 5; /* recoveries of n mean times take exp(n) attempts */
    double rate = renewal->quick.rate + renewal->durable.rate;
    /* Attempts grow exponentially with the recovery: beyond the limit playing would not end. */
    double longest = renewal->quick.recovery > renewal->durable.recovery
                         ? renewal->quick.recovery
                         : renewal->durable.recovery;
    struct myr_played played = {.known = failures > 0 && rate * longest <= attempts_most};
    if (played.known) {
        played.goodput = myr_goodput_play(renewal, failures, 1, &played.error);
    }
    return played;
}

/* Goodput of one practice at one rate, the interval the best unless it is given. */
int myr_failure_row(const struct myr_failure_question *question,
                    const struct myr_recovery *recovery, enum myr_practice practice,
                    struct myr_job_rate rate, struct myr_failure_row *ret, struct myr_err *err)
{
    const char *key = practice == MYR_PRACTICE_COMMON ? "a.ckpt_stall" : "b.ckpt_stall";
    const struct myr_recovery_row *stall = myr_recovery_find(recovery, key);
    const struct myr_failure_times *times = &question->times;
    double seconds, nodes = question->gpus / question->gpus_per_node;
    int rc =
        myr_recovery_seconds(recovery, practice, question->fault, question->gpus, &seconds, err);
    if (rc < 0) {
        return rc;
    }
    if (!stall) {
        return myr_err_set(err, MYR_ENOENT, "the recovery data lack '%s'", key);
    }
    /*
     * One tier: every failure goes back to the durable copy. What the question says takes the place
     * of the practice's times.
     */
    struct myr_failure_row row = {.practice = practice, .rate = rate};
    row.renewal = (struct myr_renewal){
        .durable = {.rate = rate.per_1000_node_days / 1000 / 86400 * nodes,
                    .recovery = times->has_recovery ? times->recovery_s : seconds,
                    .stall = times->has_stall ? times->stall_s : stall->typical},
        .per_period = 1};
    struct myr_limits limits = {.interval = times->interval_s};
    row.renewal = myr_goodput_optimum_within(&row.renewal, &limits);
    row.goodput = myr_goodput_of(&row.renewal);
    row.played = myr_failure_play(&row.renewal, question->play);
    if (question->target > 0) {
        row.needed_s = myr_goodput_recovery_for(&row.renewal, &limits, question->target);
    }
    *ret = row;
    return MYR_OK;
}
