#include "explain/tree.h"

#include "myriad/plan/grow.h"
#include "report/report.h"
#include "storage/storage.h"

/*
 * Numbers beside those of the plan's answer: what a report sums up, the phase after this one, and
 * every rack. All of it from the finished design.
 */

/* With the paths of the lines that add up to each. */
static void put_systems(const struct myr_design *design, struct myr_answer *answer)
{
    struct report_system systems[REPORT_SYSTEMS_MAX];
    uint32_t count = report_systems(design, systems);
    myr_answer_list(answer, "systems");
    for (uint32_t s = 0; s < count; s++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf lines = {};
        for (uint32_t i = 0; i < design->bom_count; i++) {
            /* Strings of a design are stored once, so equal offsets are equal names. */
            if (design->bom[i].system == systems[s].name && design->bom[i].unit_cents >= 0) {
                myr_buf_printf(&lines, "%sbom.%u.total", lines.len ? " + " : "", i);
            }
        }
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "system", myr_design_str(design, systems[s].name));
        myr_answer_str(answer, "lines", (struct myr_str){lines.data, lines.len});
        if (systems[s].cents < 0) {
            myr_answer_null(answer, "cost");
        } else {
            myr_answer_double(answer, "cost", (double)systems[s].cents / 100, 2);
        }
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/*
 * All published classes beside each other for the size of this cluster, as the report shows them.
 */
static void put_classes(const struct myr_design *design, struct myr_answer *answer)
{
    double units = storage_units(design);
    if (!design->head->storage_servers) {
        return;
    }
    myr_answer_object(answer, "storage");
    myr_answer_double(answer, "units", units, 0);
    myr_answer_u64(answer, "unit_servers", STORAGE_UNIT_SERVERS);
    for (uint32_t i = 0; i < STORAGE_CLASSES; i++) {
        myr_answer_object(answer, storage_classes[i].name);
        myr_answer_double(answer, "read_gbytes_per_s", storage_classes[i].read_gbytes * units, 3);
        myr_answer_double(answer, "write_gbytes_per_s", storage_classes[i].write_gbytes * units, 3);
        myr_answer_double(answer, "read_of_one_unit", storage_classes[i].read_gbytes, 3);
        myr_answer_double(answer, "write_of_one_unit", storage_classes[i].write_gbytes, 3);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

static void put_ports(const struct myr_design *design, struct myr_answer *answer)
{
    myr_answer_object(answer, "ports_per_node");
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        /* Only where all hosts have as many: else there is no such number. */
        if (net->nodes_on_it && net->host_ports % net->nodes_on_it == 0) {
            myr_answer_u64(answer, myr_net_names[id], net->host_ports / net->nodes_on_it);
        }
    }
    myr_answer_end(answer);
}

void myr_plan_explain_tree(const struct myr_design *design, const struct myr_growth *next,
                           struct myr_answer *answer)
{
    const struct myr_design_head *head = design->head;
    (void)myr_plan_answer(design, answer);
    myr_answer_object(answer, "report");
    myr_answer_u64(answer, "switches", report_switches(design));
    /* Groups may have different servers. */
    if (design->group_count == 0 && head->servers) {
        myr_answer_u64(answer, "gpus_per_server", head->gpus / head->servers);
    }
    myr_answer_u64(answer, "scale_up_gbps", head->scale_up_gbps);
    put_ports(design, answer);
    put_systems(design, answer);
    put_classes(design, answer);
    explain_put_drawn(design, answer);
    myr_answer_end(answer);
    report_constants(design, answer);
    if (next) {
        myr_grow_phase(next, answer);
    }
}

void myr_plan_explain_targets(const struct myr_plan_targets *targets, struct myr_answer *answer)
{
    report_targets(targets, answer);
}

/* By name, as people know them. */
static void put_racks(const struct myr_design *design, struct myr_answer *answer)
{
    myr_answer_object(answer, "racks");
    for (uint32_t i = 0; i < design->rack_count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        const struct myr_rack *rack = &design->racks[i];
        const struct myr_rack_more *more = &design->rack_more[i];
        myr_design_rack_name(design, i, &name);
        myr_answer_object(answer, myr_arena_strndup(answer->arena, name.data, name.len));
        myr_answer_u64(answer, "devices", more->devices);
        myr_answer_double(answer, "kw", more->watts / 1000.0, 3);
        myr_answer_double(answer, "kw_limit", rack->watts_max / 1000.0, 3);
        myr_answer_u64(answer, "units", more->units);
        myr_answer_u64(answer, "units_limit", rack->units);
        myr_answer_u64(answer, "kg", more->kg);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* In whole words. */
static bool begins(const char *path, const char *word)
{
    size_t len = strlen(word);
    return strncmp(path, word, len) == 0 && (path[len] == '.' || path[len] == '\0');
}

/* Once each: the answer may be asked again. Racks exist only where the design has a room. */
void explain_add(const struct myr_design *design, struct myr_answer *answer, const char *path)
{
    if (begins(path, "racks") && design->room && !myr_value_get(&answer->root, "racks")) {
        put_racks(design, answer);
    }
    if (begins(path, "devices") && !myr_value_get(&answer->root, "devices")) {
        explain_put_devices(design, answer);
    }
}
