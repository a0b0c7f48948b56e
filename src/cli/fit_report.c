#include <stdio.h>

#include "fit.h"

static int write_plot(const char *folder, const char *name, struct myr_buf *buf,
                      struct myr_err *err)
{
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        return myr_err_set(err, MYR_EINVAL, "--plots: the folder's name is too long");
    }
    int rc = myr_file_write(path, buf, err);
    myr_buf_clear(buf);
    return rc;
}

static int write_plots(const struct cli_fit_question *question, const struct myr_fit_query *query,
                       const struct myr_fit_answer *answer, struct myr_arena *arena,
                       struct myr_err *err)
{
    struct myr_growth *weak = MYR_ARENA_NEW(arena, struct myr_growth, 1);
    struct myr_growth *strong = MYR_ARENA_NEW(arena, struct myr_growth, 1);
    struct myr_fit_cost cost;
    struct myr_buf buf = {0};
    int rc = myr_make_dirs(question->plots, err);
    myr_fit_cost_of(&query->it, &answer->top[0].layout, &cost);
    myr_plot_step(&cost, &buf);
    rc = rc < 0 ? rc : write_plot(question->plots, "step.svg", &buf, err);
    if (answer->top[0].layout.pp > 1) {
        myr_plot_pipeline(&query->it, &answer->top[0].layout, &buf);
        rc = rc < 0 ? rc : write_plot(question->plots, "pipeline.svg", &buf, err);
    }
    myr_plot_memory(&query->it, answer->top, answer->top_count, &buf);
    rc = rc < 0 ? rc : write_plot(question->plots, "memory.svg", &buf, err);
    myr_fit_growth(query, 8, query->gpus, true, arena, weak);
    myr_fit_growth(query, 8, query->gpus, false, arena, strong);
    if (weak->count > 1 || strong->count > 1) { /* one point is no line */
        myr_plot_linearity(weak, strong, &buf);
        rc = rc < 0 ? rc : write_plot(question->plots, "linearity.svg", &buf, err);
    }
    myr_buf_done(&buf);
    return rc;
}

int cli_fit_report(const struct cli_fit_question *question, const struct myr_fit_query *query,
                   const struct myr_fit_answer *answer, double spread, struct myr_arena *arena,
                   struct myr_err *err)
{
    struct myr_fit_report report = {query, answer, spread};
    struct myr_buf buf = {0};
    int rc = MYR_OK;
    if (question->report) {
        myr_fit_report_html(&report, arena, &buf);
        rc = myr_file_write(question->report, &buf, err);
    }
    if (rc == MYR_OK && question->plots) {
        rc = write_plots(question, query, answer, arena, err);
    }
    myr_buf_done(&buf);
    return rc;
}
