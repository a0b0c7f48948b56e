/*
 * twin replay: a saved run, once more. What a run decided is in its hash: the same hash is the same
 * run.
 */
#include <stdio.h>

#include "twin/twin.h"

static const struct options {
    char none;
} defaults;

const struct myr_command twin_replay_command = {
    .name = "twin replay",
    .operands = "CASE",
    .summary = "run a saved case again, and say whether the same came of it",
    .details =
        "A case is what twin run --save or twin search --save has written. Exit status 1: "
        "another hash came of it, or an invariant was broken. CSV output lists what happened.",
    .example = "myriad twin replay case.yaml",
    .defaults = &defaults,
    .values_bytes = sizeof(defaults),
    .common = &cli_common_table,
    .operand_min = 1,
    .operand_max = 1,
};

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_twin_case_done) struct myr_twin_case saved = {};
    MYR_CLEANUP(myr_twin_result_done) struct myr_twin_result result = {};
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress = {};
    int rc = myr_twin_case_read(&saved, &cli->arena, cli->operands.items[0], err);
    if (rc < 0) {
        return rc;
    }
    cli_progress(&progress, "simulated seconds", (uint64_t)(saved.scenario.length_ms / 1000));
    rc = myr_twin_replay(&saved, twin_progress, &progress, &result, err);
    myr_progress_done(&progress);
    if (rc < 0) {
        return rc;
    }
    char hash[20];
    bool same = result.hash == saved.hash;
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)saved.hash);
    myr_answer_text(&cli->answer, "scenario", saved.scenario.name);
    myr_answer_rows(&cli->answer, twin_put_result(&cli->answer, &result));
    myr_answer_text(&cli->answer, "hash_saved", hash);
    myr_answer_bool(&cli->answer, "same", same);
    twin_show_result(&cli->answer, &result);
    myr_answer_fact(&cli->answer, "saved", "%s, %s", hash, same ? "the same" : "NOT the same");
    /* Another hash is a "no" even where nothing broke: the code decides otherwise than it did. */
    cli->no = !same || result.violations > 0;
    return MYR_OK;
}

const struct cli_verb cli_twin_replay_verb = {.row = &twin_replay_command, .run = run};
