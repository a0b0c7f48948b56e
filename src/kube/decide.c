/* decide: what is to be done with every gang, from what is known now. */
#include <stdio.h>
#include <stdlib.h>

#include "kube.h"

enum {
    PARTING_MS = 1500,  /* a pod that was deleted may be the first of all of them */
    GATHER_MS = 5000,   /* before it is told that pods of a gang are missing */
    TELL_MS = 60000,    /* between two texts of one reason */
    FAILED_KINDS = 32,  /* kinds of pods that found no room in this round, remembered */
    REASON_BYTES = 700, /* the longest text of a reason */
};

/*
 * What is true for one round alone. Texts of decisions live in the cluster's arena until the next.
 */
struct round {
    struct myr_kube_cluster *c;
    int64_t now_ms;
    uint64_t epoch;
    uint64_t *closed; /* nodes kept for a gang that has waited long enough; NULL: none */
    struct {
        uint64_t digest;
        uint32_t count;
        struct kube_tally tally;
    } failed[FAILED_KINDS];
    uint32_t failed_count;
};

static const char *keep(struct round *r, struct myr_str text)
{
    return myr_arena_strndup(&r->c->arena, text.len ? text.data : "", text.len);
}

static void wake_at(struct round *r, int64_t at_ms)
{
    r->c->wake_ms = at_ms < r->c->wake_ms ? at_ms : r->c->wake_ms;
    MYR_ASSERT(r->c->wake_ms <= at_ms);
}

static struct myr_kube_decision *add(struct round *r, const struct kube_gang *gang,
                                     enum myr_kube_act act, const char *reason)
{
    const struct kube_pod *first = gang->first;
    MYR_ASSERT(gang->count > 0 && first->gang_of == gang);
    myr_vec_push(&r->c->decisions,
                 (struct myr_kube_decision){.act = act, .gang = keep(r, myr_str_from(gang->key))});
    struct myr_kube_decision *d = &r->c->decisions.items[r->c->decisions.count - 1];
    d->reason = keep(r, myr_str_from(reason));
    if (first->owner_uid.len) {
        d->owner_kind = keep(r, first->owner_kind);
        d->owner_name = keep(r, first->owner_name);
        d->owner_uid = keep(r, first->owner_uid);
        d->owner_api = keep(r, first->owner_api);
    }
    return d;
}

static struct myr_kube_seat seat_of(struct round *r, const struct kube_pod *pod, struct myr_str at)
{
    return (struct myr_kube_seat){.space = keep(r, pod->space),
                                  .name = keep(r, pod->name),
                                  .uid = keep(r, pod->uid),
                                  .node = keep(r, at)};
}

/* --- waiting */

/* Said when it is new; another text of the same reason not more than once a minute. */
static void tell(struct round *r, struct kube_gang *gang, enum kube_reason what, const char *text)
{
    uint64_t digest = myr_hash_bytes(text, strlen(text));
    MYR_ASSERT(what < KUBE_REASONS && text[0] && !gang->flying);
    struct kube_told *told = &gang->told[what];
    /* What was not so in the last round is new, whatever was said before. */
    bool again = told->round > 0 && told->round + 1 >= r->c->rounds;
    MYR_ASSERT(told->round < r->c->rounds); /* once a round */
    told->round = r->c->rounds;
    if (again && (told->text == digest || r->now_ms - told->at_ms < TELL_MS)) {
        return;
    }
    /* Other numbers: one pod and the Job will do. */
    uint32_t most = again ? 1 : KUBE_GANG_PODS_TOLD;
    told->text = digest;
    told->at_ms = r->now_ms;
    struct myr_kube_seat *seats =
        MYR_ARENA_NEW(&r->c->arena, struct myr_kube_seat, KUBE_GANG_PODS_TOLD);
    uint32_t count = 0;
    for (uint32_t i = 0; i < gang->count && count < most; i++) {
        if (kube_pod_live(gang->pods[i]) && gang->pods[i]->node.len == 0) {
            seats[count++] = seat_of(r, gang->pods[i], MYR_STR(""));
        }
    }
    struct myr_kube_decision *d = add(r, gang, MYR_KUBE_WAIT, text);
    MYR_ASSERT(count <= most && most <= KUBE_GANG_PODS_TOLD);
    d->seats = seats;
    d->seat_count = count;
}

static void tell_room(struct round *r, struct kube_gang *gang, uint32_t count,
                      const struct kube_tally *tally)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_ASSERT(count > 0);
    kube_tally_put(r->c, tally, count, &text);
    tell(r, gang, REASON_ROOM, text.data);
}

/* --- a gang that is to be placed */

/* Nodes that a gang could use are nobody else's any more. */
static void close_nodes(struct round *r, const struct kube_gang *gang)
{
    uint32_t count = (uint32_t)r->c->nodes.count;
    MYR_ASSERT(gang->count > 0 && gang->bound == 0);
    if (!r->closed) {
        r->closed = MYR_ARENA_NEW(&r->c->arena, uint64_t, (count + 63) / 64);
    }
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct kube_needs *needs = gang->pods[i]->needs;
        if (i > 0 && needs->digest == gang->pods[i - 1]->needs->digest) {
            continue;
        }
        for (uint32_t id = 0; id < count; id++) {
            const struct kube_node *node = r->c->nodes.items[id];
            if (node && kube_could(needs, node)) {
                r->closed[id / 64] |= 1ULL << id % 64;
            }
        }
    }
    r->failed_count = 0; /* their counts were others */
}

/* The address at which rank 0 is found: a pod on the host's network has its node's. */
static const char *master_of(struct round *r, const struct kube_pod *pod, uint32_t node)
{
    MYR_ASSERT(node < r->c->nodes.count && r->c->nodes.items[node]);
    if (!pod->host_network && pod->hostname.len && pod->subdomain.len) {
        return myr_arena_printf(&r->c->arena, "%s.%s.%s.svc", pod->hostname.data,
                                pod->subdomain.data, pod->space.data);
    }
    return keep(r, r->c->nodes.items[node]->address);
}

/* Pods of one kind are placed together: 'at' gets the node of each, or nothing is taken. */
static bool place_all(struct round *r, struct kube_pod **pods, uint32_t count, uint32_t *at,
                      struct kube_tally *tally)
{
    MYR_CLEANUP(myr_free_at) uint32_t *nodes = myr_xcalloc(count, sizeof(*nodes));
    /* Where more is used than can be counted it stays stale, and is as full as can be. */
    MYR_ASSERT(count > 0 && r->c->use_count == r->c->nodes.count);
    for (uint32_t i = 0; i < count; i++) {
        at[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t alike = 0, next = 0;
        if (at[i] != MYR_NONE) {
            continue;
        }
        for (uint32_t k = i; k < count; k++) {
            alike += pods[k]->needs->digest == pods[i]->needs->digest;
        }
        if (!kube_place(r->c, pods[i]->needs, alike, r->closed, nodes, tally)) {
            for (uint32_t k = 0; k < count; k++) {
                if (at[k] != MYR_NONE) {
                    kube_use_add(r->c, at[k], pods[k]->needs, -1);
                }
            }
            return false;
        }
        for (uint32_t k = i; k < count; k++) {
            if (pods[k]->needs->digest == pods[i]->needs->digest) {
                at[k] = nodes[next++];
            }
        }
        MYR_ASSERT(next == alike);
    }
    return true;
}

/* Where so many found no room, as many of the same kind will not: a round only fills nodes. */
static const struct kube_tally *failed_before(const struct round *r, uint64_t digest,
                                              uint32_t count)
{
    for (uint32_t i = 0; i < r->failed_count; i++) {
        if (r->failed[i].digest == digest && count >= r->failed[i].count) {
            return &r->failed[i].tally;
        }
    }
    return NULL;
}

static void bind_gang(struct round *r, struct kube_gang *gang, struct kube_pod **pods,
                      uint32_t count, const uint32_t *at)
{
    struct myr_kube_seat *seats = MYR_ARENA_NEW(&r->c->arena, struct myr_kube_seat, count);
    MYR_ASSERT(!gang->flying && gang->bound == 0 && count <= gang->count);
    for (uint32_t i = 0; i < count; i++) {
        seats[i] = seat_of(r, pods[i], r->c->nodes.items[at[i]]->name);
        seats[i].rank = i;
        MYR_ASSERT(pods[i]->assumed == MYR_NONE && pods[i]->node.len == 0);
        pods[i]->assumed = pods[i]->on = at[i]; /* whose use has it already */
    }
    gang->stale = gang->flying = true;
    struct myr_kube_decision *d = add(r, gang, MYR_KUBE_BIND, "");
    d->seats = seats;
    d->seat_count = count;
    d->master = master_of(r, pods[0], at[0]);
    /* Never the same twice: the start of this scheduler, and a number that it counts. */
    d->placement = myr_arena_printf(&r->c->arena, "%llx-%llu", (unsigned long long)r->epoch,
                                    (unsigned long long)++r->c->placements);
    d->world = count;
    MYR_ASSERT(d->master && d->placement && r->c->placements > 0);
    d->plan = count > 1 ? kube_plan_make(&r->c->arena, seats, count) : NULL;
}

static void place_gang(struct round *r, struct kube_gang *gang, uint32_t count)
{
    struct kube_pod **pods = MYR_ARENA_NEW(&r->c->arena, struct kube_pod *, count);
    uint32_t *at = MYR_ARENA_NEW(&r->c->arena, uint32_t, count), filled = 0;
    bool alike = true;
    for (uint32_t i = 0; i < gang->count && filled < count; i++) {
        struct kube_pod *pod = gang->pods[i];
        if (kube_pod_live(pod) && pod->node.len == 0) {
            if (pod->needs->refused[0]) {
                char text[REASON_BYTES];
                snprintf(text, sizeof(text), "pod %.100s asks for %s, which is not understood here",
                         pod->name.data, pod->needs->refused);
                tell(r, gang, REASON_REFUSED, text);
                return;
            }
            pods[filled++] = pod;
            alike = alike && pod->needs->digest == pods[0]->needs->digest;
        }
    }
    MYR_ASSERT(filled == count && count > 0 && count <= gang->size);
    kube_use_ready(r->c);
    uint64_t digest = pods[0]->needs->digest;
    const struct kube_tally *before = alike ? failed_before(r, digest, count) : NULL;
    struct kube_tally tally;
    if (!before && place_all(r, pods, count, at, &tally)) {
        bind_gang(r, gang, pods, count, at);
        return;
    }
    if (alike && !before && r->failed_count < FAILED_KINDS) {
        r->failed[r->failed_count].digest = digest;
        r->failed[r->failed_count].count = count;
        r->failed[r->failed_count++].tally = tally;
    }
    MYR_ASSERT(r->failed_count <= FAILED_KINDS);
    tell_room(r, gang, count, before ? before : &tally);
    r->c->gangs_waiting++;
    if ((before ? before : &tally)->empty < count) {
        return; /* it will never fit: nobody waits for it */
    }
    if (r->now_ms - gang->created_ms >= r->c->policy.hold_ms) {
        close_nodes(r, gang);
    } else {
        wake_at(r, gang->created_ms + r->c->policy.hold_ms);
    }
}

/* How many of those that wait are to be placed now; 0: not yet. */
static uint32_t to_place(const struct kube_gang *gang)
{
    MYR_ASSERT(gang->size > 0 && gang->bound == 0);
    if (gang->waits >= gang->size) {
        return gang->size;
    }
    /* Some are done already, and their owner makes only the others again. */
    uint32_t done = gang->done % gang->size;
    return done > 0 && gang->waits == gang->size - done ? gang->waits : 0;
}

/*
 * Who asks for it waits until nothing from before can run: a pod on a node that is not heard is
 * deleted and made again long before anybody knows that its ranks have ended.
 */
static bool waits_for_old(struct round *r, struct kube_gang *gang)
{
    char text[REASON_BYTES];
    const struct kube_pod *old = NULL;
    uint32_t count = 0;
    MYR_ASSERT(gang->count > 0 && gang->first == gang->pods[0]);
    for (uint32_t i = 0; i < gang->count && gang->first->strict; i++) {
        const struct kube_pod *pod = gang->pods[i];
        if (pod->deleting && pod->phase <= KUBE_RUNNING && pod->node.len) {
            old = old ? old : pod;
            count++;
        }
    }
    if (old) {
        snprintf(text, sizeof(text),
                 "restart is strict: %u pods from before may still run, %.100s on %.100s; they go "
                 "when their kubelet answers or their node is deleted",
                 count, old->name.data, old->node.data);
        tell(r, gang, REASON_STRICT, text);
        r->c->gangs_waiting++;
    }
    return old != NULL;
}

/* A gang of which nothing is bound: placed when all of it is there, else it waits. */
static void start_gang(struct round *r, struct kube_gang *gang)
{
    char text[REASON_BYTES];
    MYR_ASSERT(gang->bound == 0 && gang->waits > 0 && !gang->stale);
    if (gang->size == 0) {
        snprintf(text, sizeof(text),
                 "annotation " MYR_KUBE_GANG_SIZE " is missing, no number from 1 to %d, or not the "
                 "same in all pods of the gang",
                 MYR_KUBE_GANG_MAX);
        tell(r, gang, REASON_SIZE, text);
        return;
    }
    uint32_t count = to_place(gang);
    MYR_ASSERT(count <= gang->size && count <= gang->waits);
    if (count > 0 && waits_for_old(r, gang)) {
        return;
    }
    if (count > 0) {
        place_gang(r, gang, count);
    } else if (r->now_ms - gang->created_ms < GATHER_MS) {
        r->c->missing += gang->size > gang->waits ? gang->size - gang->waits : 1;
        wake_at(r, gang->created_ms + GATHER_MS);
    } else {
        snprintf(text, sizeof(text), "%u of %u pods are there; none is bound before all are",
                 gang->waits, gang->size);
        tell(r, gang, REASON_GATHERS, text);
        r->c->gangs_waiting++;
    }
}

/* --- a gang that is bound, or in part */

struct standing {
    struct myr_str placement;
    uint32_t world, bound, planned, done;
    bool fresh;             /* one waits that was never planned */
    bool parting;           /* one of them went just now */
    int64_t look_ms;        /* when it may stand otherwise though nothing has changed */
    char why[REASON_BYTES]; /* it cannot go on; empty: it can */
};

static void look_at(struct standing *s, int64_t at_ms)
{
    s->look_ms = at_ms < s->look_ms ? at_ms : s->look_ms;
    MYR_ASSERT(s->look_ms <= at_ms);
}

/* "pod NAME failed"; the first of them counts. */
static void set_why(struct standing *s, const char *what, struct myr_str name, const char *is)
{
    if (!s->why[0]) {
        snprintf(s->why, sizeof(s->why), "%s %.*s %s", what, (int)name.len, name.data, is);
    }
}

/* One pod of a gang that has bound ones. */
static void count_pod(const struct round *r, struct kube_gang *gang, const struct kube_pod *pod,
                      struct standing *s)
{
    bool same = myr_str_eq(pod->placement, s->placement);
    MYR_ASSERT(pod->gang_of == gang && s->placement.len > 0);
    if (kube_pod_live(pod) && pod->node.len > 0) {
        uint32_t id = pod->on != MYR_NONE ? pod->on : kube_node_find(r->c, pod->node);
        const struct kube_node *node = id == MYR_NONE ? NULL : r->c->nodes.items[id];
        s->bound += same;
        if (!same) {
            set_why(s, "pod", pod->name, "is of another placement");
        } else if (!myr_str_eq(pod->node, pod->planned_node)) {
            set_why(s, "pod", pod->name, "is not where it was to go");
        } else if (id == MYR_NONE) {
            return; /* never heard of: its node may be on the way to us */
        } else if (kube_node_lost(r->c, node, r->now_ms)) {
            set_why(s, "node", pod->node, "was lost");
        } else if (node->lost_ms >= 0) {
            look_at(s, node->lost_ms + r->c->policy.lost_ms);
        }
    } else if (kube_pod_live(pod)) {
        s->planned += same;
        s->fresh = s->fresh || !same;
    } else if (same && pod->phase == KUBE_SUCCEEDED) {
        s->done++;
    } else if (same && pod->phase == KUBE_FAILED) {
        set_why(s, "pod", pod->name, "failed");
    } else if (same) {
        kube_break(gang, pod, r->now_ms);
    }
}

/* Whoever deletes a Job deletes its pods one by one: that is no reason to make them again. */
static void look_for_broken(const struct round *r, const struct kube_gang *gang, struct standing *s)
{
    MYR_ASSERT(s->placement.len > 0 && s->bound > 0);
    for (size_t i = 0; i < gang->broken.count && !s->why[0]; i++) {
        const struct kube_broken *broken = &gang->broken.items[i];
        if (!myr_str_eq(myr_str_from(broken->placement), s->placement)) {
            continue;
        }
        if (r->now_ms - broken->at_ms >= PARTING_MS) {
            snprintf(s->why, sizeof(s->why), "%s", broken->why);
        } else {
            s->parting = true;
            look_at(s, broken->at_ms + PARTING_MS);
        }
    }
}

/* The first bound pod says which placement is meant; all others are held against it. */
static void stand(struct round *r, struct kube_gang *gang, struct standing *s)
{
    MYR_ASSERT(gang->count > 0 && !gang->stale);
    *s = (struct standing){.look_ms = INT64_MAX};
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct kube_pod *pod = gang->pods[i];
        if (kube_pod_live(pod) && pod->node.len > 0 && pod->placement.len) {
            s->placement = pod->placement;
            s->world = pod->planned_world == MYR_NONE ? 0 : pod->planned_world;
            break;
        }
    }
    if (!s->placement.len) {
        return; /* somebody else has bound them: theirs to look after */
    }
    for (uint32_t i = 0; i < gang->count; i++) {
        count_pod(r, gang, gang->pods[i], s);
    }
    look_for_broken(r, gang, s);
    MYR_ASSERT(s->bound > 0 && s->bound + s->planned + s->done <= gang->count);
    /* Their owner has made one anew: one of them is missing. */
    if (!s->why[0] && !s->parting && s->fresh && s->bound + s->planned + s->done < s->world) {
        snprintf(s->why, sizeof(s->why), "%u of its %u pods are gone",
                 s->world - s->bound - s->planned - s->done, s->world);
    }
}

/* Deletes what is left of a placement; only pods that somebody makes again are deleted. */
static void remake(struct round *r, struct kube_gang *gang, const char *why)
{
    char text[REASON_BYTES];
    if (!gang->first->owner_uid.len) {
        snprintf(text, sizeof(text), "%s; nobody would make the others again: they are left alone",
                 why);
        tell(r, gang, REASON_NO_OWNER, text);
        return;
    }
    struct myr_kube_seat *seats = MYR_ARENA_NEW(&r->c->arena, struct myr_kube_seat, gang->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct kube_pod *pod = gang->pods[i];
        /* Those that wait with a plan of the old placement go too: none of it stays. */
        if (kube_pod_live(pod) && (pod->node.len > 0 || pod->placement.len)) {
            seats[count++] = seat_of(r, pod, pod->node);
        }
    }
    MYR_ASSERT(count > 0 && !gang->flying && gang->bound > 0);
    snprintf(text, sizeof(text), "%s: all %u pods of the gang are made again", why, count);
    struct myr_kube_decision *d = add(r, gang, MYR_KUBE_REMAKE, text);
    d->seats = seats;
    d->seat_count = count;
    gang->flying = true;
}

static int compare_seats(const void *left, const void *right)
{
    const struct myr_kube_seat *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Where a scheduler died in the middle: the rest goes where it was to go, if that is still free. */
static bool finish(struct round *r, struct kube_gang *gang, const struct standing *s)
{
    struct myr_kube_seat *seats = MYR_ARENA_NEW(&r->c->arena, struct myr_kube_seat, gang->count);
    struct myr_str master = {};
    uint32_t count = 0;
    MYR_ASSERT(s->planned > 0 && !gang->flying && s->placement.len > 0);
    kube_use_ready(r->c);
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct kube_pod *pod = gang->pods[i];
        if (!kube_pod_live(pod) || !myr_str_eq(pod->placement, s->placement)) {
            continue;
        }
        uint32_t id = kube_node_find(r->c, pod->planned_node);
        /* Anybody may write annotations: a rank beyond the world is of no placement of ours. */
        if (pod->planned_rank >= s->world || id == MYR_NONE ||
            (pod->node.len == 0 && !kube_fits(r->c, pod->needs, id))) {
            return false;
        }
        master = pod->master.len ? pod->master : master;
        seats[count] = seat_of(r, pod, pod->planned_node);
        seats[count].bound = pod->node.len > 0;
        seats[count++].rank = pod->planned_rank;
    }
    MYR_ASSERT(count == s->bound + s->planned); /* those that stand() has counted */
    qsort(seats, count, sizeof(*seats), compare_seats);
    /* Two of one rank: such annotations are not of one placement. */
    for (uint32_t i = 1; i < count; i++) {
        if (seats[i].rank == seats[i - 1].rank) {
            return false;
        }
    }
    for (uint32_t i = 0; i < gang->count; i++) {
        struct kube_pod *pod = gang->pods[i];
        if (kube_pod_live(pod) && pod->node.len == 0 && myr_str_eq(pod->placement, s->placement)) {
            pod->assumed = kube_node_find(r->c, pod->planned_node);
            kube_use_put(r->c, pod);
        }
    }
    struct myr_kube_decision *d =
        add(r, gang, MYR_KUBE_BIND, "a binding that was begun is finished");
    d->seats = seats;
    d->seat_count = count;
    d->placement = keep(r, s->placement);
    d->master = keep(r, master);
    d->world = s->world;
    d->finishes = true;
    gang->stale = gang->flying = true;
    return true;
}

/* A gang with bound pods: it is well, it is finished, or all of it is made again. */
static void look_after(struct round *r, struct kube_gang *gang)
{
    struct standing s;
    MYR_ASSERT(gang->bound > 0 && !gang->flying && gang->assumed == 0);
    kube_plan_adopt(gang);
    stand(r, gang, &s);
    if (s.look_ms != INT64_MAX) {
        wake_at(r, s.look_ms);
    }
    if (s.placement.len && s.why[0]) {
        remake(r, gang, s.why);
    } else if (s.placement.len && !s.parting && s.planned > 0 &&
               s.bound + s.planned + s.done == s.world) {
        if (!finish(r, gang, &s)) {
            remake(r, gang, "a binding that was begun cannot be finished");
        }
    } else {
        gang->quiet = true;
    }
    gang->quiet_nodes = r->c->node_changes;
    gang->look_ms = s.look_ms;
}

/* --- all of them */

const struct myr_kube_decision *myr_kube_decide(struct myr_kube_cluster *c, int64_t now_ms,
                                                uint64_t epoch, uint32_t *ret_count)
{
    struct round r = {.c = c, .now_ms = now_ms, .epoch = epoch};
    struct kube_gangs gangs;
    myr_arena_clear(&c->arena);
    c->decisions.count = 0;
    c->changed = false;
    c->wake_ms = INT64_MAX;
    c->gangs_waiting = 0;
    c->missing = 0;
    if (c->rounds++ == 0) { /* the first gang need not wait for it */
        kube_use_ready(c);
        kube_order(c);
    }
    kube_gangs_find(c, now_ms, &gangs);
    for (uint32_t i = 0; i < gangs.count; i++) {
        if (gangs.items[i]->bound > 0) {
            look_after(&r, gangs.items[i]);
        } else {
            start_gang(&r, gangs.items[i]);
        }
    }
    *ret_count = (uint32_t)c->decisions.count;
    MYR_ASSERT(c->gangs_waiting <= gangs.count && c->decisions.count <= gangs.count);
    return c->decisions.items;
}

/* Not 'done': what was assumed is taken back, and only what the watch tells is true again. */
void myr_kube_over(struct myr_kube_cluster *c, const char *key, bool done)
{
    struct kube_gang *gang = kube_gang_find(c, myr_str_from(key));
    c->changed = true;
    if (!gang) {
        return;
    }
    for (uint32_t i = 0; i < gang->count && !done; i++) {
        gang->pods[i]->assumed = MYR_NONE;
        kube_use_put(c, gang->pods[i]);
    }
    MYR_ASSERT(gang->flying); /* one decision at a time, and it is over once */
    MYR_ASSERT(c->gangs.items[gang->id] == gang);
    gang->flying = false;
    gang->stale = true;
    kube_gang_rest(c, gang);
}
