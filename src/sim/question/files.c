#include <stdio.h>

#include "myriad/sim/question.h"
#include "myriad/sim/report.h"

/* What a reader of the page wants to know before the pictures. */

enum { FACTS_MAX = 11 }; /* all that list_facts() has */

struct facts {
    struct myr_arena *arena;
    struct myr_report_fact rows[FACTS_MAX]; /* names and values, in the order of the page */
    uint32_t count;
};

/* Texts are not copied: names are literals, values lie in the arena. */
static void add_fact(struct facts *facts, const char *name, const char *value)
{
    MYR_ASSERT(facts->count < FACTS_MAX);
    facts->rows[facts->count++] = (struct myr_report_fact){name, value};
}

/* The first of equals: the same run names the same link. */
static void add_fullest(const struct myr_sim_answer *answer, struct facts *facts)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    uint32_t hottest = MYR_NONE;
    double most = 0;
    for (uint32_t c = 0; c < answer->fabric.design->link_count * 2; c++) {
        double load = myr_report_load(answer->sim, c);
        if (load > most) {
            most = load;
            hottest = c;
        }
    }
    if (hottest != MYR_NONE) {
        myr_report_channel_name(answer->sim, hottest, &name);
        add_fact(facts, "fullest link",
                 myr_arena_printf(facts->arena, "%.1f %%, %s", most * 100, name.data));
    }
}

/* Settings that are not as usual: a page must say what it is a picture of. */
static void add_settings(const struct myr_sim_options *engine, struct facts *facts)
{
    struct myr_arena *arena = facts->arena;
    add_fact(facts, "load balance",
             myr_arena_printf(arena, "%s, seed %llu%s", myr_policy_names[engine->balance.policy],
                              (unsigned long long)engine->balance.seed,
                              engine->balance.polarised ? ", polarised" : ""));
    if (engine->queue_pairs > 1) {
        add_fact(facts, "queue pairs", myr_arena_printf(arena, "%u", engine->queue_pairs));
    }
    if (engine->efficiency_permille && engine->efficiency_permille != 1000) {
        add_fact(
            facts, "efficiency",
            myr_arena_printf(arena, "%.1f %% of line rate", engine->efficiency_permille / 10.0));
    }
    if (engine->sharing_loss_permille) {
        add_fact(facts, "sharing loss",
                 myr_arena_printf(arena, "up to %.1f %%", engine->sharing_loss_permille / 10.0));
    }
    if (engine->pause_permille) {
        add_fact(facts, "pause",
                 myr_arena_printf(arena, "victims lose %.1f %% of their lead",
                                  engine->pause_permille / 10.0));
    }
    if (engine->message_ps) {
        add_fact(facts, "message overhead", myr_times_text(arena, engine->message_ps));
    }
}

const char *myr_sim_switches(struct myr_arena *arena, const struct myr_network *net)
{
    if (!net->access) {
        return myr_arena_printf(arena, "%u leaf, %u spine, %u core", net->leaf, net->spine,
                                net->core);
    }
    const char *core = net->core ? myr_arena_printf(arena, ", %u core", net->core) : "";
    return myr_arena_printf(arena, "%u access, %u aggregation%s", net->access, net->aggregation,
                            core);
}

/* From what stays the same between runs to what came out of this one. */
static void list_facts(const struct myr_sim_answer *answer, struct facts *ret)
{
    struct myr_arena *arena = ret->arena;
    char number[32];
    add_fact(
        ret, "fabric",
        myr_arena_printf(arena, "%s, %s GPUs",
                         myr_design_str(answer->fabric.design, answer->fabric.design->head->name),
                         myr_u64_grouped(answer->fabric.design->head->gpus, number)));
    add_fact(ret, "network",
             myr_arena_printf(arena, "%s: %s switches", myr_net_names[answer->graph.net_id],
                              myr_sim_switches(arena, answer->graph.net)));
    add_settings(&answer->engine, ret);
    add_fact(ret, "flows",
             myr_arena_printf(arena, "%s", myr_u64_grouped(answer->result.flows, number)));
    add_fact(ret, "simulated time", myr_times_text(arena, answer->result.end));
    add_fullest(answer, ret);
}

/* Lists go to the file piece by piece: they may be far larger than memory should hold. */
typedef void write_rows(const struct myr_report *report, struct myr_outfile *file);

/* The file's name is taken together with the others', when all of them are written. */
static int add_rows(struct myr_file_set *set, const struct myr_report *report, write_rows *write,
                    const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_outfile_abandon) struct myr_outfile file = {};
    if (!path) {
        return MYR_OK;
    }
    /* Under a name of its own until the whole set is there. */
    MYR_TRY(myr_file_set_open(set, path, &file, err));
    write(report, &file);
    return myr_outfile_commit(&file, err);
}

/* All of them or none: names are taken only when every file is whole. */
static int write_set(const struct myr_report *report, const struct myr_sim_files *files,
                     struct myr_err *err)
{
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    /* One buffer for both: a page of ten thousand GPUs is a few hundred kilobytes. */
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    if (files->report) {
        myr_report_html(report, &buf);
        MYR_TRY(myr_file_set_add(&set, files->report, &buf, err));
        myr_buf_clear(&buf);
    }
    if (files->heatmap) {
        myr_report_heatmap(report, &buf);
        MYR_TRY(myr_file_set_add(&set, files->heatmap, &buf, err));
    }
    MYR_TRY(add_rows(&set, report, myr_report_fct, files->fct, err));
    MYR_TRY(add_rows(&set, report, myr_report_flows, files->flows, err));
    MYR_TRY(add_rows(&set, report, myr_report_paths, files->paths, err));
    MYR_TRY(add_rows(&set, report, myr_report_trace, files->trace, err));
    MYR_TRY(add_rows(&set, report, myr_report_series, files->series, err));
    return myr_file_set_commit(&set, err);
}

int myr_sim_files_write(const struct myr_sim_answer *answer, const struct myr_sim_files *files,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    struct facts facts = {.arena = &scratch};
    /* Without a file to write, nothing of the run is looked at again. */
    bool rows = files->fct || files->flows || files->paths || files->trace || files->series;
    if (!files->report && !files->heatmap && !rows) {
        return MYR_OK;
    }
    /* The jobs are only a view of the answer: names and ranges of tasks. */
    myr_arena_init(&scratch);
    struct myr_report_job *jobs = MYR_ARENA_NEW(&scratch, struct myr_report_job, answer->job_count);
    for (uint32_t i = 0; i < answer->job_count; i++) {
        const struct myr_sim_load *load = &answer->jobs[i].load;
        jobs[i] = (struct myr_report_job){load->words, load->first_task, load->task_count};
    }
    list_facts(answer, &facts);
    struct myr_report report = {.sim = answer->sim,
                                .title = "Simulation",
                                .facts = facts.rows,
                                .fact_count = facts.count,
                                .jobs = jobs,
                                .job_count = answer->job_count};
    return write_set(&report, files, err);
}
