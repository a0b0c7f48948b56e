#include "rates.h"

/* How a class shows where nothing else is said, and whether a new process may not be enough. */
static const struct {
    const char *key;
    enum myr_fault shows;
    bool breaks; /* else a new process is enough */
} class_rows[] = {
    {"rate.gpu_core", MYR_FAULT_CRASH, true},
    {"rate.hbm", MYR_FAULT_CRASH, true},
    {"rate.gpu_sram", MYR_FAULT_CRASH, true},
    {"rate.gpu_gsp", MYR_FAULT_CRASH, true},
    {"rate.gpu_thermal", MYR_FAULT_CRASH, true},
    {"rate.sdc_found", MYR_FAULT_CRASH, true},
    {"rate.switch_or_cable", MYR_FAULT_HANG, true},
    {"rate.unknown_watchdog", MYR_FAULT_HANG, false},
    {"rate.nic", MYR_FAULT_HANG, true},
    {"rate.host_cpu", MYR_FAULT_NODE_LOST, true},
    {"rate.host_dram", MYR_FAULT_NODE_LOST, true},
    {"rate.host_board_chassis", MYR_FAULT_NODE_LOST, true},
    {"rate.psu_visible", MYR_FAULT_NODE_LOST, true},
    {"rate.ssd", MYR_FAULT_CRASH, true},
    {"rate.host_maintenance", MYR_FAULT_NODE_LOST, true},
    {"rate.software", MYR_FAULT_CRASH, false},
};

/*
 * Rates of the classes, each for one node; their sum is the rate asked for. Software stops jobs and
 * not GPUs: its share is that of a job of 16,384 GPUs, in which it was counted.
 */
int rates_read(struct myr_scenario *s, const struct myr_doc *node, const char *word, uint32_t shows,
               struct myr_err *err)
{
    enum { COUNTED_GPUS = 16384 };
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    struct myr_failure_share shares[MYR_FAILURE_CLASSES_MAX];
    uint32_t count;
    struct myr_err why = {};
    if (myr_job_rates(s->recovery, word, COUNTED_GPUS, s->shape.gpus_per_node, rates, &count,
                      &why) < 0) {
        return myr_doc_error(
            err, node, MYR_EINVAL,
            "'rate' is '%.40s', a number from 1e-06 to 1e+06 of failures per 1,000 "
            "node-days, or one of llama3, rsc-1, rsc-2, classes, none is expected",
            word);
    }
    /* Shares of the classes in all failures, whatever their number. */
    count = myr_failure_shares(s->recovery, COUNTED_GPUS, s->shape.gpus_per_node, 0, shares);
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = 0; k < MYR_ARRAY_COUNT(class_rows); k++) {
            if (strcmp(class_rows[k].key, shares[i].row->key) == 0) {
                /* per 1,000 node-days to per 10^12 node-hours */
                double rate = rates[0].per_1000_node_days * shares[i].share / 24 * 1e9;
                s->classes[s->class_count++] = (struct myr_scenario_class){
                    .key = class_rows[k].key,
                    .per_1e12_node_h = (uint64_t)(rate + 0.5),
                    /* 'shows' is counted from 1; 0 is by class. */
                    .shows = shows ? (enum myr_fault)(shows - 1) : class_rows[k].shows,
                    .breaks = class_rows[k].breaks,
                };
            }
        }
    }
    return MYR_OK;
}
