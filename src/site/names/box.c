#include "myriad/site/port_names.h"

#include "myriad/site/cabling.h"

/*
 * What rules for port names must know of a box: how many cages and lanes it has, and how many
 * numbers each cage takes, from the design and, where it knows the part, from the catalogue.
 */

/* Electrical lanes of a cage, by its form. */
static uint32_t lanes_of(const char *form)
{
    static const struct {
        const char *form;
        uint32_t lanes;
    } forms[] = {{"osfp", 8},   {"qsfp-dd", 8}, {"qsfp112", 4},
                 {"qsfp56", 4}, {"qsfp28", 4},  {"sfp", 1}};
    for (uint32_t i = 0; form && i < MYR_ARRAY_COUNT(forms); i++) {
        if (strncmp(form, forms[i].form, strlen(forms[i].form)) == 0) {
            return forms[i].lanes;
        }
    }
    /* A form that is not known is taken for one of the newest. */
    return 8;
}

/* Without a catalogue the design's own figures serve. */
void myr_box_of(const struct myr_design *design, uint32_t devtype,
                const struct myr_catalog *catalog, struct myr_box *ret)
{
    const struct myr_devtype *type = &design->devtypes[devtype];
    const char *part = type->part < design->string_bytes ? myr_design_str(design, type->part) : "";
    uint32_t found = catalog ? myr_catalog_find(catalog, myr_str_from(part)) : MYR_PART_NONE;
    uint32_t least = 1;
    *ret = (struct myr_box){.type = type,
                            .part = myr_str_from(part),
                            .technology = MYR_TECH_ANY,
                            .cages = type->cages,
                            .lanes = 8,
                            .planes = 1};
    ret->host = type->group_count && type->groups[0].role == MYR_PORT_NIC;
    /* Only what the catalogue knows of: a design may have parts of which it has no row. */
    if (found != MYR_PART_NONE && catalog->parts.items[found].kind == MYR_PART_SWITCH) {
        const struct myr_part_switch *sw = &catalog->parts.items[found].sw;
        ret->technology = sw->technology;
        /* The box may have more cages than the design uses. */
        ret->cages = sw->cages > type->cages ? sw->cages : type->cages;
        ret->lanes = sw->lanes ? sw->lanes : lanes_of(sw->form);
        ret->lane_gbps = sw->lane_gbps;
        ret->planes = sw->chips;
        /* What the box itself divides a cage into, whatever the design does with it. */
        least = sw->port_gbps ? sw->cage_gbps / sw->port_gbps : 1;
    } else if (found != MYR_PART_NONE && catalog->parts.items[found].kind == MYR_PART_ETHERNET) {
        ret->technology = MYR_TECH_ETHERNET;
    }
    ret->numbers = myr_site_numbers(type);
    ret->numbers = least > ret->numbers ? least : ret->numbers;
}
