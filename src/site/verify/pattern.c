#include "verify/pattern.h"

#include <stdlib.h>

#include "repair/repair.h"

/*
 * The home of a port is where the cable in it belongs, by its far end. Each finder below looks for
 * one rule between ports and homes, marks what it explains, and leaves the rest to the next.
 */

const char *const myr_pattern_kind_names[MYR_PATTERN_KIND_COUNT] = {
    "cage-halves-swapped", "bundle-shifted", "leaf-pair-exchanged",   "devices-exchanged",
    "rails-permuted",      "rack-rotated",   "splitter-legs-crossed", "bundle-reversed"};

/* Plugs that make a bundle, gaps in it that were not moved, and devices named in a text. */
enum { BUNDLE_MIN = 3, BUNDLE_GAP_MAX = 2, NAMES_SHOWN = 4 };

/* Cables of one device's port group that belong to the same places of another device. */
struct displaced {
    uint32_t device, home; /* it has the cables of 'home' */
    uint32_t group;        /* of ports, in the type */
    uint32_t count;        /* of cables */
};

struct finder {
    struct myr_verify *verify;
    const struct myr_design *design;
    uint8_t *explained; /* by port */
    uint32_t *home;     /* by device: whose cables it has; MYR_NONE */
    uint8_t *renamed;   /* by device: its name is that of a host which stands elsewhere */
    MYR_VEC(struct displaced) displaced;
    MYR_VEC(struct myr_pattern) patterns;
    MYR_VEC(uint32_t) chain; /* devices */
    struct myr_buf where;    /* text of the pattern at hand */
};

/* Where the cable in a wrong port belongs, by its far end; MYR_NONE when that end is planned
 * nowhere. */
static uint32_t home_of(const struct myr_verify *verify, uint32_t port)
{
    uint32_t far = verify->found[port];
    if (far == MYR_NONE || verify->plan[port] == far) {
        return MYR_NONE;
    }
    return verify->plan[far];
}

/* The same index on a device of the same type is the same place. */
static uint32_t index_of(const struct myr_design *design, uint32_t port)
{
    return port - design->first_port[design->port_device[port]];
}

static uint32_t group_index(const struct myr_design *design, uint32_t port)
{
    const struct myr_devtype *type =
        &design->devtypes[design->device_type[design->port_device[port]]];
    return (uint32_t)(myr_design_port_group(design, port) - type->groups);
}

/* Marks the cable in the port as explained; how many ports that are wrong are new. */
static uint32_t explain(struct finder *finder, uint32_t port)
{
    const struct myr_verify *verify = finder->verify;
    const uint32_t ends[] = {port, verify->found[port]};
    uint32_t marked = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        if (ends[i] < finder->design->port_count && !finder->explained[ends[i]]) {
            finder->explained[ends[i]] = 1;
            marked += verify->state[ends[i]] == MYR_STATE_WRONG;
        }
    }
    return marked;
}

/* Takes the text in 'where'. */
static void add_pattern(struct finder *finder, enum myr_pattern_kind kind, uint32_t ports)
{
    struct myr_pattern pattern = {.kind = kind, .ports = ports};
    if (ports == 0) { /* what it would explain has a name already */
        myr_buf_clear(&finder->where);
        return;
    }
    pattern.where.len = finder->where.len;
    pattern.where.data =
        myr_arena_strndup(finder->verify->arena, finder->where.data, finder->where.len);
    myr_vec_push(&finder->patterns, pattern);
    myr_buf_clear(&finder->where);
}

/* Rows of one device and group stand together, and equal ones are counted. */
static int compare_displaced(const void *left, const void *right)
{
    const struct displaced *a = left, *b = right;
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    return a->home < b->home ? -1 : a->home > b->home;
}

static void collect_displaced(struct finder *finder)
{
    const struct myr_design *design = finder->design;
    for (uint32_t p = 0; p < design->port_count; p++) {
        uint32_t home =
            finder->verify->state[p] == MYR_STATE_WRONG ? home_of(finder->verify, p) : MYR_NONE;
        if (home == MYR_NONE) {
            continue;
        }
        uint32_t device = design->port_device[p], home_device = design->port_device[home];
        /* Only whole places count: the same index on another device of the same type. */
        if (device == home_device || index_of(design, p) != index_of(design, home) ||
            design->device_type[device] != design->device_type[home_device]) {
            continue;
        }
        struct displaced row = {device, home_device, group_index(design, p), 1};
        myr_vec_push(&finder->displaced, row);
    }
    if (finder->displaced.count > 1) {
        qsort(finder->displaced.items, finder->displaced.count, sizeof(*finder->displaced.items),
              compare_displaced);
    }
    size_t kept = 0;
    for (size_t i = 0; i < finder->displaced.count; i++) {
        struct displaced *rows = finder->displaced.items;
        if (kept > 0 && compare_displaced(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].count++;
        } else {
            rows[kept++] = rows[i];
        }
    }
    finder->displaced.count = kept;
}

/* Cables that the plan has there: the half of these decides. */
static uint32_t planned_in_group(const struct finder *finder, uint32_t device, uint32_t group_id)
{
    const struct myr_design *design = finder->design;
    const struct myr_port_group *group =
        &design->devtypes[design->device_type[device]].groups[group_id];
    uint32_t first = design->first_port[device] + group->first, planned = 0;
    for (uint32_t p = first; p < first + group->count; p++) {
        planned += finder->verify->plan[p] != MYR_NONE;
    }
    return planned;
}

/* A device has another one's cables when more than half of a port group says so. */
static void fill_homes(struct finder *finder)
{
    uint32_t best = 0, best_device = MYR_NONE;
    for (size_t i = 0; i < finder->displaced.count; i++) {
        const struct displaced *row = &finder->displaced.items[i];
        uint32_t planned = planned_in_group(finder, row->device, row->group);
        /* Rows are sorted by device: a new one begins. */
        if (row->device != best_device) {
            best = 0;
            best_device = row->device;
        }
        if (row->count >= 2 && row->count * 2 > planned && row->count > best) {
            best = row->count;
            finder->home[row->device] = row->home;
        }
    }
}

/* Ports that would be wrong if the names of the hosts were to stay. */
static uint32_t count_renamed(const struct finder *finder, uint32_t place)
{
    const struct myr_design *design = finder->design;
    uint32_t ports = 0;
    for (uint32_t p = design->first_port[place]; p < design->first_port[place + 1]; p++) {
        ports += finder->verify->found[p] != MYR_NONE ? 2 : 0;
    }
    return ports;
}

static uint32_t explain_device(struct finder *finder, uint32_t device)
{
    const struct myr_design *design = finder->design;
    uint32_t ports = 0;
    if (finder->renamed[device]) {
        return count_renamed(finder, finder->home[device]);
    }
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t home = home_of(finder->verify, p);
        if (home != MYR_NONE && design->port_device[home] == finder->home[device] &&
            index_of(design, p) == index_of(design, home)) {
            ports += explain(finder, p);
        }
    }
    return ports;
}

/* Long chains are cut short: the count says the rest. */
static void put_devices(struct finder *finder)
{
    for (size_t i = 0; i < finder->chain.count; i++) {
        if (i == NAMES_SHOWN - 1 && finder->chain.count > NAMES_SHOWN) {
            myr_buf_printf(&finder->where, ", ... %zu devices", finder->chain.count);
            return;
        }
        myr_buf_puts(&finder->where, i ? ", " : "");
        myr_design_name(finder->design, finder->chain.items[i], &finder->where);
    }
}

/* Two are exchanged; more that stand side by side were set up one place off. */
static enum myr_pattern_kind kind_of_chain(const struct finder *finder)
{
    const uint32_t *devices = finder->chain.items;
    if (finder->chain.count == 2) {
        return finder->design->place[devices[0]].kind == MYR_DEVICE_LEAF
                   ? MYR_PATTERN_LEAF_PAIR_EXCHANGED
                   : MYR_PATTERN_DEVICES_EXCHANGED;
    }
    for (size_t i = 1; i < finder->chain.count; i++) {
        if (repair_distance(finder->design, devices[i - 1], devices[i]) > 1) {
            return MYR_PATTERN_DEVICES_EXCHANGED;
        }
    }
    return MYR_PATTERN_RACK_ROTATED;
}

/* Whether all of the device's cables went with it, as far as most of its ports tell. */
static bool moved_whole(const struct finder *finder, uint32_t device)
{
    const struct myr_design *design = finder->design;
    uint32_t planned = 0, moved = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t home = home_of(finder->verify, p);
        planned += finder->verify->plan[p] != MYR_NONE;
        moved += home != MYR_NONE && design->port_device[home] == finder->home[device] &&
                 index_of(design, p) == index_of(design, home);
    }
    MYR_ASSERT(moved <= design->first_port[device + 1] - design->first_port[device]);
    return moved * 2 >
           planned; /* fewer cables are left unexplained; plugs may be wrong in their own way */
}

/* Devices that only need each other's names. */
static void note_renames(struct finder *finder)
{
    for (size_t i = 0; i < finder->chain.count; i++) {
        if (!moved_whole(finder, finder->chain.items[i])) {
            return;
        }
    }
    for (size_t i = 0; i < finder->chain.count; i++) {
        uint32_t device = finder->chain.items[i];
        finder->verify->renames[device] = finder->home[device];
    }
    finder->verify->relabel_devices += (uint32_t)finder->chain.count;
}

/* The chain of devices that have each other's cables, from 'start' on; true when it closes. */
static bool follow_homes(struct finder *finder, uint32_t start, uint8_t *visited)
{
    finder->chain.count = 0;
    for (uint32_t d = start; d != MYR_NONE; d = finder->home[d]) {
        if (visited[d]) {
            return d == start && finder->chain.count > 0;
        }
        visited[d] = 1;
        myr_vec_push(&finder->chain, d);
        MYR_ASSERT(finder->chain.count <= finder->design->device_count);
    }
    return false;
}

/* Whether the cables of a pair of devices meet again in one cage: then two plugs were swapped. */
static bool meets_in_one_cage(const struct finder *finder)
{
    const struct myr_design *design = finder->design;
    uint32_t device = finder->chain.items[0], far_device = MYR_NONE, far_cage = MYR_NONE;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t home = home_of(finder->verify, p);
        if (home == MYR_NONE || design->port_device[home] != finder->home[device]) {
            continue;
        }
        uint32_t far = finder->verify->found[p];
        if (far >= design->port_count) {
            return false;
        }
        uint32_t cage = myr_design_port_cage(design, far);
        bool same =
            far_device == MYR_NONE || (far_device == design->port_device[far] && far_cage == cage);
        far_device = design->port_device[far];
        far_cage = cage;
        if (!same) {
            return false;
        }
    }
    return far_device != MYR_NONE;
}

/* Two devices must have each other's cables; more may be a row that runs out at its end. */
static void find_displaced(struct finder *finder)
{
    uint32_t devices = finder->design->device_count;
    MYR_CLEANUP(myr_free_at) uint8_t *visited = myr_xcalloc((size_t)devices + 1, 1);
    MYR_CLEANUP(myr_free_at) uint8_t *is_home = myr_xcalloc((size_t)devices + 1, 1);
    collect_displaced(finder);
    fill_homes(finder);
    for (uint32_t i = 0; i < finder->verify->renamed_count; i++) {
        const struct myr_renamed *row = &finder->verify->renamed[i];
        if (row->called != MYR_NONE) {
            finder->home[row->called] = row->is;
            finder->renamed[row->called] = 1;
        }
    }
    for (uint32_t d = 0; d < devices; d++) {
        if (finder->home[d] != MYR_NONE) {
            is_home[finder->home[d]] = 1;
        }
    }
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t d = 0; d < devices; d++) {
            /* Rows first, from their beginning: what is left are circles. */
            if (visited[d] || finder->home[d] == MYR_NONE || (round == 0 && is_home[d])) {
                continue;
            }
            bool closed = follow_homes(finder, d, visited);
            bool pair = finder->chain.count == 2;
            if (finder->chain.count < 2 || (pair && (!closed || meets_in_one_cage(finder)))) {
                continue;
            }
            uint32_t ports = 0;
            for (size_t i = 0; i < finder->chain.count; i++) {
                uint32_t device = finder->chain.items[i];
                ports += finder->home[device] == MYR_NONE ? 0 : explain_device(finder, device);
            }
            /*
             * An open row ends at a device that has nobody's cables: names alone cannot put it
             * right.
             */
            if (closed && !finder->renamed[finder->chain.items[0]]) {
                note_renames(finder);
            }
            put_devices(finder);
            add_pattern(finder, kind_of_chain(finder), ports);
        }
    }
}

/* Ports of one cage, or legs of one connector, that have each other's cables. */
static void find_swaps(struct finder *finder)
{
    const struct myr_design *design = finder->design;
    uint64_t last_place = UINT64_MAX; /* device and cage of the newest pattern of this kind */
    for (uint32_t p = 0; p < design->port_count; p++) {
        /* Each pair once, at its lower port. */
        uint32_t home = finder->verify->state[p] == MYR_STATE_WRONG && !finder->explained[p]
                            ? home_of(finder->verify, p)
                            : MYR_NONE;
        if (home == MYR_NONE || home <= p || home_of(finder->verify, home) != p ||
            design->port_device[home] != design->port_device[p] ||
            group_index(design, home) != group_index(design, p)) {
            continue;
        }
        const struct myr_port_group *group = myr_design_port_group(design, p);
        uint32_t at = index_of(design, p) - group->first,
                 to = index_of(design, home) - group->first;
        if (at / group->per_cage != to / group->per_cage) {
            continue;
        }
        bool legs = at / group->per_connector == to / group->per_connector;
        enum myr_pattern_kind kind =
            legs ? MYR_PATTERN_SPLITTER_LEGS_CROSSED : MYR_PATTERN_CAGE_HALVES_SWAPPED;
        uint64_t place = (uint64_t)design->port_device[p] << 32 |
                         (legs ? at / group->per_connector : at / group->per_cage) << 1 | legs;
        uint32_t ports = explain(finder, p) + explain(finder, home);
        /* Several pairs of one cage or connector are one mistake. */
        if (place == last_place) {
            MYR_ASSERT(finder->patterns.count > 0);
            finder->patterns.items[finder->patterns.count - 1].ports += ports;
            continue;
        }
        last_place = place;
        myr_verify_port_name(finder->verify, p, &finder->where);
        myr_buf_put_lit(&finder->where, " and ");
        myr_design_port_name(design, home, &finder->where);
        add_pattern(finder, kind, ports);
    }
}

/* The cable in the port belongs to another NIC of the same host. */
static bool is_cross_rail(const struct finder *finder, uint32_t port)
{
    const struct myr_design *design = finder->design;
    if (finder->explained[port] || finder->verify->state[port] != MYR_STATE_WRONG) {
        return false;
    }
    uint32_t home = home_of(finder->verify, port);
    return home != MYR_NONE && design->port_device[home] == design->port_device[port] &&
           myr_design_port_group(design, port)->role == MYR_PORT_NIC;
}

/* NICs of one host that have each other's cables. */
static void find_rails(struct finder *finder)
{
    const struct myr_design *design = finder->design;
    for (uint32_t d = 0; d < design->device_count; d++) {
        uint32_t count = 0, ports = 0;
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            count += is_cross_rail(finder, p);
        }
        /* One cable that belongs to another NIC is no exchange. */
        if (count < 2) {
            continue;
        }
        myr_design_name(design, d, &finder->where);
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            if (is_cross_rail(finder, p)) {
                myr_buf_putc(&finder->where, ' ');
                myr_design_port_name(design, p, &finder->where);
                ports += explain(finder, p);
            }
        }
        add_pattern(finder, MYR_PATTERN_RAILS_PERMUTED, ports);
    }
}

/* Whether the cable in the port belongs 'shift' ports further on in the same group. */
static bool is_shifted(const struct finder *finder, uint32_t port, int32_t shift)
{
    if (finder->verify->state[port] != MYR_STATE_WRONG || finder->explained[port]) {
        return false;
    }
    uint32_t home = home_of(finder->verify, port);
    return home != MYR_NONE && home == port + (uint32_t)shift &&
           finder->design->port_device[home] == finder->design->port_device[port] &&
           group_index(finder->design, home) == group_index(finder->design, port);
}

/* Names the run, and explains with it what went round from its one end to the other. */
static void name_bundle(struct finder *finder, uint32_t first, uint32_t last, int32_t shift)
{
    const struct myr_design *design = finder->design;
    uint32_t device = design->port_device[first], ports = 0;
    const struct myr_port_group *group = myr_design_port_group(design, first);
    uint32_t reach = (uint32_t)(shift < 0 ? -shift : shift);
    uint32_t group_first = design->first_port[device] + group->first;
    uint32_t low = first >= group_first + reach ? first - reach : group_first;
    uint32_t high =
        last + reach < group_first + group->count ? last + reach : group_first + group->count - 1;
    for (uint32_t p = low; p <= high; p++) {
        uint32_t home = home_of(finder->verify, p);
        if (home != MYR_NONE && home >= low && home <= high && !finder->explained[p]) {
            ports += explain(finder, p);
        }
    }
    myr_verify_port_name(finder->verify, first, &finder->where);
    myr_buf_put_lit(&finder->where, " to ");
    myr_design_port_name(design, last, &finder->where);
    myr_buf_printf(&finder->where, ", by %d", -shift);
    add_pattern(finder, MYR_PATTERN_BUNDLE_SHIFTED, ports);
}

/* Runs of plugs that all belong equally far away; a few right ones may be between. */
static void find_bundles_in(struct finder *finder, uint32_t first, uint32_t count, int32_t shift)
{
    uint32_t run_first = MYR_NONE, run_last = 0, run_count = 0;
    for (uint32_t p = first; p <= first + count; p++) {
        bool shifted = p < first + count && is_shifted(finder, p, shift);
        bool breaks = p == first + count || (run_count && p - run_last > BUNDLE_GAP_MAX + 1);
        if (breaks && run_count >= BUNDLE_MIN) {
            name_bundle(finder, run_first, run_last, shift);
        }
        run_count = breaks ? 0 : run_count;
        if (shifted) {
            run_first = run_count ? run_first : p;
            run_last = p;
            run_count++;
        }
    }
}

/* Whether the cable in the port belongs to the one that mirrors it between 'low' and 'high'. */
static bool is_mirrored(const struct finder *finder, uint32_t port, uint32_t sum)
{
    if (finder->verify->state[port] != MYR_STATE_WRONG || finder->explained[port]) {
        return false;
    }
    return home_of(finder->verify, port) == sum - port;
}

/* Neighbouring plugs from 'first' on that stand in reverse; the middle one may be right. */
static void find_reversed_in(struct finder *finder, uint32_t first, uint32_t count)
{
    for (uint32_t low = first; low + 1 < first + count; low++) {
        uint32_t home = finder->verify->state[low] == MYR_STATE_WRONG && !finder->explained[low]
                            ? home_of(finder->verify, low)
                            : MYR_NONE;
        if (home == MYR_NONE || home <= low || home >= first + count) {
            continue;
        }
        uint32_t sum = low + home, mirrored = 0, ports = 0;
        for (uint32_t p = low; p <= home; p++) {
            mirrored += is_mirrored(finder, p, sum) || 2 * p == sum;
        }
        if (home - low + 1 < BUNDLE_MIN + 1 || mirrored < home - low + 1) {
            continue; /* all of them, and more than an exchange of two */
        }
        for (uint32_t p = low; p <= home; p++) {
            ports += 2 * p == sum ? 0 : explain(finder, p);
        }
        myr_verify_port_name(finder->verify, low, &finder->where);
        myr_buf_put_lit(&finder->where, " to ");
        myr_design_port_name(finder->design, home, &finder->where);
        add_pattern(finder, MYR_PATTERN_BUNDLE_REVERSED, ports);
    }
}

/* A bundle moves by one port, or by one cage. Hosts have rails instead. */
static void find_bundles(struct finder *finder)
{
    const struct myr_design *design = finder->design;
    for (uint32_t d = 0; d < design->device_count; d++) {
        const struct myr_devtype *type = &design->devtypes[design->device_type[d]];
        for (uint32_t g = 0; g < type->group_count; g++) {
            const struct myr_port_group *group = &type->groups[g];
            if (group->role == MYR_PORT_NIC || group->count < BUNDLE_MIN) {
                continue;
            }
            const int32_t shifts[] = {1, -1, group->per_cage, -(int32_t)group->per_cage};
            uint32_t shift_count = group->per_cage > 1 ? 4 : 2;
            for (uint32_t s = 0; s < shift_count; s++) {
                find_bundles_in(finder, design->first_port[d] + group->first, group->count,
                                shifts[s]);
            }
        }
    }
}

static void find_reversed(struct finder *finder)
{
    const struct myr_design *design = finder->design;
    for (uint32_t d = 0; d < design->device_count; d++) {
        const struct myr_devtype *type = &design->devtypes[design->device_type[d]];
        for (uint32_t g = 0; g < type->group_count; g++) {
            const struct myr_port_group *group = &type->groups[g];
            if (group->role != MYR_PORT_NIC) {
                find_reversed_in(finder, design->first_port[d] + group->first, group->count);
            }
        }
    }
}

/* The one that explains most comes first; ties by kind and text, never by address. */
static int compare_patterns(const void *left, const void *right)
{
    const struct myr_pattern *a = left, *b = right;
    if (a->ports != b->ports) {
        return a->ports > b->ports ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return myr_str_cmp(a->where, b->where);
}

static void finder_done(struct finder *finder)
{
    myr_vec_done(&finder->displaced);
    myr_vec_done(&finder->patterns);
    myr_vec_done(&finder->chain);
    myr_buf_done(&finder->where);
}

void pattern_find(struct myr_verify *verify)
{
    MYR_CLEANUP(finder_done) struct finder finder = {.verify = verify, .design = verify->design};
    finder.explained = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->port_count);
    finder.home = MYR_ARENA_NEW(verify->arena, uint32_t, verify->design->device_count);
    memset(finder.home, 0xFF, verify->design->device_count * sizeof(uint32_t));
    finder.renamed = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->device_count);
    verify->renames = MYR_ARENA_NEW(verify->arena, uint32_t, verify->design->device_count);
    memset(verify->renames, 0xFF, verify->design->device_count * sizeof(uint32_t));
    /* From the largest cause to the smallest: a port that one explains is not asked again. */
    find_displaced(&finder);
    find_reversed(&finder);
    find_swaps(&finder);
    find_rails(&finder);
    find_bundles(&finder);
    verify->pattern_count = (uint32_t)finder.patterns.count;
    verify->patterns = MYR_ARENA_NEW(verify->arena, struct myr_pattern, finder.patterns.count);
    if (finder.patterns.count) {
        qsort(finder.patterns.items, finder.patterns.count, sizeof(*finder.patterns.items),
              compare_patterns);
        memcpy(verify->patterns, finder.patterns.items,
               finder.patterns.count * sizeof(*verify->patterns));
    }
}
