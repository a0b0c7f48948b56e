#include "grow/grow_internal.h"

/*
 * Pods that are cut anew: the larger fabric has other pods than the installed one, or the first
 * ones at all. An installed spine wants to be in the pod of its leaves, and at that number in it
 * whose cores are its own; both cannot always be had. Spines are assigned with the cores held, then
 * cores with the spines held, in turn until nothing is gained; where there are cores it is begun
 * from several places and the best is kept. That is no proof, so a bound is counted beside it.
 */

/* Small cuts are tried from many starts, large ones from two: each turn solves two assignments. */
enum { STARTS = 64, STARTS_LARGE = 2, SMALL = 4096, TURNS_MAX = 20 };

/* One fabric. Places are numbered within it from 0. */
struct cut {
    struct grow *grow;
    const struct myr_network *was, *net;
    uint32_t spines, places, cores, core_places; /* of one fabric: installed, planned */
    uint32_t first_spine, first_core;            /* installed */
    uint32_t first_place, first_core_place;      /* planned */
    uint32_t core_most;                          /* links of a spine and a core, at most */
    uint32_t *by_pod;                            /* spines * pods: links that stay in that pod */
    uint32_t *links;                             /* spines * cores: installed */
    uint32_t *spine_at, *core_at;                /* places within the fabric */
    uint32_t *weight;                            /* scratch of an assignment */
};

/*
 * Links of a spine to leaves that will lie in each pod, at most 'most' of one pair. Ports are
 * passed twice: in the second pass 'seen' is cleared, and links to cores are counted.
 */
static void weigh_pods(const struct cut *cut, uint32_t spine, uint32_t most, uint32_t *seen)
{
    const struct myr_design *old = cut->grow->old;
    const struct myr_network *net = cut->net;
    uint32_t device = cut->first_spine + spine;
    uint32_t unit_leaves = net->leaf / net->planes / net->units;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t p = old->first_port[device]; p < old->first_port[device + 1]; p++) {
            uint32_t peer = myr_design_peer(old, p);
            uint32_t other = peer == MYR_NONE ? MYR_NONE : old->port_device[peer];
            if (other == MYR_NONE || myr_design_port_group(old, p)->role == MYR_PORT_NIC) {
                continue; /* nothing, or a management port */
            }
            /* A port that plays another role now keeps no cable. */
            bool core = old->place[other].kind == MYR_DEVICE_CORE;
            uint32_t there = core ? net->first_core : cut->grow->to[other];
            if (grow_port_at(cut->grow, p, net->first_spine) == MYR_NONE ||
                grow_port_at(cut->grow, peer, there) == MYR_NONE) {
                continue;
            }
            if (core) {
                cut->links[(size_t)spine * cut->cores + other - cut->first_core] += pass;
                continue;
            }
            uint32_t at = (cut->grow->to[other] - net->first_leaf) % unit_leaves / net->pod_leaves;
            if (pass == 1) {
                seen[other] = 0;
            } else if (seen[other]++ < most) {
                cut->by_pod[(size_t)spine * net->pods + at]++;
            }
        }
    }
}

/* More links than a pair has in the larger design cannot stay. */
static uint32_t core_kept(const struct cut *cut, uint32_t spine, uint32_t core)
{
    uint32_t links = cut->links[(size_t)spine * cut->cores + core];
    return links < cut->core_most ? links : cut->core_most;
}

/* Installed links that stay with the places as they are. */
static uint64_t kept(const struct cut *cut)
{
    const struct myr_network *net = cut->net;
    uint64_t sum = 0;
    for (uint32_t s = 0; s < cut->spines; s++) {
        sum += cut->by_pod[(size_t)s * net->pods + cut->spine_at[s] / net->pod_spines];
        for (uint32_t c = 0; c < cut->cores; c++) {
            bool meet = cut->core_at[c] / net->group_cores == cut->spine_at[s] % net->pod_spines;
            sum += meet ? core_kept(cut, s, c) : 0;
        }
    }
    return sum;
}

/* A place is pod * pod_spines + number; cores of group j meet number j of every pod. */
static void assign_spines(struct cut *cut)
{
    const struct myr_network *net = cut->net;
    for (uint32_t s = 0; s < cut->spines; s++) {
        uint32_t *weight = &cut->weight[(size_t)s * cut->places];
        for (uint32_t at = 0; at < cut->places; at++) {
            weight[at] = cut->by_pod[(size_t)s * net->pods + at / net->pod_spines];
        }
        for (uint32_t c = 0; c < cut->cores; c++) {
            uint32_t group = cut->core_at[c] / net->group_cores, gain = core_kept(cut, s, c);
            for (uint32_t pod = 0; gain && pod < net->pods; pod++) {
                weight[pod * net->pod_spines + group] += gain;
            }
        }
    }
    grow_assign(cut->weight, cut->spines, cut->places, cut->spine_at);
}

/* A place is group * group_cores + number; all numbers of a group are alike. */
static void assign_cores(struct cut *cut)
{
    const struct myr_network *net = cut->net;
    for (uint32_t c = 0; c < cut->cores; c++) {
        uint32_t *weight = &cut->weight[(size_t)c * cut->core_places];
        memset(weight, 0, cut->core_places * sizeof(*weight));
        for (uint32_t s = 0; s < cut->spines; s++) {
            uint32_t group = cut->spine_at[s] % net->pod_spines, gain = core_kept(cut, s, c);
            for (uint32_t i = 0; gain && i < net->group_cores; i++) {
                weight[group * net->group_cores + i] += gain;
            }
        }
    }
    grow_assign(cut->weight, cut->cores, cut->core_places, cut->core_at);
}

/* A core keeps its group and number where there is such a place; the others take what is left. */
static void cores_in_order(struct cut *cut, struct myr_arena *scratch)
{
    const struct myr_network *was = cut->was, *net = cut->net;
    bool *taken = MYR_ARENA_NEW(scratch, bool, cut->core_places);
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < cut->cores; i++) {
            uint32_t group = i / was->group_cores, at = i % was->group_cores;
            bool same = group < net->core_groups && at < net->group_cores;
            if (pass == 0 && same) {
                cut->core_at[i] = group * net->group_cores + at;
                taken[cut->core_at[i]] = true;
            } else if (pass == 1 && !same) {
                while (taken[next]) {
                    next++;
                }
                taken[next] = true;
                cut->core_at[i] = next;
            }
        }
    }
}

static void cores_at_random(struct cut *cut, struct myr_rng *rng, struct myr_arena *scratch)
{
    uint32_t *order = MYR_ARENA_NEW(scratch, uint32_t, cut->core_places);
    for (uint32_t i = 0; i < cut->core_places; i++) {
        order[i] = i;
    }
    for (uint32_t i = 0; i < cut->cores; i++) {
        /* Shuffled only as far as it is needed. */
        uint32_t other = i + (uint32_t)myr_rng_below(rng, cut->core_places - i);
        uint32_t at = order[other];
        order[other] = order[i];
        cut->core_at[i] = at;
    }
}

/*
 * The first start is the cores in their order: nothing is moved without a gain. Held ones and free
 * ones take turns, which finds a best place of each kind but not of both together; other starts are
 * for that.
 */
static void search(struct cut *cut, struct myr_arena *scratch)
{
    uint32_t *best_spine = MYR_ARENA_NEW(scratch, uint32_t, cut->spines);
    uint32_t *best_core = MYR_ARENA_NEW(scratch, uint32_t, cut->cores);
    uint64_t most = 0;
    bool small = (uint64_t)cut->spines * cut->places <= SMALL;
    uint32_t starts = !cut->cores ? 1 : small ? STARTS : STARTS_LARGE;
    struct myr_rng rng;
    /* Always the same seed: the same designs grow the same way. */
    myr_rng_init(&rng, 1, 1);
    for (uint32_t start = 0; start < starts; start++) {
        uint64_t before = 0, now = 0;
        if (start == 0) {
            cores_in_order(cut, scratch);
        } else {
            cores_at_random(cut, &rng, scratch);
        }
        /* Each turn keeps at least as much as the one before, so it ends when nothing is gained. */
        for (uint32_t turn = 0; turn < TURNS_MAX && (turn == 0 || now > before); turn++) {
            before = now;
            assign_spines(cut);
            if (cut->cores) {
                assign_cores(cut);
            }
            now = kept(cut);
        }
        if (start == 0 || now > most) {
            most = now;
            memcpy(best_spine, cut->spine_at, cut->spines * sizeof(*best_spine));
            memcpy(best_core, cut->core_at, cut->cores * sizeof(*best_core));
        }
    }
    memcpy(cut->spine_at, best_spine, cut->spines * sizeof(*best_spine));
    memcpy(cut->core_at, best_core, cut->cores * sizeof(*best_core));
}

/*
 * Too many for assignments: pod by pod, at the number that keeps the old pods' spines apart. A
 * place that is taken gives way to the first free one.
 */
static void in_order(struct cut *cut, struct myr_arena *scratch)
{
    const struct myr_network *was = cut->was, *net = cut->net;
    bool *taken = MYR_ARENA_NEW(scratch, bool, cut->places);
    uint32_t next = 0;
    cores_in_order(cut, scratch);
    for (uint32_t s = 0; s < cut->spines; s++) {
        uint32_t pod = 0, turn = s / was->pod_spines * was->pod_leaves;
        for (uint32_t p = 1; p < net->pods; p++) {
            const uint32_t *mine = &cut->by_pod[(size_t)s * net->pods];
            pod = mine[p] > mine[pod] ? p : pod;
        }
        /* Old pods that come to lie in one new pod take their numbers one after the other. */
        uint32_t wanted = turn % net->pod_leaves / was->pod_leaves * was->pod_spines;
        wanted = pod * net->pod_spines + (wanted + s % was->pod_spines) % net->pod_spines;
        while (taken[wanted] && taken[next]) {
            next++;
        }
        cut->spine_at[s] = taken[wanted] ? next : wanted;
        taken[cut->spine_at[s]] = true;
    }
}

/*
 * Fills the weights, and adds up the bound: each spine in its own best pod, whether or not that has
 * room for all who want it.
 */
static void measure(struct cut *cut, enum myr_net_id id, struct myr_arena *scratch)
{
    struct grow *grow = cut->grow;
    const struct myr_network *net = cut->net;
    uint32_t most = net->leaf_up / net->pod_spines + (net->leaf_up % net->pod_spines > 0);
    uint32_t *seen = MYR_ARENA_NEW(scratch, uint32_t, grow->old->device_count);
    cut->by_pod = MYR_ARENA_NEW(scratch, uint32_t, (size_t)cut->spines * net->pods);
    cut->links = MYR_ARENA_NEW(scratch, uint32_t, (size_t)cut->spines * cut->cores);
    for (uint32_t s = 0; s < cut->spines; s++) {
        uint32_t best = 0;
        weigh_pods(cut, s, most, seen);
        for (uint32_t pod = 0; pod < net->pods; pod++) {
            uint32_t here = cut->by_pod[(size_t)s * net->pods + pod];
            best = here > best ? here : best;
        }
        grow->keep_most[id] += best;
    }
    grow->recut[id] = true;
}

/* Pairs all installed spines and cores of the fabric. */
void grow_recut(struct grow *grow, enum myr_net_id id, uint32_t fabric)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint32_t fabrics = net->planes * net->units;
    struct cut cut = {.grow = grow,
                      .was = was,
                      .net = net,
                      .spines = was->spine / fabrics,
                      .places = net->spine / fabrics,
                      .cores = was->core / fabrics,
                      .core_places = net->core / fabrics};
    /* Nothing stands there yet. */
    if (!cut.spines || !net->pod_spines) {
        return;
    }
    cut.first_spine = was->first_spine + fabric * cut.spines;
    cut.first_core = was->first_core + fabric * cut.cores;
    cut.first_place = net->first_spine + fabric * cut.places;
    cut.first_core_place = net->first_core + fabric * cut.core_places;
    cut.core_most =
        net->group_cores ? (net->spine_up + net->group_cores - 1) / net->group_cores : 0;
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    cut.spine_at = MYR_ARENA_NEW(&scratch, uint32_t, cut.spines);
    cut.core_at = MYR_ARENA_NEW(&scratch, uint32_t, cut.cores);
    measure(&cut, id, &scratch);
    uint64_t work = (uint64_t)cut.spines * cut.spines * cut.places;
    uint64_t above = (uint64_t)cut.cores * cut.cores * cut.core_places;
    if (work <= GROW_ASSIGN_MAX && above <= GROW_ASSIGN_MAX) {
        size_t cells = (size_t)cut.spines * cut.places, more = (size_t)cut.cores * cut.core_places;
        cut.weight = MYR_ARENA_NEW(&scratch, uint32_t, cells > more ? cells : more);
        search(&cut, &scratch);
    } else {
        in_order(&cut, &scratch);
    }
    for (uint32_t s = 0; s < cut.spines; s++) {
        grow_pair(grow, cut.first_spine + s, cut.first_place + cut.spine_at[s]);
    }
    for (uint32_t c = 0; c < cut.cores; c++) {
        grow_pair(grow, cut.first_core + c, cut.first_core_place + cut.core_at[c]);
    }
}
