/* plot_files: the charts of a report as files of their own, in the set of whoever asks. */
#include "myriad/fit/report.h"

/* Where the charts go. */
struct folder {
    struct myr_file_set *set;
    const char *path;
};

/* The buffer is emptied for the next one. */
static int add_plot(const struct folder *to, const char *name, struct myr_buf *buf,
                    struct myr_err *err)
{
    int rc = myr_file_set_add_in(to->set, to->path, name, buf, err);
    myr_buf_clear(buf);
    return rc;
}

int myr_fit_report_plots(const struct myr_fit_report *report, struct myr_file_set *set,
                         const char *folder, struct myr_arena *arena, struct myr_err *err)
{
    const struct folder to = {set, folder};
    const struct myr_fit_query *query = report->query;
    const struct myr_fit_answer *answer = report->answer;
    const struct myr_layout *best = &answer->top[0].layout;
    struct myr_fit_scaling *growth = MYR_ARENA_NEW(arena, struct myr_fit_scaling, 2);
    struct myr_fit_cost cost;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    MYR_ASSERT(answer->top_count > 0);
    myr_fit_cost_of(&query->it, best, &cost);
    myr_plot_step(&cost, MYR_CHART_WIDE, &buf);
    MYR_TRY(add_plot(&to, "step.svg", &buf, err));
    if (best->pp > 1) {
        myr_plot_pipeline(&query->it, best, &buf);
        MYR_TRY(add_plot(&to, "pipeline.svg", &buf, err));
    }
    myr_plot_memory(&query->it, answer->top, answer->top_count, MYR_CHART_WIDE, &buf);
    MYR_TRY(add_plot(&to, "memory.svg", &buf, err));
    /* Weak and strong scaling. */
    myr_fit_growth(query, 8, query->gpus, true, arena, &growth[0]);
    myr_fit_growth(query, 8, query->gpus, false, arena, &growth[1]);
    if (growth[0].count <= 1 && growth[1].count <= 1) {
        return MYR_OK; /* one point is no line */
    }
    myr_plot_linearity(&growth[0], &growth[1], MYR_CHART_WIDE, &buf);
    return add_plot(&to, "linearity.svg", &buf, err);
}
