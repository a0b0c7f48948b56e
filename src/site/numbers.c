#include "myriad/site/cabling.h"

/*
 * How InfiniBand counts the ports of a switch: as many numbers a cage as its most divided one
 * needs.
 */

enum { NUMBER_MAX = 254 }; /* InfiniBand has a byte for it */

/* Numbers that each cage takes: as many as the most divided one needs. */
uint32_t myr_site_numbers(const struct myr_devtype *type)
{
    uint32_t most = 1;
    for (uint32_t g = 0; g < type->group_count; g++) {
        most = type->groups[g].per_cage > most ? type->groups[g].per_cage : most;
    }
    return most;
}

/* Where that would not fit into a byte, ports are numbered one after the other. */
bool myr_site_counts_on(const struct myr_devtype *type)
{
    return type->cages * myr_site_numbers(type) > NUMBER_MAX;
}

/* From 1, cage by cage. */
uint32_t myr_site_number(const struct myr_design *design, uint32_t port)
{
    uint32_t device = design->port_device[port];
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    const struct myr_port_group *group = myr_design_port_group(design, port);
    uint32_t at = port - design->first_port[device] - group->first;
    uint32_t numbers = myr_site_numbers(type);
    if (myr_site_counts_on(type)) {
        return port - design->first_port[device] + 1;
    }
    /* A cage that is divided less than others leaves numbers out. */
    return (group->first_cage + at / group->per_cage) * numbers +
           at % group->per_cage * (numbers / group->per_cage) + 1;
}

/* The reverse; MYR_NONE for numbers between those of a cage that is divided less. */
uint32_t myr_site_numbered(const struct myr_design *design, uint32_t device, uint32_t number)
{
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    uint32_t numbers = myr_site_numbers(type);
    if (myr_site_counts_on(type)) {
        bool good = number > 0 && number <= type->port_count;
        return good ? design->first_port[device] + number - 1 : MYR_NONE;
    }
    for (uint32_t g = 0; number > 0 && g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        uint32_t cage = (number - 1) / numbers - group->first_cage; /* wraps below the first */
        uint32_t step = numbers / group->per_cage, at = (number - 1) % numbers;
        uint64_t index = (uint64_t)cage * group->per_cage + at / step;
        if ((number - 1) / numbers >= group->first_cage && index < group->count) {
            return at % step ? MYR_NONE
                             : design->first_port[device] + group->first + (uint32_t)index;
        }
    }
    return MYR_NONE;
}
