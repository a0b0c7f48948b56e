#include "verify/anchor.h"

#include <stdlib.h>

/*
 * A guess is a found switch and a switch of the design. It is followed from neighbour to neighbour
 * by majorities, then all cables that can tell are asked. Found switches that few switches of the
 * design look like are tried first. What one part of the fabric has settled stays for the next.
 */

enum {
    SEEDS_LOOKED_AT = 32, /* found switches that may be the first one */
    SEEDS_TRIED = 4,      /* of these */
    CANDIDATES_MAX = 16,
    ROUNDS_MAX = 32,     /* of placing */
    REVISIONS_MAX = 4,   /* times that places are taken back */
    LEAST_CONFIRMED = 4, /* cables: fewer may be chance */
};

/* Ends looked at: a large site whose parts look alike is given up rather than searched for hours */
#define WORK_MAX UINT64_C(30000000)

struct anchor {
    const struct identify *identify;
    const struct myr_design *design;
    const struct myr_cabling *cabling;
    const struct found_ends *ends;
    const uint8_t *open; /* by found device: may be placed */
    uint32_t *base;      /* by found device: its device of the design, before the guess */
    uint32_t *place;     /* the same, with the guess */
    uint32_t *owner;     /* by device of the design: found device + 1 */
    uint64_t work;       /* ends looked at so far */
};

/* Confirmed of those asked: cables that can speak for or against it. */
struct guess {
    uint32_t *place; /* by found device */
    uint32_t confirmed, asked;
};

static bool is_host(const struct anchor *a, uint32_t device)
{
    return a->identify->spelling->boxes[a->design->device_type[device]].host;
}

/* The port of the design that an end is if its box is that device. */
static uint32_t port_of(struct anchor *a, struct myr_cabling_end end, uint32_t device)
{
    a->work++;
    return identify_port_as(a->identify, identity_of_device(a->design, device), end);
}

/* What the plan has at an end whose other end is at a placed switch. */
static uint32_t planned_at(struct anchor *a, uint32_t end)
{
    struct myr_cabling_end far = found_end(a->ends, end ^ 1);
    uint32_t device = a->place[far.device];
    /* Ports of hosts have no certain names yet: they tell nothing. */
    if (device == MYR_NONE || is_host(a, device)) {
        return MYR_NONE;
    }
    uint32_t port = port_of(a, far, device);
    return port == MYR_NONE ? MYR_NONE : myr_design_peer(a->design, port);
}

/* A switch of the design, and the cables that speak for it. */
struct choice {
    uint32_t device, votes;
};

struct ballot {
    uint32_t found;
    struct choice winner;
};

/*
 * Candidates beyond the first few are noise: a device has one switch at most of its cables' ends.
 */
static void vote(struct choice rows[CANDIDATES_MAX], uint32_t *count, uint32_t device)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (rows[i].device == device) {
            rows[i].votes++;
            return;
        }
    }
    if (*count < CANDIDATES_MAX) {
        rows[(*count)++] = (struct choice){device, 1};
    }
}

/*
 * The switch that more than half of a device's cables to placed switches say it is, both ends of
 * each read; 'free': that nobody else is.
 */
static struct choice elect(struct anchor *a, uint32_t found, bool free)
{
    struct choice rows[CANDIDATES_MAX], best = {MYR_NONE, 0};
    uint32_t count = 0, voters = 0;
    for (uint32_t i = a->ends->first[found]; i < a->ends->first[found + 1]; i++) {
        uint32_t end = a->ends->ends[i], planned = planned_at(a, end);
        if (planned == MYR_NONE) {
            continue;
        }
        /* Each cable to a placed switch is a voter, whether anybody gets its vote or not. */
        uint32_t device = a->design->port_device[planned];
        bool taken = free && a->owner[device] && a->owner[device] != found + 1;
        voters++;
        if (!is_host(a, device) && !taken &&
            port_of(a, found_end(a->ends, end), device) == planned) {
            vote(rows, &count, device);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        best = rows[i].votes > best.votes ? rows[i] : best;
    }
    return best.votes * 2 > voters ? best : (struct choice){MYR_NONE, 0};
}

/* Those who want one place stand together, the strongest first. */
static int compare_ballots(const void *left, const void *right)
{
    const struct ballot *a = left, *b = right;
    if (a->winner.device != b->winner.device) {
        return a->winner.device < b->winner.device ? -1 : 1;
    }
    if (a->winner.votes != b->winner.votes) {
        return a->winner.votes > b->winner.votes ? -1 : 1;
    }
    return a->found < b->found ? -1 : a->found > b->found;
}

static void put(struct anchor *a, uint32_t found, uint32_t device)
{
    MYR_ASSERT(a->place[found] == MYR_NONE && a->owner[device] == 0);
    a->place[found] = device;
    a->owner[device] = found + 1;
}

/* Places what its neighbours agree on; two with equal right to one place both wait. */
static bool place_round(struct anchor *a)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct ballot) ballots = {};
    bool placed = false;
    for (uint32_t d = 0; d < a->cabling->devices.count; d++) {
        if (a->open[d] && a->place[d] == MYR_NONE) {
            struct ballot ballot = {d, elect(a, d, true)};
            if (ballot.winner.votes) {
                myr_vec_push(&ballots, ballot);
            }
        }
    }
    if (ballots.count > 1) {
        qsort(ballots.items, ballots.count, sizeof(*ballots.items), compare_ballots);
    }
    for (size_t i = 0; i < ballots.count; i++) {
        /* Sorted: whoever wants the same place comes next. */
        struct choice one = ballots.items[i].winner;
        const struct choice *next = i + 1 < ballots.count ? &ballots.items[i + 1].winner : NULL;
        if (next && next->device == one.device && next->votes == one.votes) {
            i++; /* and the one that it ties with */
        } else if (!a->owner[one.device]) {
            put(a, ballots.items[i].found, one.device);
            placed = true;
        }
    }
    return placed;
}

/*
 * A device that was placed early, by few cables of which some are miscabled, may turn out to be
 * another one when all around it have their places: such are taken back.
 */
static bool take_back(struct anchor *a)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) wrong = {};
    /* Known names are never taken back, only what this guess placed. */
    for (uint32_t d = 0; d < a->cabling->devices.count; d++) {
        if (a->place[d] != a->base[d]) {
            struct choice best = elect(a, d, false);
            if (best.votes && best.device != a->place[d]) {
                myr_vec_push(&wrong, d);
            }
        }
    }
    /* All at once: the election of one must not see what became of another. */
    for (size_t i = 0; i < wrong.count; i++) {
        a->owner[a->place[wrong.items[i]]] = 0;
        a->place[wrong.items[i]] = MYR_NONE;
    }
    return wrong.count > 0;
}

/* Whether a cable can speak for or against the guess, and how it does. */
static void ask(struct anchor *a, const struct myr_cabling_link *link, struct guess *guess)
{
    const struct myr_cabling_end ends[] = {link->a, link->b};
    for (uint32_t side = 0; side < 2; side++) {
        struct myr_cabling_end own = ends[side], far = ends[!side];
        uint32_t device = a->place[own.device], there = a->place[far.device];
        bool fresh = device != a->base[own.device];
        if (!fresh || (side == 1 && there != a->base[far.device])) {
            continue; /* not of this guess, or asked from the other side */
        }
        uint32_t port = port_of(a, own, device);
        uint32_t planned = port == MYR_NONE ? MYR_NONE : myr_design_peer(a->design, port);
        uint32_t wanted = planned == MYR_NONE ? MYR_NONE : a->design->port_device[planned];
        if (there == MYR_NONE) { /* perhaps a host without a place; a switch should have one */
            guess->asked += wanted != MYR_NONE && !is_host(a, wanted);
            continue;
        }
        guess->asked++;
        /* Ports of hosts are not read yet: that the host is the right one is enough. */
        guess->confirmed +=
            wanted == there && (is_host(a, there) || port_of(a, far, there) == planned);
    }
}

/* From what is known and the seed, by majorities, until nothing more is placed. */
static void follow(struct anchor *a, uint32_t seed, uint32_t device, struct guess *ret)
{
    memcpy(a->place, a->base, a->cabling->devices.count * sizeof(uint32_t));
    memset(a->owner, 0, a->design->device_count * sizeof(uint32_t));
    for (uint32_t d = 0; d < a->cabling->devices.count; d++) {
        if (a->place[d] != MYR_NONE) {
            a->owner[a->place[d]] = d + 1;
        }
    }
    put(a, seed, device);
    uint32_t revisions = 0;
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        if (!place_round(a) && (revisions++ == REVISIONS_MAX || !take_back(a))) {
            break;
        }
    }
    ret->asked = ret->confirmed = 0;
    for (uint32_t i = 0; i < a->cabling->links.count; i++) {
        ask(a, &a->cabling->links.items[i], ret);
    }
}

/* Cables of a found device that lead as the plan has them if it is that switch. */
static uint32_t fits_alone(struct anchor *a, uint32_t found, uint32_t device)
{
    uint32_t fits = 0;
    for (uint32_t i = a->ends->first[found]; i < a->ends->first[found + 1]; i++) {
        uint32_t end = a->ends->ends[i], port = port_of(a, found_end(a->ends, end), device);
        uint32_t planned = port == MYR_NONE ? MYR_NONE : myr_design_peer(a->design, port);
        uint32_t there = planned == MYR_NONE ? MYR_NONE : a->design->port_device[planned];
        struct myr_cabling_end far = found_end(a->ends, end ^ 1);
        /* A neighbour that is known to be another device speaks against it. */
        bool other = a->base[far.device] != MYR_NONE && a->base[far.device] != there;
        fits +=
            there != MYR_NONE && !is_host(a, there) && !other && port_of(a, far, there) == planned;
    }
    return fits;
}

struct seed {
    uint32_t found, most, candidates;
};

/* Switches whose names are known are not guessed at. */
static bool is_candidate(const struct anchor *a, uint32_t device, const uint8_t *known)
{
    return !is_host(a, device) && !known[device];
}

/* How many switches of the design a found one may be, by its own cables. */
static struct seed look_at(struct anchor *a, uint32_t found, const uint8_t *known, uint32_t *fits)
{
    struct seed seed = {found, 0, 0};
    for (uint32_t d = 0; d < a->design->device_count && a->work < WORK_MAX; d++) {
        /* Work that is used up leaves the rest at what it was: such a guess is given up later. */
        fits[d] = is_candidate(a, d, known) ? fits_alone(a, found, d) : 0;
        seed.most = fits[d] > seed.most ? fits[d] : seed.most;
    }
    for (uint32_t d = 0; d < a->design->device_count; d++) {
        seed.candidates += fits[d] && fits[d] * 2 >= seed.most;
    }
    return seed;
}

/* Few candidates first, then many cables; the same input gives the same order. */
static int compare_seeds(const void *left, const void *right)
{
    const struct seed *a = left, *b = right;
    if (a->candidates != b->candidates) {
        return a->candidates < b->candidates ? -1 : 1;
    }
    if (a->most != b->most) {
        return a->most > b->most ? -1 : 1;
    }
    return a->found < b->found ? -1 : a->found > b->found;
}

/* Found devices with many cables, from all over the list; the ones that look most special first. */
static uint32_t find_seeds(struct anchor *a, const uint8_t *known, uint32_t *fits,
                           struct seed ret[SEEDS_LOOKED_AT])
{
    uint32_t most = 0, many = 0, count = 0, at = 0;
    for (uint32_t d = 0; d < a->cabling->devices.count; d++) {
        uint32_t cables = a->ends->first[d + 1] - a->ends->first[d];
        most = a->open[d] && a->base[d] == MYR_NONE && cables > most ? cables : most;
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        /* Counted in the first pass, so that the second takes them from all over the list. */
        uint32_t step = many / SEEDS_LOOKED_AT + 1;
        for (uint32_t d = 0; d < a->cabling->devices.count && most; d++) {
            uint32_t cables = a->ends->first[d + 1] - a->ends->first[d];
            if (!a->open[d] || a->base[d] != MYR_NONE || cables * 2 < most) {
                continue;
            }
            /* The first pass only counts. */
            many += pass == 0;
            if (pass == 1 && at++ % step == 0 && count < SEEDS_LOOKED_AT) {
                struct seed seed = look_at(a, d, known, fits);
                ret[count] = seed;
                count += seed.candidates > 0;
            }
        }
    }
    if (count > 1) {
        qsort(ret, count, sizeof(*ret), compare_seeds);
    }
    return count;
}

/* Whether two guesses say different things of one device. */
static bool contradict(const struct anchor *a, const uint32_t *one, const uint32_t *other)
{
    for (uint32_t d = 0; d < a->cabling->devices.count; d++) {
        if (one[d] != other[d] && one[d] != MYR_NONE && other[d] != MYR_NONE) {
            return true;
        }
    }
    return false;
}

/* The best guess so far, and how many cables confirm the best one that contradicts it. */
struct contest {
    struct guess best;
    uint32_t next; /* cables that confirm it */
};

/*
 * Only guesses that contradict the best one count against it: others may say the same by another
 * way.
 */
static void compare_guess(const struct anchor *a, struct contest *contest, struct guess guess)
{
    bool other = contest->best.confirmed && contradict(a, a->place, contest->best.place);
    if (guess.confirmed > contest->best.confirmed) {
        contest->next = other ? contest->best.confirmed : contest->next;
        contest->best.confirmed = guess.confirmed;
        contest->best.asked = guess.asked;
        memcpy(contest->best.place, a->place, a->cabling->devices.count * sizeof(uint32_t));
    } else if (other && guess.confirmed > contest->next) {
        contest->next = guess.confirmed;
    }
}

/* By one system's names of ports; the contest goes on over all systems. */
static void try_system(struct anchor *a, const uint8_t *known, uint32_t *fits,
                       struct contest *contest)
{
    /* Several seeds: the first one may be miscabled itself. */
    struct seed seeds[SEEDS_LOOKED_AT];
    uint32_t count = find_seeds(a, known, fits, seeds);
    for (uint32_t s = 0; s < count && s < SEEDS_TRIED; s++) {
        struct seed again = look_at(a, seeds[s].found, known, fits);
        for (uint32_t d = 0; d < a->design->device_count; d++) {
            struct guess guess;
            /* Half of what the best has: miscabled plugs may cost the right one some. */
            if (!fits[d] || fits[d] * 2 < again.most) {
                continue;
            }
            if (a->work >= WORK_MAX) {
                contest->next = UINT32_MAX / 2; /* not all were tried: none is known to be best */
                return;
            }
            follow(a, again.found, d, &guess);
            compare_guess(a, contest, guess);
        }
    }
}

/* One part of the fabric that hangs together. */
static bool place_part(struct anchor *a)
{
    struct myr_arena *arena = a->identify->arena;
    struct spelling *spelling = a->identify->spelling;
    size_t devices = (size_t)a->design->device_count + 1;
    uint8_t *known = MYR_ARENA_NEW(arena, uint8_t, devices);
    uint32_t *fits = MYR_ARENA_NEW(arena, uint32_t, devices);
    /* Known places stay known; whatever is placed here becomes known to the next part. */
    struct contest contest = {.best.place =
                                  MYR_ARENA_NEW(arena, uint32_t, a->cabling->devices.count)};
    for (uint32_t d = 0; d < a->cabling->devices.count; d++) {
        if (a->base[d] != MYR_NONE) {
            known[a->base[d]] = 1;
        }
    }
    /* InfiniBand's numbers are the same under all systems. */
    size_t systems = a->cabling->numbered ? 1 : spelling->names->systems.count;
    /* Each system reads the ports otherwise; the wrong ones confirm little. */
    for (uint32_t s = 0; s < systems; s++) {
        for (uint32_t t = 0; t < a->design->devtype_count; t++) {
            spelling->systems[t] = spelling->boxes[t].host ? 0 : UINT32_C(1) << s;
        }
        try_system(a, known, fits, &contest);
    }
    const struct guess *best = &contest.best;
    /* Too few, or not twice as many as speak for another one or against it: nothing is placed. */
    if (best->confirmed < LEAST_CONFIRMED || (uint64_t)contest.next * 2 > best->confirmed ||
        best->confirmed < 2 * (uint64_t)(best->asked - best->confirmed)) {
        return false;
    }
    memcpy(a->base, best->place, a->cabling->devices.count * sizeof(uint32_t));
    return true;
}

uint32_t *anchor_switches(const struct identify *identify, const struct found_ends *ends,
                          const uint8_t *open)
{
    struct myr_arena *arena = identify->arena;
    const struct myr_design *design = identify->design;
    size_t count = identify->cabling->devices.count + 1;
    size_t types = (size_t)design->devtype_count + 1;
    uint32_t *ret = MYR_ARENA_NEW(arena, uint32_t, count);
    uint32_t *systems = MYR_ARENA_NEW(arena, uint32_t, types);
    struct anchor a = {.identify = identify,
                       .design = design,
                       .cabling = identify->cabling,
                       .ends = ends,
                       .open = open,
                       .base = MYR_ARENA_NEW(arena, uint32_t, count),
                       .place = MYR_ARENA_NEW(arena, uint32_t, count),
                       .owner = MYR_ARENA_NEW(arena, uint32_t, design->device_count)};
    /* Guesses try systems out; the spelling gets its own back at the end. */
    memcpy(systems, identify->spelling->systems, types * sizeof(uint32_t));
    for (uint32_t d = 0; d < identify->cabling->devices.count; d++) {
        struct myr_port_span known = identify->devices[d];
        a.base[d] = known.count ? design->port_device[known.first] : identify->nodes[d];
    }
    uint32_t parts = 0;
    while (parts < design->device_count && place_part(&a)) {
        parts++;
    }
    for (uint32_t d = 0; d < identify->cabling->devices.count; d++) {
        bool placed = open[d] && a.base[d] != MYR_NONE && !is_host(&a, a.base[d]);
        ret[d] = placed && identify->nodes[d] == MYR_NONE ? a.base[d] : MYR_NONE;
    }
    memcpy(identify->spelling->systems, systems, types * sizeof(uint32_t));
    return ret;
}
