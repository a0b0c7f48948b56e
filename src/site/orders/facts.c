#include "orders/orders.h"

/* What a sheet says of ports and cables, apart from the words. */

/* Ends outside of the design have no place. */
struct order_place order_place_of(const struct myr_orders *orders, uint32_t vertex)
{
    const struct myr_design *design = orders->verify->design;
    struct order_place place = {MYR_NONE, 0};
    /* Designs without a room have no units. */
    if (vertex < design->port_count && design->device_unit) {
        uint32_t device = design->port_device[vertex];
        place.rack = design->device_rack[device];
        place.unit = design->device_unit[device];
    }
    return place;
}

void order_put_device(const struct myr_orders *orders, uint32_t vertex, struct myr_buf *buf)
{
    const struct myr_design *design = orders->verify->design;
    if (verify_is_foreign(orders->verify, vertex)) {
        verify_found_name(orders->verify,
                          orders->verify->foreign[vertex - design->port_count].device, buf);
    } else {
        myr_design_name(design, design->port_device[vertex], buf);
    }
}

void order_put_port(const struct myr_orders *orders, uint32_t vertex, struct myr_buf *buf)
{
    const struct myr_design *design = orders->verify->design;
    if (verify_is_foreign(orders->verify, vertex)) {
        struct myr_str port = orders->verify->foreign[vertex - design->port_count].port;
        myr_buf_put(buf, port.data, port.len);
    } else {
        myr_design_port_name(design, vertex, buf);
    }
}

static void put_end(const struct myr_orders *orders, uint32_t vertex, struct myr_buf *buf)
{
    order_put_device(orders, vertex, buf);
    myr_buf_putc(buf, ':');
    order_put_port(orders, vertex, buf);
}

void order_put_flag(const struct myr_orders *orders, const struct myr_plug *plug,
                    struct myr_buf *buf)
{
    if (plug->cable == MYR_NONE) {
        return;
    }
    /* The flag names the ends as planned, not as found: that is what was printed on it. */
    uint32_t home = orders->verify->plan[plug->far];
    MYR_ASSERT(home != MYR_NONE); /* a cable that is planned at 'far' has two ends */
    put_end(orders, home, buf);
    myr_buf_put_lit(buf, " -> ");
    put_end(orders, plug->far, buf);
}

const struct myr_cabletype *order_cable_type(const struct myr_orders *orders, uint32_t cable)
{
    const struct myr_design *design = orders->verify->design;
    MYR_ASSERT(cable < design->cable_count);
    return &design->cabletypes[design->cable_type[cable]];
}

/* Jackets as TIA-598 has them for fibre, unless the site has its own rule. */
const char *order_colour(const struct myr_orders *orders, uint32_t cable)
{
    static const char *const by_medium[] = {
        [MYR_MEDIUM_COPPER] = "black", [MYR_MEDIUM_MULTI] = "aqua", [MYR_MEDIUM_SINGLE] = "yellow"};
    const struct myr_cabletype *type = order_cable_type(orders, cable);
    const char *told = orders->colours[type->layer];
    return told ? told : by_medium[type->medium];
}

/* Whether the end of the plan's cable in a port is a module with a fibre in it. */
static bool has_module(const struct myr_design *design, uint32_t port)
{
    uint32_t link = design->port_link[port];
    if (link == MYR_NONE) {
        return false;
    }
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    /* A cable without optics at this end has no module to leave in. */
    return design->link_a[link] == port ? type->optic_a != 0 : type->optic_b != 0;
}

/* The ports of a plug: one, or all of its connector where a splitter's head is moved. */
static bool is_of_plug(const struct myr_orders *orders, const struct myr_work_order *order,
                       uint32_t port)
{
    (void)orders;
    for (uint32_t p = 0; p < order->plug_count; p++) {
        const uint32_t ends[] = {order->plugs[p].at, order->plugs[p].to};
        /* A head takes as many ports as it has legs. */
        uint32_t wide = order->legs ? order->legs : 1;
        for (uint32_t e = 0; e < MYR_ARRAY_COUNT(ends); e++) {
            if (ends[e] != MYR_NONE && port >= ends[e] && port - ends[e] < wide) {
                return true;
            }
        }
    }
    return false;
}

/* The other ports of one cage that have a cable now. */
static uint32_t mates_of(const struct myr_orders *orders, const struct myr_work_order *order,
                         uint32_t port, uint32_t *ret, uint32_t count, uint32_t max)
{
    const struct myr_design *design = orders->verify->design;
    uint32_t device = design->port_device[port], cage = myr_design_port_cage(design, port);
    const struct myr_port_group *group = myr_design_port_group(design, port);
    uint32_t first = design->first_port[device] + group->first;
    /* Only neighbours in number can share a cage: per_cage to either side is enough. */
    uint32_t low = port > first + group->per_cage ? port - group->per_cage : first;
    for (uint32_t p = low; p < first + group->count && p <= port + group->per_cage; p++) {
        /* Ports of this order, and empty ones, do not go dark by it. */
        bool mate = myr_design_port_cage(design, p) == cage && !is_of_plug(orders, order, p) &&
                    orders->verify->found[p] != MYR_NONE;
        for (uint32_t i = 0; i < count && mate; i++) {
            mate = ret[i] != p;
        }
        if (mate && count < max) {
            ret[count++] = p;
        }
    }
    return count;
}

/* Pulling the fibre spares the others only if every cage concerned has a module in it. */
uint32_t order_cage_mates(const struct myr_orders *orders, const struct myr_work_order *order,
                          uint32_t *ret, uint32_t max, bool *ret_module)
{
    const struct myr_design *design = orders->verify->design;
    uint32_t count = 0;
    *ret_module = true;
    for (uint32_t p = 0; p < order->plug_count; p++) {
        /* Where the plug is now and where it goes: both cages are opened. */
        const uint32_t ends[] = {order->plugs[p].at, order->plugs[p].to};
        for (uint32_t e = 0; e < MYR_ARRAY_COUNT(ends); e++) {
            if (ends[e] < design->port_count) {
                uint32_t before = count;
                count = mates_of(orders, order, ends[e], ret, count, max);
                *ret_module = *ret_module && (count == before || has_module(design, ends[e]));
            }
        }
    }
    return count;
}

/* Numbers that the scanner's side can look up; the ends as well where they are wanted and fit. */
void order_put_code(const struct myr_orders *orders, uint32_t index, bool with_ends,
                    struct myr_buf *buf)
{
    const struct myr_work_order *order = &orders->items[index];
    const struct myr_design *design = orders->verify->design;
    const struct myr_plug *plug = &order->plugs[0];
    myr_buf_printf(buf, "MYR:%s:R%u:O%u", myr_design_str(design, design->head->name), orders->run,
                   index + 1);
    if (plug->cable != MYR_NONE) {
        myr_buf_putc(buf, ':');
        myr_buf_putc(buf, 'C');
        myr_buf_put_u64_pad(buf, myr_design_cable_id(design, plug->cable), 8);
    }
    if (!with_ends) {
        return;
    }
    /* From where it is to where it goes; a new cable from end to end. */
    uint32_t from = plug->at == MYR_NONE ? plug->far : plug->at;
    uint32_t to = plug->to == MYR_NONE || plug->to == plug->at ? plug->far : plug->to;
    myr_buf_putc(buf, ':');
    put_end(orders, from, buf);
    myr_buf_putc(buf, '>');
    put_end(orders, to, buf);
}
