#include <stdio.h>

#include "report/report.h"

/*
 * What comes behind the purchase: delivery and who does what, acceptance, maintenance, spares, and
 * how a part is replaced. The work is the same for every cluster and stands here as rows; pieces
 * and spares are figures of the plan.
 */

struct step {
    const char *what, *how, *who;
};

static const struct step delivery[] = {
    {"room", "power, cooling, floor and trays are accepted before the first rack comes in",
     "who owns the hall"},
    {"racks and cables",
     "racks in the order of the crews' sheets, trunks first; labels at both ends", "cabling crew"},
    {"servers and switches", "unpacked, firmware at one level, serial numbers bound to the plan",
     "supplier"},
    {"network", "configuration exported from the plan; each cable verified against it",
     "network engineer"},
    {"storage", "pools laid out as planned; rates measured from all servers at once",
     "storage engineer"},
    {"hand-over", "acceptance tests signed, spares on the shelf, operators trained",
     "supplier and customer"},
};

static const struct step acceptance[] = {
    {"cabling", "'myriad verify' finds every link as planned, none slower, none with errors",
     "network engineer"},
    {"single server", "GPU diagnosis at the longest level, memory and links without errors",
     "supplier"},
    {"network", "collectives on all servers reach what 'myriad sim' foretells for the design",
     "network engineer"},
    {"training", "step time within the interval of 'myriad fit' for the agreed model",
     "supplier and customer"},
    {"storage", "read and write rates of the chapter on storage, all servers at once",
     "storage engineer"},
    {"failures",
     "a leaf, a server, a power feed and a cooling unit are switched off in turn; jobs "
     "resume",
     "supplier and customer"},
    {"power", "all GPUs at full load: racks, feeds and cooling stay below their limits",
     "who owns the hall"},
};

static const struct step upkeep[] = {
    {"cleaning", "dust filters and fans each quarter; connectors only with an inspection before",
     "operator"},
    {"inspection", "GPU temperatures, link errors and fan speeds each week, from telemetry",
     "operator"},
    {"software", "firmware and drivers twice a year, first on a few servers, then group by group",
     "operator"},
    {"prevention", "servers with rising errors are drained and tested before they stop a job",
     "operator"},
    {"backup", "configuration and job state each day; a restore is tried each quarter", "operator"},
    {"climate", "temperature, humidity and, with liquid, quality of the coolant and leaks",
     "who owns the hall"},
};

static const struct step replacing[] = {
    {"find", "diagnosis names the part; jobs are checkpointed and the server drained", "operator"},
    {"prepare", "spare of the same part and firmware, antistatic tools, warranty checked",
     "operator"},
    {"replace", "power off, cables labelled, part changed, cables back to the same ports",
     "supplier or operator"},
    {"prove", "the part is seen, diagnosis passes, links verified against the plan", "operator"},
    {"return", "the server comes back to the pool; the spare is ordered anew", "operator"},
};

static void put_steps(const struct report *report, const char *title, const struct step *steps,
                      size_t count)
{
    static const char *const heads[] = {"task", "what is done", "who"};
    report_subheading(report, "%s", title);
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (size_t i = 0; i < count; i++) {
        myr_page_row_begin(report->buf);
        report_cell(report, steps[i].what);
        report_cell(report, steps[i].how);
        report_cell(report, steps[i].who);
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

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

/* Designs of older programs tell nothing of spares. */
void report_care(const struct report *report)
{
    if (!myr_design_figure(report->design, "spares.restock_weeks")) {
        return;
    }
    report_heading(report, "Delivery, acceptance and maintenance");
    put_steps(report, "Delivery", delivery, MYR_ARRAY_COUNT(delivery));
    put_steps(report, "Acceptance", acceptance, MYR_ARRAY_COUNT(acceptance));
    put_steps(report, "Maintenance", upkeep, MYR_ARRAY_COUNT(upkeep));
    put_spares(report);
    put_steps(report, "Replacing a part", replacing, MYR_ARRAY_COUNT(replacing));
}
