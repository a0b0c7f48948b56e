#include "verify/identify.h"

/*
 * Which system the boxes of a type run: the one that reads the most of their ports' names, and of
 * several that do and disagree, the one that leaves the fewest cables unexplained, if it does so
 * clearly: any other one explains half as many at the most, or leaves twice as many. Names of ports
 * outside of the fabric (management) say nothing of it.
 */

struct learner {
    struct identify *identify;
    struct spelling *spelling;
    const struct myr_design *design;
    const struct myr_cabling *cabling;
    uint32_t *named;                             /* by type: ends whose name somebody reads */
    uint32_t (*read)[MYR_PORT_SYSTEMS_MAX];      /* by type and system: of these */
    uint32_t *asked;                             /* by type: cables that can confirm */
    uint32_t (*confirmed)[MYR_PORT_SYSTEMS_MAX]; /* by type and system */
};

/* The type of a switch that an end is at; MYR_NONE for hosts and for what is not known. */
static uint32_t switch_type(const struct learner *l, struct myr_cabling_end end)
{
    struct myr_port_span as = l->identify->devices[end.device];
    if (as.count == 0 || end.port.len == 0) {
        return MYR_NONE;
    }
    uint32_t type = l->design->device_type[l->design->port_device[as.first]];
    return l->spelling->boxes[type].host ? MYR_NONE : type;
}

static bool is_number(struct myr_str port)
{
    uint64_t number;
    return myr_str_to_u64(port, &number);
}

/* Names are few and ends are many: who reads a name is asked once, and weighed by its ends. */
static void count_name(const struct learner *l, struct myr_cabling_end end)
{
    uint32_t type = switch_type(l, end);
    if (type != MYR_NONE && !(l->cabling->numbered && is_number(end.port))) {
        spelling_of(l->spelling, type, end.port)->ends++;
    }
}

/* Names that every reader takes for a spare port say nothing about the fabric. */
static void count_readers(const struct learner *l, uint32_t type)
{
    const struct myr_strmap *words = &l->spelling->words[type];
    for (uint32_t w = 0; w < words->count; w++) {
        const struct spelled *spelled = &l->spelling->spelled.items[words->values[w]];
        uint32_t all = 0;
        bool fabric = false;
        for (uint32_t i = 0; i < spelled->count; i++) {
            all |= spelled->systems[i];
            fabric = fabric || spelled->index[i] != MYR_PORT_SPARE;
        }
        for (uint32_t s = 0; fabric && s < MYR_PORT_SYSTEMS_MAX; s++) {
            l->read[type][s] += all >> s & 1 ? spelled->ends : 0;
        }
        l->named[type] += fabric ? spelled->ends : 0;
    }
}

/* Slips of the pen are read by nobody, or by somebody who reads little else. */
static void keep_readers(const struct learner *l, uint32_t type)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
        most = l->read[type][s] > most ? l->read[type][s] : most;
    }
    for (uint32_t s = 0; most * 2 > l->named[type] && s < MYR_PORT_SYSTEMS_MAX; s++) {
        if (l->read[type][s] < most) {
            l->spelling->systems[type] &= ~(UINT32_C(1) << s);
        }
    }
}

/* Whether a name of this type still has several readings. */
static bool is_open(const struct learner *l, uint32_t type)
{
    const struct myr_strmap *words = &l->spelling->words[type];
    for (uint32_t i = 0; i < words->count; i++) {
        const struct spelled *spelled = &l->spelling->spelled.items[words->values[i]];
        uint32_t readings = 0;
        for (uint32_t r = 0; r < spelled->count; r++) {
            readings += (spelled->systems[r] & l->spelling->systems[type]) != 0;
        }
        if (readings > 1) {
            return true;
        }
    }
    return false;
}

/* The port that an end is when its box runs 'system'; other types have what they have. */
static uint32_t port_by(const struct learner *l, struct myr_cabling_end end, uint32_t type,
                        uint32_t system)
{
    struct myr_port_span as = l->identify->devices[end.device];
    if (switch_type(l, end) != type) {
        return identify_port(l->identify, end);
    }
    uint32_t index =
        spelling_read_by(spelling_of(l->spelling, type, end.port), UINT32_C(1) << system);
    return index == MYR_NONE || index == MYR_PORT_SPARE ? MYR_NONE : as.first + index;
}

/* The cable is asked once, and confirms each system by which both ends are as planned. */
static void ask(const struct learner *l, const struct myr_cabling_link *link, uint32_t type)
{
    bool a = switch_type(l, link->a) == type, b = switch_type(l, link->b) == type;
    bool asked = false;
    for (uint32_t s = 0; (a || b) && s < MYR_PORT_SYSTEMS_MAX; s++) {
        if (!(l->spelling->systems[type] >> s & 1)) {
            continue;
        }
        uint32_t near = port_by(l, link->a, type, s), far = port_by(l, link->b, type, s);
        asked = asked || (near != MYR_NONE && far != MYR_NONE);
        l->confirmed[type][s] +=
            near != MYR_NONE && far != MYR_NONE && myr_design_peer(l->design, near) == far;
    }
    l->asked[type] += asked;
}

/* Systems that are confirmed as often as the best one; none when that is not clear. */
static void choose(const struct learner *l, uint32_t type)
{
    /* Systems that read all names alike are confirmed alike, and all stay. */
    uint32_t best = 0, winners = 0;
    for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
        best = l->confirmed[type][s] > best ? l->confirmed[type][s] : best;
    }
    for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
        winners |= best && l->confirmed[type][s] == best ? UINT32_C(1) << s : 0;
    }
    /* The best of those that are not among the winners. */
    uint32_t next = 0;
    for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
        bool other = !(winners >> s & 1) && l->confirmed[type][s] > next;
        next = other ? l->confirmed[type][s] : next;
    }
    /* Two leaves that changed places are many cables: by either count it may be clear. */
    uint64_t asked = l->asked[type];
    bool clear = (uint64_t)next * 2 <= best || asked - next >= 2 * (asked - best);
    if (best && clear && (uint64_t)best * 2 >= asked) {
        l->spelling->systems[type] = winners;
        l->spelling->assumed[type] = 1;
    }
}

/* Called again whenever more switches are known. */
void identify_learn(struct identify *identify)
{
    struct learner l = {.identify = identify,
                        .spelling = identify->spelling,
                        .design = identify->design,
                        .cabling = identify->cabling};
    size_t types = (size_t)l.design->devtype_count + 1, links = l.cabling->links.count;
    /* Everything is possible again: more devices may be known than in an earlier look. */
    for (uint32_t t = 0; t < l.design->devtype_count; t++) {
        l.spelling->systems[t] = l.spelling->boxes[t].host ? 0 : UINT32_MAX;
    }
    for (size_t i = 0; i < l.spelling->spelled.count; i++) {
        l.spelling->spelled.items[i].ends = 0; /* of an earlier look, with fewer devices known */
    }
    l.named = MYR_ARENA_NEW(identify->arena, uint32_t, types);
    l.read = myr_arena_alloc(identify->arena, types, sizeof(*l.read));
    for (size_t i = 0; i < links; i++) {
        count_name(&l, l.cabling->links.items[i].a);
        count_name(&l, l.cabling->links.items[i].b);
    }
    l.asked = MYR_ARENA_NEW(identify->arena, uint32_t, types);
    l.confirmed = myr_arena_alloc(identify->arena, types, sizeof(*l.confirmed));
    for (uint32_t t = 0; t < l.design->devtype_count; t++) {
        count_readers(&l, t);
        keep_readers(&l, t);
        if (l.spelling->boxes[t].host || !is_open(&l, t)) {
            continue;
        }
        for (size_t i = 0; i < links; i++) {
            ask(&l, &l.cabling->links.items[i], t);
        }
        choose(&l, t);
    }
}
