/*
 * report: the answers as plots and as one HTML page that needs nothing else.
 *
 * Plots are SVG documents, one call each. The same answer gives the same bytes.
 */
#pragma once

#include "myriad/fit/campaign.h"
#include "myriad/fit/facility.h"
#include "myriad/fit/search.h"
#include "myriad/text/chart.h"

#define MYR_GROWTH_MAX 24

/* One number of GPUs: the best layout there. */
struct myr_growth_point {
    uint32_t gpus, batch;
    struct myr_layout layout;
    struct myr_fit_cost cost;
    double linearity; /* throughput a GPU against the best point */
};

struct myr_fit_scaling {
    struct myr_growth_point points[MYR_GROWTH_MAX];
    uint32_t count;
};

/*
 * Doubling from 'least' to 'most' GPUs, where a layout exists: the batch of 'query' belongs to its
 * number of GPUs; 'weak' keeps it in proportion, otherwise it is fixed.
 */
void myr_fit_growth(const struct myr_fit_query *query, uint32_t least, uint32_t most, bool weak,
                    struct myr_arena *arena, struct myr_fit_scaling *ret);

/* What a report tells times of a step in: 'scale' of it are a second, with so many digits. */
struct myr_plot_unit {
    const char *name;
    double scale;
    uint32_t digits;
};
/* By the step as a whole, so that its parts can be compared at a glance. */
const struct myr_plot_unit *myr_plot_unit_of(double step_s);

/* The step's terms one after the other. */
void myr_plot_step(const struct myr_fit_cost *cost, enum myr_chart_form form, struct myr_buf *buf);
/* What each stage of its pipeline does when; of many micro-batches the first and the last. */
void myr_plot_pipeline(const struct myr_fit_case *it, const struct myr_layout *layout,
                       struct myr_buf *buf);
/* Memory of the fullest rank of each layout, by term, against the device's. */
void myr_plot_memory(const struct myr_fit_case *it, const struct myr_fit_found *layouts,
                     uint32_t count, enum myr_chart_form form, struct myr_buf *buf);
void myr_plot_linearity(const struct myr_fit_scaling *weak, const struct myr_fit_scaling *strong,
                        enum myr_chart_form form, struct myr_buf *buf);

/* Time against cost; the fewest of either for what the other is. */
struct myr_choice {
    double time, cost;
    const char *name;
};

void myr_plot_pareto(const struct myr_choice *choices, uint32_t count, const char *time_name,
                     const char *cost_name, enum myr_chart_form form, struct myr_buf *buf);

/* Goodput over the interval of the quickest tier, the rest of each renewal as it is. */
struct myr_goodput_curve {
    const char *name;
    struct myr_renewal renewal;
};

void myr_plot_goodput(const struct myr_goodput_curve *curves, uint32_t count,
                      enum myr_chart_form form, struct myr_buf *buf);

/* How the best layout is started: whoever knows trainers writes it. */
struct myr_report_text {
    const char *title, *text;
};

struct myr_fit_report {
    const struct myr_fit_query *query;
    const struct myr_fit_answer *answer;
    double spread; /* of the 90 % interval */
    const struct myr_report_text *launch;
    uint32_t launch_count;
};

/* Traces the scaling itself; 'arena' holds what that needs. */
void myr_fit_report_html(const struct myr_fit_report *report, struct myr_arena *arena,
                         struct myr_buf *buf);

/* The plots of that page as files of a folder, which is made; they appear with the set's others. */
MYR_MUST_USE int myr_fit_report_plots(const struct myr_fit_report *report, struct myr_file_set *set,
                                      const char *folder, struct myr_arena *arena,
                                      struct myr_err *err);

struct myr_campaign_case {
    const char *practice, *rate;
    double rate_per_1000_node_days;
    const struct myr_campaign *campaign;
    double spread; /* of the layout's step */
};

struct myr_campaign_report {
    const struct myr_campaign_question *question;
    const struct myr_fit_query *query;
    const struct myr_campaign_case *cases;
    uint32_t count;
    const struct myr_run_facility *facility;
    uint32_t gpus_most; /* of the design; without one nothing bounds them */
};

/* Other numbers of GPUs are planned for the Pareto plot; it needs tokens. */
MYR_MUST_USE int myr_campaign_report_html(const struct myr_campaign_report *report,
                                          struct myr_arena *arena, struct myr_buf *buf,
                                          struct myr_err *err);
