/* times: keys of the recovery data, for the common practice and for the best one. */
#include "times.h"

/* NULL: takes no time under that practice. */
static const char *const keys[TIME_PARTS][2] = {
    [TIME_DETECT_CRASH] = {"a.detect.crash", "b.detect.crash"},
    [TIME_DETECT_HANG] = {"a.detect.hang", "b.detect.hang"},
    [TIME_DETECT_LOST] = {"a.detect.node_lost", "b.detect.node_lost"},
    [TIME_DIAGNOSE] = {"a.diagnose", "b.diagnose"},
    [TIME_REPLACE] = {"a.replace_node", "b.replace_node"},
    [TIME_PULL] = {"a.image_pull", NULL},
    [TIME_IMPORT] = {"a.process_import", "b.process_import"},
    [TIME_CONTEXT] = {"a.cuda_context", NULL},
    [TIME_RENDEZVOUS] = {"a.rendezvous", "b.rendezvous"},
    [TIME_COMMS] = {"a.nccl_init", "b.comm_reform"},
    [TIME_STATE] = {"a.state_load", "b.state_restore"},
    [TIME_LOADER] = {"a.dataloader", "b.dataloader"},
    [TIME_FIRST_STEP] = {"a.first_step", "b.first_step"},
    [TIME_TEARDOWN] = {NULL, "b.comm_teardown"},
    [TIME_CHECK] = {"time.validate.quick", "time.validate.quick"},
    [TIME_REBOOT] = {"time.node_reboot", "time.node_reboot"},
    [TIME_STACK] = {"time.gpu_stack_after_boot", "time.gpu_stack_after_boot"},
    [TIME_RETURN] = {"time.validate.return", "time.validate.return"},
    [TIME_PART] = {"repair.gpu_rma", "repair.gpu_with_onsite_spare"},
};

/* Sums and products of these stay exact: rounded once, here. */
static int64_t to_ms(double value, const char *unit)
{
    double ms = value * (unit[0] == 'h' ? 3600e3 : 1e3);
    /* A limit far beyond all data, so that what is computed from it cannot overflow. */
    MYR_ASSERT(ms >= 0);
    return ms < 1e12 ? (int64_t)(ms + 0.5) : INT64_C(1000000000000);
}

/* As whole milliseconds, and how it grows with the gang. */
static void read_row(const struct myr_recovery_row *in, struct time_row *ret)
{
    ret->at_one = (struct draw_time){to_ms(in->low, in->unit), to_ms(in->typical, in->unit),
                                     to_ms(in->high, in->unit)};
    if (in->scaling != MYR_SCALING_CONST) {
        /* Scaled from the size at which it was measured, which need be no whole number: in 1/65536,
         * and never 0, since it is divided by. */
        int64_t log2_gpus = draw_log2((uint64_t)(in->at_gpus * DRAW_ONE)) - 16 * DRAW_ONE;
        ret->log2_gpus = log2_gpus > 0 ? log2_gpus : 1;
        ret->by_log = in->scaling == MYR_SCALING_LOG2;
        ret->power =
            ret->by_log ? 0 : (int64_t)(in->power * DRAW_ONE + (in->power < 0 ? -0.5 : 0.5));
    }
}

int times_init(struct times *times, const struct myr_recovery *recovery, enum myr_practice practice,
               bool drawn, struct myr_err *err)
{
    *times = (struct times){.drawn = drawn};
    for (uint32_t i = 0; i < TIME_PARTS; i++) {
        /* A part without a key takes no time; one whose key is not in the data is an error. */
        const char *key = keys[i][practice == MYR_PRACTICE_COMMON ? 0 : 1];
        const struct myr_recovery_row *row = key ? myr_recovery_find(recovery, key) : NULL;
        if (key && !row) {
            return myr_err_set(err, MYR_ENOENT, "the recovery data lack '%s'", key);
        }
        if (row) {
            read_row(row, &times->rows[i]);
        }
    }
    return MYR_OK;
}

/* From the size that the data are of to this one. */
static int64_t scale(int64_t value_ms, const struct time_row *row, uint32_t gpus)
{
    MYR_ASSERT(value_ms >= 0);
    MYR_ASSERT(!row->by_log || row->log2_gpus > 0);
    /* Where gangs do not matter the caller passes 1. */
    int64_t log2_gpus = draw_log2(gpus > 0 ? gpus : 1);
    if (row->by_log) {
        return value_ms * log2_gpus / row->log2_gpus;
    }
    if (row->power != 0) {
        /* In 1/65536: factor = (gpus / at_gpus) ^ power, by logarithms. */
        uint64_t factor = draw_exp2(row->power * (log2_gpus - row->log2_gpus) >> 16);
        return (int64_t)((uint64_t)value_ms * factor >> 16);
    }
    return value_ms;
}

int64_t times_typical_ms(const struct times *times, enum time_part part, uint32_t gpus)
{
    MYR_ASSERT((uint32_t)part < TIME_PARTS);
    return scale(times->rows[part].at_one.typical_ms, &times->rows[part], gpus);
}

int64_t times_draw_ms(const struct times *times, enum time_part part, uint32_t gpus,
                      struct myr_rng *rng)
{
    MYR_ASSERT((uint32_t)part < TIME_PARTS);
    const struct time_row *row = &times->rows[part];
    /* Drawn at the size of the data, then scaled: the spread grows with it. */
    int64_t value_ms = times->drawn ? draw_time_ms(rng, &row->at_one) : row->at_one.typical_ms;
    return scale(value_ms, row, gpus);
}

int64_t times_draw_node_ms(const struct times *times, enum time_part part, struct myr_rng *rng)
{
    return times_draw_ms(times, part, 1, rng);
}
