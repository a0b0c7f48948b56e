#include "report/report.h"

/*
 * Which numbers a drawing shows. Drawings are files of their own as well, and say what they show in
 * words; here each of their texts gets the paths below which its numbers are found, by the card
 * that it stands on and the device or rack that it names.
 */

/* Only texts with a number need a path. */
static bool has_digit(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

/* Cards of the topology, by their titles. */
static const struct card {
    const char *title, *paths;
} cards[] = {
    {"Compute network", "networks.compute report.drawn.compute report.ports_per_node.compute "
                        "report.scale_up_gbps"},
    {"Storage network", "networks.storage report.drawn.storage report.ports_per_node.storage"},
    {"Service network", "networks.service report.drawn.service report.ports_per_node.service"},
    {"Out-of-band network", "networks.oob report.drawn.oob report.ports_per_node.oob"},
    {"Inside a node", "report.inside scale_up_gpus report.scale_up_gbps"},
    {"Findings", "findings"},
    {"Legend", ""},
};

/* Above them: what the cluster is. */
static const char head_paths[] = "servers gpus scale_up_gpus report totals networks groups";

/* The name of a switch at the beginning of a tip, or behind "ports of". */
static const char *device_in(const struct report *report, const char *text)
{
    static const char behind[] = " ports of ";
    const char *at = strstr(text, behind);
    at = at ? at + sizeof(behind) - 1 : text;
    size_t len = strcspn(at, ":\n");
    if (at[len] == '\0' || !memchr(at, '/', len)) {
        return NULL;
    }
    const char *name = myr_arena_strndup(report->arena, at, len);
    return myr_design_find(report->design, myr_str_from(name)) == MYR_NONE ? NULL : name;
}

/* The tip of a count of switches is the rule of the bill's line. */
static const char *rule_in(const struct report *report, const char *text)
{
    const struct myr_design *design = report->design;
    for (uint32_t i = 0; strchr(text, '\n') && i < design->bom_count; i++) {
        const char *rule = myr_design_str(design, design->bom[i].rule);
        const char *inputs = myr_design_str(design, design->bom[i].inputs);
        if (rule[0] && inputs[0] && strstr(text, rule) && strstr(text, inputs)) {
            return myr_arena_printf(report->arena, "bom.%u.quantity", i);
        }
    }
    return NULL;
}

/* Texts come in the order of drawing: a card's title tells where the ones behind it stand, until
 * the next title. */
static const char *topology_paths(const struct report *report, struct report_drawn *drawn,
                                  const char *text)
{
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cards); i++) {
        if (strcmp(text, cards[i].title) == 0) {
            drawn->card = cards[i].paths;
        }
    }
    /* The nearest answer wins: a device that the text names, else a rule of the bill, else all that
     * the card shows. */
    const char *device = device_in(report, text), *card = drawn->card ? drawn->card : head_paths;
    /* Kept until another device is named. */
    drawn->device = device ? device : drawn->device;
    const char *rule = device ? NULL : rule_in(report, text);
    if (device || rule) {
        return rule ? rule : myr_arena_printf(report->arena, "devices.%s", device);
    }
    /* A bare number stands below what hangs on the switch that was named before it. */
    bool bare = strspn(text, "0123456789") == strlen(text);
    return bare && drawn->device && drawn->card
               ? myr_arena_printf(report->arena, "%s devices.%s", card, drawn->device)
               : card;
}

/* "A14: 10.0 of 15.0 kW, ..." comes before what is written on the rack. */
static const char *floor_paths(const struct report *report, struct report_drawn *drawn,
                               const char *text)
{
    const char *colon = strstr(text, ": ");
    if (colon && strstr(colon, " kW")) {
        drawn->rack = myr_arena_strndup(report->arena, text, (size_t)(colon - text));
    }
    return drawn->rack ? myr_arena_printf(report->arena, "racks.%s", drawn->rack) : "room";
}

/* Of a bar or its tip; the scale below the bars is of no system. */
static bool is_cost(const struct report *report, const char *text)
{
    struct report_system systems[REPORT_SYSTEMS_MAX];
    uint32_t count = report_systems(report->design, systems);
    bool found = strstr(text, ": ") != NULL;
    for (uint32_t i = 0; i < count && !found; i++) {
        found =
            systems[i].cents > 0 && strcmp(text, report_money_said(report, systems[i].cents)) == 0;
    }
    return found;
}

/* Several paths are parted by blanks; "" means that no number stands behind the text. */
const char *report_drawn_paths(const struct report *report, struct report_drawn *drawn,
                               const char *text)
{
    switch (drawn->what) {
    case REPORT_TOPOLOGY:
        text = topology_paths(report, drawn, text);
        break;
    case REPORT_FLOOR:
        if (!has_digit(text)) {
            drawn->rack = NULL; /* behind the racks comes the legend */
        }
        text = has_digit(text) ? floor_paths(report, drawn, text) : "";
        break;
    case REPORT_COSTS:
        text = is_cost(report, text) ? "report.systems" : "";
        break;
    }
    return text;
}
