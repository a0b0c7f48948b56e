/* plot_files: the charts of a report as files of their own, written together or not at all. */
#include "myriad/fit/report.h"

/* The buffer is emptied for the next one. */
static int add_plot(struct myr_file_set *set, const char *name, struct myr_buf *buf,
                    struct myr_err *err)
{
    int rc = myr_file_set_add(set, name, buf, err);
    myr_buf_clear(buf);
    return rc;
}

static int add_plots(struct myr_file_set *set, const struct myr_fit_report *report,
                     struct myr_arena *arena, struct myr_err *err)
{
    const struct myr_fit_query *query = report->query;
    const struct myr_fit_answer *answer = report->answer;
    const struct myr_layout *best = &answer->top[0].layout;
    struct myr_fit_scaling *growth = MYR_ARENA_NEW(arena, struct myr_fit_scaling, 2);
    struct myr_fit_cost cost;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    MYR_ASSERT(answer->top_count > 0);
    myr_fit_cost_of(&query->it, best, &cost);
    myr_plot_step(&cost, MYR_CHART_WIDE, &buf);
    int rc = add_plot(set, "step.svg", &buf, err);
    if (rc == MYR_OK && best->pp > 1) {
        myr_plot_pipeline(&query->it, best, &buf);
        rc = add_plot(set, "pipeline.svg", &buf, err);
    }
    if (rc == MYR_OK) {
        myr_plot_memory(&query->it, answer->top, answer->top_count, MYR_CHART_WIDE, &buf);
        rc = add_plot(set, "memory.svg", &buf, err);
    }
    if (rc < 0) {
        return rc;
    }
    /* Weak and strong scaling. */
    myr_fit_growth(query, 8, query->gpus, true, arena, &growth[0]);
    myr_fit_growth(query, 8, query->gpus, false, arena, &growth[1]);
    if (growth[0].count <= 1 && growth[1].count <= 1) {
        return MYR_OK; /* one point is no line */
    }
    myr_plot_linearity(&growth[0], &growth[1], MYR_CHART_WIDE, &buf);
    return add_plot(set, "linearity.svg", &buf, err);
}

int myr_fit_report_plots(const struct myr_fit_report *report, const char *folder,
                         struct myr_arena *arena, struct myr_err *err)
{
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    MYR_TRY(myr_file_set_begin(&set, folder, err));
    MYR_TRY(add_plots(&set, report, arena, err));
    return myr_file_set_commit(&set, err);
}
