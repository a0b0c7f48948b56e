#include "grow/install.h"

/*
 * One task after the other, each given to the crew that is free first. Nothing is blocked: a cable
 * comes when both its ends stand and nothing is plugged in its ports any more. Switches above come
 * first, so that cables which move can go over at once; then leaves, then hosts. Cables that wait
 * for each other's ports in a circle are opened by unplugging one.
 */

const char *const install_action_names[] = {"stand", "remove", "move", "unplug", "plug", "pull"};

struct site {
    const struct myr_growth *growth;
    const struct myr_design *design;
    struct install *ret;
    uint32_t crews, cable_s, device_s; /* seconds that a cable, a device take one crew */
    uint64_t *crew_next;               /* by crew: when it is free */
    uint64_t *stands;                  /* by device: since when; UINT64_MAX: not yet */
    uint64_t *free_at;                 /* by port: since when nothing else is in it */
    uint32_t *held;     /* by port: the move of the cable that is still in it; MYR_NONE */
    uint32_t *blocked;  /* by port: cables in its cage that was divided otherwise */
    uint32_t *move_of;  /* by cable */
    uint32_t *ports_of; /* by link of the installed design, two: ports of the grown one */
    bool *done, *open;  /* by cable: it is where it belongs; it was unplugged */
};

/* What an installed port is called now, whatever role it plays. */
static uint32_t hole(const struct myr_growth *growth, uint32_t old_port)
{
    const struct myr_design *old = growth->installed, *now = &growth->grown;
    uint32_t device = growth->to[old->port_device[old_port]];
    uint32_t id = old->port_id ? old->port_id[old_port] : old_port;
    for (uint32_t p = now->first_port[device]; p < now->first_port[device + 1]; p++) {
        if (now->port_id[p] == id) {
            return p;
        }
    }
    return MYR_NONE;
}

/* By cable of the grown design; lies in 'arena'. */
uint32_t *install_moves(const struct myr_growth *growth, struct myr_arena *arena)
{
    uint32_t *moves = MYR_ARENA_NEW(arena, uint32_t, growth->grown.cable_count);
    for (uint32_t c = 0; c < growth->grown.cable_count; c++) {
        moves[c] = MYR_NONE;
    }
    for (uint32_t i = 0; i < growth->move_count; i++) {
        if (growth->moves[i].cable != MYR_NONE) {
            moves[growth->moves[i].cable] = i;
        }
    }
    return moves;
}

/*
 * The next crew does it, not before 'ready', and within a day. Returns when it is done. Times are
 * seconds of working time, day after day without the nights.
 */
static uint64_t give(struct site *site, enum install_action action, uint32_t what, uint64_t ready)
{
    uint32_t crew = 0;
    for (uint32_t i = 1; i < site->crews; i++) {
        crew = site->crew_next[i] < site->crew_next[crew] ? i : crew;
    }
    uint64_t start = site->crew_next[crew] > ready ? site->crew_next[crew] : ready;
    uint32_t takes = action == INSTALL_STAND ? site->device_s : site->cable_s;
    /* No task runs over the end of a day: it waits for the next. */
    if (start % INSTALL_DAY_S + takes > INSTALL_DAY_S) {
        start = (start / INSTALL_DAY_S + 1) * INSTALL_DAY_S;
    }
    site->crew_next[crew] = start + takes;
    site->ret->tasks[site->ret->count++] =
        (struct install_task){(uint8_t)action, what, crew, start, start + takes};
    uint32_t day = (uint32_t)(start / INSTALL_DAY_S);
    site->ret->days = day + 1 > site->ret->days ? day + 1 : site->ret->days;
    return start + takes;
}

/* When both ends stand and the ports are free; UINT64_MAX: not yet. */
static uint64_t ready_at(const struct site *site, uint32_t cable)
{
    const struct myr_design *design = site->design;
    uint64_t ready = 0;
    for (uint32_t l = design->first_link[cable]; l < design->first_link[cable + 1]; l++) {
        const uint32_t ports[] = {design->link_a[l], design->link_b[l]};
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t stands = site->stands[design->port_device[ports[i]]];
            bool held =
                site->held[ports[i]] != MYR_NONE && site->held[ports[i]] != site->move_of[cable];
            /*
             * Waits for a box, for a cable that is still in the port, or for one in a cage that was
             * divided otherwise.
             */
            if (stands == UINT64_MAX || held || site->blocked[ports[i]]) {
                return UINT64_MAX;
            }
            ready = stands > ready ? stands : ready;
            ready = site->free_at[ports[i]] > ready ? site->free_at[ports[i]] : ready;
        }
    }
    return ready;
}

static void try_cable(struct site *site, uint32_t cable);

/* The ports that are now where an installed one was whose cage is divided otherwise. */
static struct myr_device_range cage_of(const struct site *site, uint32_t old_port)
{
    const struct myr_design *old = site->growth->installed, *now = site->design;
    uint32_t device = site->growth->to[old->port_device[old_port]];
    uint32_t cage = myr_design_port_cage(old, old_port);
    struct myr_device_range range = {now->first_port[device], 0};
    for (uint32_t p = range.first; p < now->first_port[device + 1]; p++) {
        if (myr_design_port_cage(now, p) == cage) {
            range.first = range.count++ ? range.first : p;
        }
    }
    return range;
}

/*
 * Counts a cable in or out of such a cage; when it is out, whoever waits may come. Ports are
 * counted as often as such cables are in their cage.
 */
static void block(struct site *site, uint32_t old_port, bool in, uint64_t when)
{
    struct myr_device_range range = cage_of(site, old_port);
    for (uint32_t p = range.first; p < range.first + range.count; p++) {
        MYR_ASSERT(in || site->blocked[p] > 0);
        site->blocked[p] += in ? 1 : UINT32_MAX; /* one less */
        site->free_at[p] = in ? site->free_at[p] : when;
    }
    for (uint32_t p = range.first; !in && p < range.first + range.count; p++) {
        if (site->design->port_link[p] != MYR_NONE) {
            try_cable(site, site->design->link_cable[site->design->port_link[p]]);
        }
    }
}

/*
 * A cable has left its old ports: whoever waits for one of them may come. Its ports are noted first
 * and tried after: a cable that comes may release others in turn.
 */
static void release(struct site *site, uint32_t move, uint64_t when)
{
    const struct myr_design *old = site->growth->installed, *design = site->design;
    uint32_t cable = site->growth->moves[move].old_cable;
    uint32_t freed[2 * (UINT8_MAX + 1)], count = 0;
    for (uint32_t l = old->first_link[cable]; l < old->first_link[cable + 1]; l++) {
        for (uint32_t i = 0; i < 2; i++) {
            if (site->ports_of[2 * (size_t)l + i] == MYR_NONE) {
                block(site, i ? old->link_b[l] : old->link_a[l], false, when);
            }
        }
    }
    for (uint32_t l = old->first_link[cable]; l < old->first_link[cable + 1]; l++) {
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t port = site->ports_of[2 * (size_t)l + i];
            if (port != MYR_NONE && site->held[port] == move && count < MYR_ARRAY_COUNT(freed)) {
                site->held[port] = MYR_NONE;
                site->free_at[port] = when;
                freed[count++] = port;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t link = design->port_link[freed[i]];
        if (link != MYR_NONE) {
            try_cable(site, design->link_cable[link]);
        }
    }
}

/* Does it if it is ready, once. Others are tried again when a port they wait for is free. */
static void try_cable(struct site *site, uint32_t cable)
{
    uint64_t ready = site->done[cable] ? UINT64_MAX : ready_at(site, cable);
    if (ready == UINT64_MAX) {
        return;
    }
    uint32_t move = site->move_of[cable];
    site->done[cable] = true;
    /* A splitter that stays, with a new leg to be plugged. */
    bool loose = move == MYR_NONE && site->growth->cable_from[cable] != MYR_NONE;
    enum install_action action = site->open[cable] || loose ? INSTALL_PLUG
                                 : move == MYR_NONE         ? INSTALL_PULL
                                                            : INSTALL_MOVE;
    uint64_t end = give(site, action, cable, ready);
    if (action == INSTALL_MOVE) {
        release(site, move, end);
    }
}

/* All that end at the device. */
static void try_cables(struct site *site, uint32_t device)
{
    const struct myr_design *design = site->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        if (design->port_link[p] != MYR_NONE) {
            try_cable(site, design->link_cable[design->port_link[p]]);
        }
    }
}

/*
 * What was there before: devices stand, cables that stay are done, others hold their ports. Times
 * are 0: all of that is there when work begins.
 */
static void begin(struct site *site, struct myr_arena *arena)
{
    const struct myr_growth *growth = site->growth;
    const struct myr_design *design = site->design, *old = growth->installed;
    site->stands = MYR_ARENA_NEW(arena, uint64_t, design->device_count);
    site->free_at = MYR_ARENA_NEW(arena, uint64_t, design->port_count);
    site->held = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    site->blocked = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    site->done = MYR_ARENA_NEW(arena, bool, design->cable_count);
    site->open = MYR_ARENA_NEW(arena, bool, design->cable_count);
    site->ports_of = MYR_ARENA_NEW(arena, uint32_t, 2 * (size_t)old->link_count);
    site->move_of = install_moves(growth, arena);
    for (uint32_t d = 0; d < design->device_count; d++) {
        site->stands[d] = growth->from[d] == MYR_NONE ? UINT64_MAX : 0;
    }
    for (uint32_t p = 0; p < design->port_count; p++) {
        site->held[p] = MYR_NONE;
    }
    for (uint32_t c = 0; c < design->cable_count; c++) {
        uint32_t from = growth->cable_from[c];
        uint32_t legs = design->first_link[c + 1] - design->first_link[c];
        /* A splitter that stays may get a host on a leg that hung loose. */
        site->done[c] = from != MYR_NONE && site->move_of[c] == MYR_NONE &&
                        legs == old->first_link[from + 1] - old->first_link[from];
    }
    for (uint32_t i = 0; i < growth->move_count; i++) {
        uint32_t cable = growth->moves[i].old_cable;
        for (uint32_t l = old->first_link[cable]; l < old->first_link[cable + 1]; l++) {
            for (uint32_t e = 0; e < 2; e++) {
                uint32_t port = hole(growth, e ? old->link_b[l] : old->link_a[l]);
                site->ports_of[2 * (size_t)l + e] = port;
                if (port != MYR_NONE) {
                    site->held[port] = i;
                } else {
                    block(site, e ? old->link_b[l] : old->link_a[l], true, 0);
                }
            }
        }
    }
}

/* Of the devices that have just come to stand, in their order. */
static void cable_kind(struct site *site, uint8_t kind, uint32_t first, uint32_t last)
{
    for (uint32_t d = first; d <= last; d++) {
        if (site->design->place[d].kind == kind) {
            try_cables(site, d);
        }
    }
}

/* Kind by kind, so that what is above stands before what is cabled to it. */
static void stand_all(struct site *site)
{
    static const uint8_t order[] = {
        MYR_DEVICE_CORE,   MYR_DEVICE_SPINE,          MYR_DEVICE_AGGREGATION, MYR_DEVICE_LEAF,
        MYR_DEVICE_ROUTER, MYR_DEVICE_ACCESS,         MYR_DEVICE_STORAGE,     MYR_DEVICE_MANAGEMENT,
        MYR_DEVICE_NODE,   MYR_DEVICE_FABRIC_MANAGER, MYR_DEVICE_PDU,         MYR_DEVICE_CDU};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(order); i++) {
        uint32_t first = 0, count = 0;
        for (uint32_t d = 0; d < site->design->device_count; d++) {
            bool here = site->design->place[d].kind == order[i];
            if (here && site->stands[d] == UINT64_MAX) {
                site->stands[d] = give(site, INSTALL_STAND, d, 0);
                first = count++ ? first : d;
            }
            /* One device a crew, then their cables: nobody waits for another. */
            if (count == site->crews || (count && d + 1 == site->design->device_count)) {
                cable_kind(site, order[i], first, d);
                count = 0;
            }
        }
    }
}

static int by_start(const void *left, const void *right)
{
    const struct install_task *a = left, *b = right;
    if (a->start_s != b->start_s) {
        return a->start_s < b->start_s ? -1 : 1;
    }
    return a->crew < b->crew ? -1 : a->crew > b->crew;
}

/* Left over, devices with their cables, then what still waits for ports. */
void install_plan(const struct myr_growth *growth, struct myr_grow_crews crews,
                  struct myr_arena *arena, struct install *ret)
{
    const struct myr_design *design = &growth->grown;
    struct site site = {.growth = growth,
                        .design = design,
                        .ret = ret,
                        .crews = crews.crews ? crews.crews : 1,
                        .cable_s = INSTALL_DAY_S / crews.cables_a_day,
                        .device_s = INSTALL_DAY_S / crews.devices_a_day};
    *ret = (struct install){};
    /* Each device once, each cable at most twice (unplug, plug), each left-over cable once. */
    size_t most =
        (size_t)design->device_count + 2 * (size_t)design->cable_count + growth->move_count;
    ret->tasks = MYR_ARENA_NEW(arena, struct install_task, most);
    site.crew_next = MYR_ARENA_NEW(arena, uint64_t, site.crews);
    begin(&site, arena);
    /* What is left over goes first: it may be in the way. */
    for (uint32_t i = 0; i < growth->move_count; i++) {
        if (growth->moves[i].cable == MYR_NONE) {
            release(&site, i, give(&site, INSTALL_REMOVE, i, 0));
        }
    }
    stand_all(&site);
    for (uint32_t c = 0; c < design->cable_count; c++) {
        try_cable(&site, c);
    }
    for (uint32_t c = 0; c < design->cable_count; c++) {
        if (!site.done[c]) { /* only circles are left: all stand, all that could come came */
            MYR_ASSERT(site.move_of[c] != MYR_NONE);
            site.open[c] = true;
            /* One of a circle is opened, and the others follow from it. */
            release(&site, site.move_of[c], give(&site, INSTALL_UNPLUG, c, 0));
            try_cable(&site, c);
        }
    }
    MYR_ASSERT(ret->count <= most);
    qsort(ret->tasks, ret->count, sizeof(*ret->tasks), by_start);
}
