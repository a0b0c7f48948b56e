#include "verify/verify.h"

/*
 * LLDP of switches alone tells of hosts by what these say on their cables. A host that is heard on
 * other cables, and not on this one, where its switch was asked: there is no cable. So it is with
 * hosts of one port, where most other hosts of their kind are heard; one of several ports that is
 * heard nowhere may be off, or not there yet.
 */

struct silent_host {
    uint32_t asked; /* ports whose planned neighbour was looked at */
    uint32_t heard; /* ports with a neighbour */
    uint32_t ports; /* with a planned cable */
};

/* What it takes to say that a port of a switch has no cable. */
static bool is_asked(const struct verify_job *job, const uint8_t *whole, uint32_t port)
{
    bool open = job->flags[port] & (VERIFY_DOUBT | VERIFY_UNREAD);
    return !open &&
           (job->flags[port] & VERIFY_LOOKED || whole[job->verify->design->port_device[port]]);
}

static struct silent_host count_ports(const struct verify_job *job, const uint8_t *whole,
                                      uint32_t device)
{
    const struct myr_design *design = job->verify->design;
    struct silent_host host = {};
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t far = job->verify->plan[p];
        if (far == MYR_NONE || myr_design_port_group(design, p)->role != MYR_PORT_NIC) {
            continue;
        }
        host.ports++;
        host.asked += is_asked(job, whole, far);
        host.heard += job->verify->found[p] != MYR_NONE;
    }
    return host;
}

/* By type of device: of the hosts of one port whose switch was asked, how many are heard. */
static void count_kind(const struct verify_job *job, const uint8_t *whole, uint32_t *asked,
                       uint32_t *heard)
{
    const struct myr_design *design = job->verify->design;
    for (uint32_t d = 0; d < design->device_count; d++) {
        struct silent_host host = count_ports(job, whole, d);
        if (host.ports == 1 && host.asked) {
            asked[design->device_type[d]]++;
            heard[design->device_type[d]] += host.heard;
        }
    }
}

/* By device of the design: a switch whose own table of neighbours was read to its end. */
static const uint8_t *find_whole(const struct verify_job *job)
{
    const struct myr_cabling *cabling = job->verify->cabling;
    const struct myr_design *design = job->verify->design;
    uint8_t *whole = MYR_ARENA_NEW(job->verify->arena, uint8_t, design->device_count);
    for (uint32_t d = 0; d < cabling->devices.count; d++) {
        struct myr_port_span place = job->identify.devices[d];
        if (place.count && cabling->devices.items[d].whole) {
            whole[design->port_device[place.first]] = 1;
        }
    }
    return whole;
}

void verify_note_silent(struct verify_job *job)
{
    const struct myr_design *design = job->verify->design;
    struct myr_arena *arena = job->verify->arena;
    const uint8_t *whole = find_whole(job);
    uint32_t *asked = MYR_ARENA_NEW(arena, uint32_t, design->devtype_count);
    uint32_t *heard = MYR_ARENA_NEW(arena, uint32_t, design->devtype_count);
    count_kind(job, whole, asked, heard);
    for (uint32_t d = 0; d < design->device_count; d++) {
        struct silent_host host = count_ports(job, whole, d);
        uint32_t type = design->device_type[d];
        bool most = host.heard * 2 > host.asked;
        bool alive = host.ports == 1                ? heard[type] * 2 > asked[type]
                     : job->verify->options.partial ? most
                                                    : host.heard > 0;
        for (uint32_t p = design->first_port[d]; alive && p < design->first_port[d + 1]; p++) {
            uint32_t far = job->verify->plan[p];
            if (far != MYR_NONE && job->verify->found[far] == MYR_NONE &&
                job->verify->found[p] == MYR_NONE && is_asked(job, whole, far) &&
                myr_design_port_group(design, p)->role == MYR_PORT_NIC) {
                job->flags[p] |= VERIFY_LOOKED;
                job->flags[far] |= VERIFY_LOOKED;
            }
        }
    }
}
