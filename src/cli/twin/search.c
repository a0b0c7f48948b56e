/*
 * twin search: many seeds until an invariant breaks, then the smallest case. Found once, a case is
 * made small by running variants of it: whoever mends the bug reads few events.
 */
#include <stdio.h>
#include <string.h>

#include "twin/twin.h"

/* Seeds are tried from 'seed' on, one by one; 'tries' is what making it small may cost. */
struct options {
    uint64_t seed, seeds, worlds, tries;
    const char *save;
};

static const struct options defaults = {.seed = 1, .seeds = 100, .tries = 300};

static const struct myr_option rows[] = {
    CLI_COUNT("seed", struct options, seed, 0, 0, "the first one"),
    CLI_COUNT("seeds", struct options, seeds, 1, 1000000000, "how many are tried in a row"),
    CLI_COUNT("worlds", struct options, worlds, 0, 1000000000,
              "other worlds after the seeds, towards places that were not reached"),
    CLI_COUNT("tries", struct options, tries, 0, 1000000,
              "runs as long as the found one, spent to make it small"),
    CLI_OUTPUT("save", "FILE", struct options, save, "write the smallest case there, for replay"),
};

const struct myr_command twin_search_command = {
    .name = "twin search",
    .operands = "SCENARIO",
    .summary = "run seeds until an invariant breaks, then find the smallest case that still does",
    .details = "Exit status 1: one was broken. The small case leaves out jobs, faults and kinds of "
               "trouble that it breaks without, and may be of another seed. After the seeds come "
               "other worlds, drawn towards places in the controller that no run has reached. CSV "
               "output says how much was searched.",
    .example = "myriad twin search examples/twin/crash-storm.yaml --seeds 50 --save case.yaml",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

static void step(void *context, uint64_t seeds_done)
{
    cli_progress_step(context, seeds_done);
}

/* Only what controls is run by the twin: a server's and an agent's marks are not its own. */
static bool is_ours(const struct myr_search_mark *mark)
{
    return strstr(mark->probe->file, "src/control/") || strstr(mark->probe->file, "src/sched/");
}

/* Places that are rarely reached: by how many runs each was. */
static void put_marks(struct myr_answer *answer, const struct myr_search_result *result)
{
    uint32_t ours = 0, never = 0, by_worlds = 0;
    char words[200];
    myr_answer_list(answer, "marks");
    for (size_t i = 0; i < result->marks.count; i++) {
        const struct myr_search_mark *mark = &result->marks.items[i];
        if (is_ours(mark)) {
            const char *file = strstr(mark->probe->file, "src/");
            myr_answer_object(answer, NULL);
            myr_answer_text(answer, "file", file);
            myr_answer_text(answer, "mark", mark->probe->what);
            myr_answer_u64(answer, "runs", mark->runs);
            myr_answer_end(answer);
            ours++;
            never += mark->runs == 0;
            by_worlds += mark->runs > 0 && mark->in_worlds;
        }
    }
    myr_answer_end(answer);
    if (result->found) {
        return; /* few runs were made, and they tell of something else */
    }
    snprintf(words, sizeof(words), "%u of %s, %u of them in other worlds alone", ours - never,
             MYR_COUNT(ours, "rare place"), by_worlds);
    myr_answer_fact(answer, "reached", "%s", words);
    for (size_t i = 0; i < result->marks.count; i++) {
        const struct myr_search_mark *mark = &result->marks.items[i];
        if (is_ours(mark) && mark->runs == 0) {
            myr_answer_fact(answer, "never", "%s: %s", strstr(mark->probe->file, "src/"),
                            mark->probe->what);
        }
    }
}

/* 'searched' is there in any case, 'cases' has one item where something was found. */
static void fill(struct cli *cli, const struct myr_scenario *scenario,
                 const struct myr_search_result *result)
{
    struct myr_answer *answer = &cli->answer;
    char events[32];
    myr_answer_text(answer, "scenario", scenario->name);
    struct myr_value *list = myr_answer_list(answer, "searched");
    myr_answer_object(answer, NULL);
    myr_answer_u64(answer, "seeds", result->seeds);
    myr_answer_u64(answer, "worlds", result->worlds);
    myr_answer_u64(answer, "events", result->events);
    myr_answer_bool(answer, "found", result->found);
    myr_answer_end(answer);
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_list(answer, "cases");
    if (result->found) {
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "found_seed", result->found_seed);
        myr_answer_u64(answer, "tries", result->tries);
        myr_answer_u64(answer, "events_before", result->events_before);
        myr_answer_u64(answer, "jobs_left", result->jobs_left);
        (void)twin_put_result(answer, &result->broken);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    put_marks(answer, result);
    if (!result->found) {
        myr_answer_fact(answer, "searched", "%s, %s: every invariant held",
                        MYR_COUNT(result->seeds, "seed"), MYR_COUNT(result->events, "event"));
        return;
    }
    myr_answer_para(answer, "Seed %llu breaks an invariant.",
                    (unsigned long long)result->found_seed);
    myr_answer_fact(answer, "made small", "%s, %s of %s, at seed %llu, in %s",
                    MYR_COUNT(result->jobs_left, "job"), MYR_COUNT(result->broken.events, "event"),
                    myr_u64_grouped(result->events_before, events),
                    (unsigned long long)result->broken.seed, MYR_COUNT(result->tries, "run"));
    twin_show_result(answer, &result->broken);
    cli->no = true;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_scenario_done) struct myr_scenario scenario = {};
    MYR_CLEANUP(myr_search_result_done) struct myr_search_result result = {};
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress = {};
    /* A variable of the tests: nobody is to take a planted bug for one of the controller's. */
    enum myr_planted planted = MYR_PLANTED_NONE;
    MYR_TRY(myr_twin_planted(&planted, err));
    if (planted != MYR_PLANTED_NONE) {
        cli_warn("MYRIAD_TEST_PLANTED is set: a bug (number %d) is planted in the controller, for "
                 "tests; what is found now tells nothing of yours",
                 planted);
    }
    int rc = myr_scenario_read(&scenario, &cli->arena, cli->operands.items[0], err);
    if (rc < 0) {
        return rc;
    }
    struct myr_search_options how = {.first_seed = options->seed,
                                     .seeds = options->seeds,
                                     .worlds = options->worlds,
                                     .tries_most = (uint32_t)options->tries,
                                     .planted = planted,
                                     .progress = step,
                                     .context = &progress};
    cli_progress(&progress, "seeds", options->seeds + options->worlds);
    rc = myr_twin_search(&scenario, &how, &result, err);
    myr_progress_done(&progress);
    if (rc == MYR_OK && result.found && options->save) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        myr_twin_case_write(&scenario, &result.broken, &text);
        rc = myr_file_write(options->save, &text, err);
    }
    if (rc == MYR_OK) {
        fill(cli, &scenario, &result);
    }
    return rc;
}

const struct cli_verb cli_twin_search_verb = {.row = &twin_search_command, .run = run};
