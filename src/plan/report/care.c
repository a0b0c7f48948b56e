#include <stdio.h>

#include "report/report.h"

/*
 * What comes behind the purchase: delivery and who does what, acceptance, maintenance, spares, and
 * how a part is replaced. The words are those of catalog/proposal; pieces and spares are figures of
 * the plan.
 */

/* A row for each kind of part that the plan has. */
static void put_spares(const struct report *report)
{
    static const char *const heads[] = {"spare part", ">pieces", ">failures a year", ">spares"};
    static const struct {
        const char *path, *name;
    } rows[] = {{"gpus", "GPU"},
                {"cards", "network card"},
                {"modules", "optical module"},
                {"switches", "switch"},
                {"power_supplies", "power supply"},
                {"disks", "disk of a storage server"}};
    static const char *const columns[] = {"pieces", "failures_per_year", "spares"};
    const struct myr_figure *weeks = myr_design_figure(report->design, "spares.restock_weeks");
    report_subheading(report, "Spare parts");
    report_para(report, "For %s weeks until new ones come, at published rates of failure.",
                report_counted(report, (uint64_t)weeks->value, "spares.restock_weeks"));
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char path[64];
        snprintf(path, sizeof(path), "spares.%s.spares", rows[i].path);
        if (!myr_design_figure(report->design, path)) {
            continue;
        }
        report_row_of(report, "%s", path);
        report_cell(report, rows[i].name);
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(columns); k++) {
            snprintf(path, sizeof(path), "spares.%s.%s", rows[i].path, columns[k]);
            const struct myr_figure *figure = myr_design_figure(report->design, path);
            report_number_cell(report, figure ? MYR_NUMBER(figure->value, figure->digits) : "-",
                               "%s", path);
        }
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

/* What the planner alone cannot say, with how far each number reaches. */
static void put_targets(const struct report *report)
{
    static const char *const heads[] = {"test",    ">target",           "unit", "rests on", "rule",
                                        "figures", "how far it reaches"};
    const struct myr_plan_targets *targets = report->about->targets;
    if (!targets) {
        report_para(report, "Targets of collectives, training and stability are computed with "
                            "'myriad plan SPEC --out DIR --acceptance'.");
        return;
    }
    report_subheading(report, "Targets that are simulated and fitted");
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct myr_plan_target *target = &targets->items[i];
        report_row_of(report, "acceptance.%s.target", target->key);
        report_cell(report, target->test);
        report_number_cell(report, MYR_NUMBER(target->value, target->digits),
                           "acceptance.%s.target", target->key);
        myr_page_cell(report->buf, target->unit);
        report_word(report, target->basis);
        report_cell(report, target->rule);
        report_cell(report, target->inputs);
        report_cell(report, target->reach);
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
    for (uint32_t i = 0; i < targets->lacking_count; i++) {
        report_para(report, "Without a target: %s.", report_say(report, "%s", targets->lacking[i]));
    }
}

void report_care(const struct report *report)
{
    report_chapter(report, "delivery");
    put_targets(report);
    report_chapter(report, "maintenance");
    /* Designs of older programs tell nothing of spares. */
    if (myr_design_figure(report->design, "spares.restock_weeks")) {
        put_spares(report);
    }
    report_chapter(report, "spares");
}
