#include <stdio.h>

#include "figures/figures.h"
#include "myriad/text/amount.h"
#include "report/report.h"
#include "storage/storage.h"

/*
 * Power, cooling and storage: every figure with what it rests on and how it came about. Figures are
 * found by their paths, as the answer has them; the tables show all below a prefix, so that a new
 * figure of the plan is in the report by itself.
 */

/* A word as it is, in the report's language; a number with its own digits. */
static const char *value_of(const struct report *report, const struct myr_figure *figure)
{
    if (figure->text) {
        return report_string(report, figure->text);
    }
    char text[MYR_AMOUNT_BYTES];
    myr_text_number(figure->value, figure->digits, text);
    if (figure->digits > 0) { /* "10.00" says no more than "10" */
        size_t len = strlen(text);
        while (len > 1 && text[len - 1] == '0') {
            text[--len] = '\0';
        }
        text[text[len - 1] == '.' ? len - 1 : len] = '\0';
    }
    return myr_arena_printf(report->arena, "%s", text);
}

/* For a sentence. */
static const char *marked(const struct report *report, const struct myr_figure *figure)
{
    return report_value(report, value_of(report, figure), "%s",
                        myr_design_str(report->design, figure->path));
}

/* Paths are dotted: a prefix ends with the dot. */
static bool is_below(const char *path, const char *prefix)
{
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* NULL where the plan has no such figure, as in files of older programs. */
static const struct myr_figure *find(const struct report *report, const char *path)
{
    return myr_design_figure(report->design, path);
}

static const char *unit_of(const struct report *report, const struct myr_figure *figure)
{
    return plan_figure_unit(report->design, report->arena,
                            myr_design_str(report->design, figure->path),
                            myr_design_str(report->design, figure->unit));
}

/* Figures of other programs' designs may be unknown here: then their paths are their names. */
static const char *title_of(const char *path)
{
    const char *title = plan_figure_title(path);
    return title ? title : path;
}

/* All below 'prefix'; what is compared has a table of its own. */
static void put_figures(const struct report *report, const char *prefix)
{
    static const char *const heads[] = {"figure", ">value", "unit", "rests on", "rule", "figures"};
    const struct myr_design *design = report->design;
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < design->figure_count; i++) {
        const struct myr_figure *figure = &design->figures[i];
        const char *path = myr_design_str(design, figure->path);
        if (!is_below(path, prefix) || is_below(path, "cooling.compare.")) {
            continue;
        }
        /* The whole row explains one figure, and has its path. */
        report_row_of(report, "%s", path);
        report_cell(report, title_of(path));
        report_number_cell(report, value_of(report, figure), "%s", path);
        myr_page_cell(report->buf, unit_of(report, figure));
        report_word(report, myr_basis_names[figure->basis]);
        myr_page_cell(report->buf, report_string(report, figure->rule));
        myr_page_cell(report->buf, report_string(report, figure->inputs));
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

/* The three kinds of cooling side by side, whichever was planned. */
static void put_kinds(const struct report *report)
{
    static const char *const kinds[] = {"air", "cold-plate", "immersion"};
    static const char *const rows[] = {
        "pue",
        "wue_l_per_kwh",
        "facility_kw",
        "energy_mwh_per_year",
        "energy_cost_per_year",
        "plant_cost",
        "cost_of_years",
        "carbon_t_per_year",
        "leak_points",
        "ride_through_s",
        "rack_kw_max",
    };
    static const char *const heads[] = {"cooling compared", ">air", ">cold-plate", ">immersion",
                                        "unit"};
    /* Designs of older programs compare nothing. */
    if (!find(report, "cooling.compare.air.pue")) {
        return;
    }
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t r = 0; r < MYR_ARRAY_COUNT(rows); r++) {
        const struct myr_figure *last = NULL;
        myr_page_row_begin(report->buf);
        report_cell(report,
                    title_of(myr_arena_printf(report->arena, "cooling.compare.air.%s", rows[r])));
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
            char path[96];
            snprintf(path, sizeof(path), "cooling.compare.%s.%s", kinds[k], rows[r]);
            const struct myr_figure *figure = find(report, path);
            /* All three have the unit of the row; any of them tells it. */
            last = figure ? figure : last;
            report_number_cell(report, figure ? value_of(report, figure) : "-", "%s", path);
        }
        myr_page_cell(report->buf, last ? unit_of(report, last) : "");
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

/* The least that plant and energy of the years cost, of those that every rack keeps to. */
static void put_choice(const struct report *report)
{
    static const char *const kinds[] = {"air", "cold-plate", "immersion"};
    /* What was planned is named beside what would cost least: both may be the same. */
    const struct myr_figure *taken = find(report, "cooling.kind");
    const struct myr_figure *best = NULL;
    const char *name = NULL;
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds); k++) {
        char path[96];
        snprintf(path, sizeof(path), "cooling.compare.%s.fits", kinds[k]);
        const struct myr_figure *fits = find(report, path);
        snprintf(path, sizeof(path), "cooling.compare.%s.cost_of_years", kinds[k]);
        const struct myr_figure *cost = find(report, path);
        /* A kind that cannot cool the fullest rack is no choice, however cheap. */
        if (!fits || fits->value == 0) {
            report_para(report, "%s does not carry the fullest rack.",
                        report_say(report, "%s", kinds[k]));
        } else if (cost && (!best || cost->value < best->value)) {
            /* Of kinds that cost the same the first wins. */
            best = cost;
            name = kinds[k];
        }
    }
    if (best && taken) {
        report_para(report,
                    "%s costs the least over the years, plant and energy together; planned is %s.",
                    report_say(report, "%s", name), report_string(report, taken->text));
    }
}

/* Published rates for each started 32 servers, beside what these servers give. */
static void put_classes(const struct report *report)
{
    static const char *const heads[] = {"class", ">read GB/s asked", ">write GB/s asked",
                                        "reached"};
    const struct myr_figure *read = find(report, "storage.gives.read_gbytes_per_s");
    const struct myr_figure *write = find(report, "storage.gives.write_gbytes_per_s");
    /* Rates of the classes are for a started unit: a cluster of 33 servers counts as two. */
    double units = storage_units(report->design);
    const char *started = myr_arena_printf(report->arena, "%g", units);
    report_para(report,
                "Reads %s GB/s, writes %s GB/s; classes for %s started units of %s servers:",
                marked(report, read), marked(report, write),
                report_value(report, started, "report.storage.units"),
                report_counted(report, STORAGE_UNIT_SERVERS, "report.storage.unit_servers"));
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    /* The least class first, as a reader climbs them; the list has the best first. */
    for (uint32_t i = STORAGE_CLASSES; i-- > 0;) {
        const struct storage_class *class = &storage_classes[i];
        /* Both rates have to be reached; a billionth is noise. */
        bool reached = read->value >= class->read_gbytes * units - 1e-9 &&
                       write->value >= class->write_gbytes * units - 1e-9;
        const char *reads = myr_arena_printf(report->arena, "%g", class->read_gbytes * units);
        const char *writes = myr_arena_printf(report->arena, "%g", class->write_gbytes * units);
        myr_page_row_begin(report->buf);
        /* Names of classes are words of the spec and stay English where no translation is known. */
        report_cell(report, class->name);
        report_number_cell(report, reads, "report.storage.%s.read_gbytes_per_s", class->name);
        report_number_cell(report, writes, "report.storage.%s.write_gbytes_per_s", class->name);
        report_cell(report, reached ? "yes" : "no");
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

/* Power as it is said, "14.81 MW"; tables have every digit. NULL where the plan does not tell it.
 */
static const char *power(const struct report *report, const char *path)
{
    static const struct myr_unit units[] = {{1, 1000, 4, MYR_UNIT_SIGNIFICANT, "kW"},
                                            {1000, 0, 4, MYR_UNIT_SIGNIFICANT, "MW"}};
    const struct myr_figure *figure = find(report, path);
    char text[MYR_AMOUNT_BYTES];
    return figure
               ? report_value(report,
                              myr_text_in_unit(figure->value, units, MYR_ARRAY_COUNT(units), text),
                              "%s", path)
               : NULL;
}

/* Figures that the plan does not have leave no tile. */
void report_power_tiles(const struct report *report)
{
    static const struct {
        const char *path, *name;
    } tiles[] = {{"power.it.kw", "IT power"}, {"power.facility_kw", "facility power"}};
    const struct myr_figure *pue = find(report, "power.pue.value");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(tiles); i++) {
        const char *text = power(report, tiles[i].path);
        if (text) {
            report_tile(report, tiles[i].name, text);
        }
    }
    if (pue) {
        report_tile(report, "PUE", marked(report, pue));
    }
    const struct myr_figure *wue = find(report, "power.water.wue_l_per_kwh");
    if (wue) {
        report_tile(report, "WUE, l/kWh", marked(report, wue));
    }
}

/* Designs of older programs have no figures, and then no such chapters. */
void report_figures(const struct report *report)
{
    const char *it = power(report, "power.it.kw"), *all = power(report, "power.facility_kw");
    const struct myr_figure *pue = find(report, "power.pue.value");
    /* Older designs lack some of them: a chapter with holes is none. */
    if (it && pue && all) {
        report_heading(report, "Power and cooling");
        report_para(report, "%s of IT, %s with all that serves it: a PUE of %s.", it, all,
                    marked(report, pue));
        put_kinds(report);
        put_choice(report);
        report_chapter(report, "conditions");
        report_subheading(report, "Power");
        put_figures(report, "power.");
        report_subheading(report, "Cooling");
        put_figures(report, "cooling.");
    }
    if (report->design->head->storage_servers && find(report, "storage.gives.read_gbytes_per_s")) {
        report_heading(report, "Storage in figures");
        put_classes(report);
        report_chapter(report, "storage");
        report_subheading(report, "Figures of the storage");
        put_figures(report, "storage.");
    }
}
