/* goodput: what the verbs about failures share. */
#pragma once

#include "case/case.h"

/* The size of a job, and where its numbers come from. */
struct cli_failures {
    uint64_t gpus, gpus_per_node;
    const char *rate, *data; /* a number or a name; a file in place of the built-in rows */
    uint32_t fault;          /* enum myr_fault, as cli_goodput_faults has them */
};

#define CLI_FAILURES_GPUS 16384 /* Llama 3's job, where no other is asked about */

extern const char *const cli_goodput_faults[3];

#define CLI_FAILURES_SIZE_ROWS(holder, of)                                     \
    CLI_COUNT("gpus", holder, of.gpus, 1, 1 << 24,                             \
              "GPUs of the job; those of the design, or 16,384, when absent"), \
        CLI_COUNT("gpus-per-node", holder, of.gpus_per_node, 1, 1024, "GPUs of a node")
#define CLI_FAILURES_RATE_ROW(holder, of)                                                \
    CLI_TEXT("rate", "R", holder, of.rate,                                               \
             "failures per 1,000 node-days, or llama3, rsc-1, rsc-2 (nodes of 8 GPUs), " \
             "classes; llama3 and rsc-1 when absent")
#define CLI_FAILURES_FAULT_ROW(holder, of)                            \
    CLI_CHOICE("fault", "WORD", holder, of.fault, cli_goodput_faults, \
               "how failures show themselves, which decides when they are noticed")
#define CLI_FAILURES_DATA_ROW(holder, of)     \
    CLI_PATH("data", "FILE", holder, of.data, \
             "your own rows in place of those of catalog/recovery.yaml")

/* A whole training run, told. */
MYR_MUST_USE int cli_goodput_training(struct cli *cli, const struct myr_training_question *question,
                                      const char *report, struct myr_err *err);

/* What the run is charged by, each figure with where it comes from; the same for people. */
void cli_goodput_put_facility(struct myr_answer *answer, const struct myr_run_facility *facility);
void cli_goodput_show_facility(struct myr_answer *answer, const struct myr_run_facility *facility,
                               bool money);

/* Keys of a case that both answers have. */
void cli_goodput_put_renewal(struct myr_answer *answer, enum myr_practice practice,
                             struct myr_job_rate rate, const struct myr_renewal *renewal,
                             const struct myr_goodput *goodput, const struct myr_played *played);
/* "45.2 s", "12.3 min", "1.8 h", "3.2 days": for people. */
const char *cli_goodput_time(struct myr_arena *arena, double seconds);

extern const struct cli_verb cli_goodput_verb, cli_goodput_classes_verb, cli_goodput_parts_verb,
    cli_goodput_data_verb;
extern const struct myr_command cli_goodput_classes_command, cli_goodput_parts_command,
    cli_goodput_data_command;
