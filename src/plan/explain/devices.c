#include "drawing/drawing.h"
#include "explain/tree.h"
#include "plan_internal.h"

/*
 * Switches as drawings show them: their ports, what hangs on them, where their links go. Asked for
 * by a device's name: "devices.leaf/p0-g0-r0.links_up". They are added to the tree on demand, since
 * a large plan has thousands of them.
 */

static bool is_switch(const struct myr_design *design, uint32_t device)
{
    switch ((enum myr_device_kind)design->place[device].kind) {
    case MYR_DEVICE_LEAF:
    case MYR_DEVICE_ROUTER:
    case MYR_DEVICE_SPINE:
    case MYR_DEVICE_CORE:
    case MYR_DEVICE_ACCESS:
    case MYR_DEVICE_AGGREGATION:
        return true;
    default:
        return false;
    }
}

/* Group by group, as the type has them. */
static void put_ports(const struct myr_design *design, struct myr_answer *answer, uint32_t device)
{
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    myr_answer_list(answer, "ports");
    for (uint32_t g = 0; g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        uint32_t used = 0;
        for (uint32_t p = 0; p < group->count; p++) {
            used += design->port_link[design->first_port[device] + group->first + p] != MYR_NONE;
        }
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "used", used);
        myr_answer_u64(answer, "count", group->count);
        myr_answer_u64(answer, "gbps", group->gbps);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/*
 * Links to switches of other kinds than its own that lie above it; 'links' is by device, all 0. Its
 * ports are passed twice: once to count, once to clear.
 */
static void put_links(const struct myr_design *design, struct myr_answer *answer, uint32_t device,
                      uint16_t *links)
{
    uint32_t first = design->first_port[device], end = design->first_port[device + 1];
    uint32_t up = 0, most = 0;
    for (uint32_t port = first; port < end; port++) {
        uint32_t peer = myr_design_peer(design, port);
        if (peer != MYR_NONE && myr_design_port_group(design, port)->role == MYR_PORT_UP) {
            uint32_t count = ++links[design->port_device[peer]];
            most = count > most ? count : most;
            up++;
        }
    }
    for (uint32_t port = first; port < end; port++) {
        uint32_t peer = myr_design_peer(design, port);
        if (peer != MYR_NONE) {
            links[design->port_device[peer]] = 0;
        }
    }
    myr_answer_u64(answer, "links_up", up);
    myr_answer_u64(answer, "most_to_one", most);
}

/* All kinds are there, with 0 where none hangs. */
static void put_hosts(const struct myr_design *design, struct myr_answer *answer, uint32_t device)
{
    static const struct {
        enum myr_device_kind kind;
        const char *key;
    } kinds[] = {{MYR_DEVICE_NODE, "nodes"},
                 {MYR_DEVICE_STORAGE, "storage_servers"},
                 {MYR_DEVICE_MANAGEMENT, "management_nodes"},
                 {MYR_DEVICE_FABRIC_MANAGER, "fabric_managers"},
                 {MYR_DEVICE_PDU, "pdus"},
                 {MYR_DEVICE_CDU, "cdus"}};
    struct draw_hosts hosts = plan_draw_hosts_of(design, device);
    myr_answer_object(answer, "hosts");
    myr_answer_u64(answer, "ports", hosts.ports);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        myr_answer_u64(answer, kinds[i].key, hosts.kinds[kinds[i].kind]);
    }
    myr_answer_end(answer);
}

/* Switches alone; a cluster has far more hosts, and their ports follow from the networks. */
void explain_put_devices(const struct myr_design *design, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    /* One counter a device, used by one switch after the other. */
    uint16_t *links = MYR_ARENA_NEW(&scratch, uint16_t, design->device_count);
    myr_answer_object(answer, "devices");
    for (uint32_t device = 0; device < design->device_count; device++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        if (!is_switch(design, device)) {
            continue;
        }
        myr_design_name(design, device, &name);
        myr_answer_object(answer, myr_arena_strndup(answer->arena, name.data, name.len));
        put_ports(design, answer, device);
        put_links(design, answer, device, links);
        put_hosts(design, answer, device);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}
