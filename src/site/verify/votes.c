#include <stdlib.h>

#include "verify/structure.h"

/* A cable to a known port says which device the plan has at its other end, and on which port. */

/* Places that the cables of one device may speak for; more are noise. */
enum { CANDIDATES_MAX = 16 };

/* What the found device is if its cable belongs into that port; in InfiniBand kinds must agree. */
static struct myr_port_span candidate_at(const struct structure *s, uint32_t found, uint32_t port)
{
    /* A NIC cannot be a switch, whatever its cable says. */
    bool nic = identify_is_nic(s->identify, found);
    if (s->cabling->numbered && nic != structure_is_host(s->design, port)) {
        return (struct myr_port_span){0, 0};
    }
    return nic ? (struct myr_port_span){port, 1}
               : identity_of_device(s->design, s->design->port_device[port]);
}

struct candidate {
    struct myr_port_span identity;
    uint32_t votes;
};

struct election {
    struct candidate rows[CANDIDATES_MAX];
    uint32_t count;  /* of candidates */
    uint32_t voters; /* cables to ports that have a plan */
};

/* The first port tells the identity: spans of one kind do not overlap. */
static void vote(struct election *election, struct myr_port_span identity)
{
    for (uint32_t i = 0; i < election->count; i++) {
        if (election->rows[i].identity.first == identity.first) {
            election->rows[i].votes++;
            return;
        }
    }
    if (election->count < CANDIDATES_MAX) {
        election->rows[election->count++] = (struct candidate){identity, 1};
    }
}

static bool is_whole_host(const struct structure *s, struct myr_port_span identity)
{
    return identity.count > 1 && structure_is_host(s->design, identity.first);
}

/* What the cables of a device say it is; more than half of them must agree. */
static struct candidate elect(const struct structure *s, uint32_t found, uint32_t *ret_voters)
{
    struct election election = {.count = 0};
    for (uint32_t i = s->ends.first[found]; i < s->ends.first[found + 1]; i++) {
        uint32_t end = s->ends.ends[i];
        uint32_t planned = found_planned(&s->ends, s->identify, end);
        if (planned == MYR_NONE) {
            continue;
        }
        election.voters++;
        struct myr_port_span candidate = candidate_at(s, found, planned);
        uint32_t port = candidate.count
                            ? identify_port_as(s->identify, candidate, structure_end(s, end))
                            : MYR_NONE;
        /* A port that has a name of its own may be the planned one. */
        bool fits = port == planned || (port == MYR_NONE && !s->cabling->numbered) ||
                    is_whole_host(s, candidate); /* its NICs may have each other's cables */
        /* A place that somebody has is not voted for, but its cable counts as a voter. */
        if (candidate.count && !s->taken[candidate.first] && fits) {
            vote(&election, candidate);
        }
    }
    struct candidate best = {.votes = 0};
    for (uint32_t i = 0; i < election.count; i++) {
        best = election.rows[i].votes > best.votes ? election.rows[i] : best;
    }
    *ret_voters = election.voters;
    return best.votes * 2 > election.voters ? best : (struct candidate){.votes = 0};
}

/* How many NICs of the port's host the chosen networks have. */
static uint32_t nics_beside(const struct structure *s, uint32_t port)
{
    const struct myr_devtype *type =
        &s->design->devtypes[s->design->device_type[s->design->port_device[port]]];
    uint32_t nics = 0;
    for (uint32_t g = 0; g < type->group_count; g++) {
        nics += s->verify->options.nets >> type->groups[g].net & 1 ? type->groups[g].count : 0;
    }
    return nics;
}

/* Boxes of several chips are several devices of one name: what one of them is, all are. */
static void follow_chip(struct structure *s, uint32_t found)
{
    for (uint32_t d = s->chip_before[found]; d && d - 1 != found; d = s->chip_before[d - 1]) {
        if (s->open[d - 1]) {
            s->identify->devices[d - 1] = s->identify->devices[found];
            s->open[d - 1] = 0;
            s->open_count--;
        }
    }
}

/* The only place where a device gets an identity by structure. */
void structure_accept(struct structure *s, uint32_t found, struct myr_port_span identity,
                      uint32_t votes, uint32_t links)
{
    MYR_ASSERT(s->open[found] && !s->taken[identity.first]);
    /* A NIC that stands alone on a host of several: only its cable says which one it is. */
    s->identify->by_cable[found] = structure_is_alone(s, found) &&
                                   identify_is_nic(s->identify, found) &&
                                   nics_beside(s, identity.first) > 1;
    s->identify->any_by_cable = s->identify->any_by_cable || s->identify->by_cable[found];
    s->identify->devices[found] = identity;
    s->identify->voted[found] = 1;
    s->taken[identity.first] = found + 1;
    s->open[found] = 0;
    s->open_count--;
    struct myr_identity row = {found, identity.first, votes, links};
    myr_vec_push(&s->named, row);
    follow_chip(s, found);
}

struct ballot {
    uint32_t found, voters;
    struct candidate winner;
};

/* Those who want one place stand together, the strongest first. */
static int compare_ballots(const void *left, const void *right)
{
    const struct ballot *a = left, *b = right;
    uint32_t first_a = a->winner.identity.first, first_b = b->winner.identity.first;
    if (first_a != first_b) {
        return first_a < first_b ? -1 : 1;
    }
    if (a->winner.votes != b->winner.votes) {
        return a->winner.votes > b->winner.votes ? -1 : 1;
    }
    return a->found < b->found ? -1 : a->found > b->found;
}

/* One round of votes for all; two that want one place with equal right both wait. */
bool structure_vote(struct structure *s)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct ballot) ballots = {};
    uint32_t before = s->open_count;
    for (uint32_t d = 0; d < s->cabling->devices.count; d++) {
        struct ballot ballot = {.found = d};
        if (structure_is_alone(s, d)) {
            ballot.winner = elect(s, d, &ballot.voters);
        }
        /* All votes are counted before any place is given away. */
        if (ballot.winner.votes) {
            myr_vec_push(&ballots, ballot);
        }
    }
    if (ballots.count > 1) {
        qsort(ballots.items, ballots.count, sizeof(*ballots.items), compare_ballots);
    }
    for (size_t i = 0; i < ballots.count; i++) {
        const struct ballot *one = &ballots.items[i];
        const struct ballot *next = i + 1 < ballots.count ? one + 1 : NULL;
        /* Sorted: whoever wants the same place comes next. */
        bool tie = next && next->winner.identity.first == one->winner.identity.first &&
                   next->winner.votes == one->winner.votes;
        if (!tie && !s->taken[one->winner.identity.first] && s->open[one->found]) {
            structure_accept(s, one->found, one->winner.identity, one->winner.votes, one->voters);
        } else if (tie) {
            i++; /* and the one that it ties with */
        }
    }
    return s->open_count < before;
}
