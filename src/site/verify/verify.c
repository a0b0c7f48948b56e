#include "myriad/site/verify.h"

#include "repair/equivalent.h"
#include "verify/pattern.h"
#include "verify/verify.h"

/*
 * From places to states, and from states to the repair: as labelled, as equivalent, and with
 * devices renamed. All are worked out, so that people can choose.
 */

const char *const myr_port_state_names[MYR_STATE_COUNT] = {"idle",   "right", "wrong",    "missing",
                                                           "unseen", "extra", "degraded", "unread"};

/* Whether somebody can say what is in the port. */
static bool is_known(const struct verify_job *job, uint32_t port)
{
    if (job->verify->found[port] != MYR_NONE) {
        return true;
    }
    return (job->flags[port] & (VERIFY_LOOKED | VERIFY_DOUBT | VERIFY_UNREAD)) == VERIFY_LOOKED;
}

/* Missing needs both ends to be looked at: silence of a device that nobody asked proves nothing. */
static enum myr_port_state state_of(const struct verify_job *job, uint32_t port)
{
    uint32_t plan = job->verify->plan[port], found = job->verify->found[port];
    if (found != MYR_NONE) {
        return plan == found      ? MYR_STATE_RIGHT
               : plan == MYR_NONE ? MYR_STATE_EXTRA
                                  : MYR_STATE_WRONG;
    }
    if (plan == MYR_NONE) {
        return MYR_STATE_IDLE;
    }
    if ((job->flags[port] | job->flags[plan]) & VERIFY_UNREAD) {
        return MYR_STATE_UNREAD;
    }
    return is_known(job, port) && is_known(job, plan) ? MYR_STATE_MISSING : MYR_STATE_UNSEEN;
}

/*
 * A NIC of a host that has several, with nothing but its cable to say which one it is: that the
 * cable leads where it leads is all that was seen.
 */
static bool is_told_by_cable(const struct verify_job *job, uint32_t port)
{
    const struct myr_verify *verify = job->verify;
    /* Mostly none is, and links lie far apart. */
    if (!job->identify.any_by_cable) {
        return false;
    }
    const struct myr_cabling_link *link = &verify->cabling->links.items[verify->found_link[port]];
    return job->identify.by_cable[link->a.device] || job->identify.by_cable[link->b.device];
}

/* Once a cable, at its lower end. */
static void note_cable_alone(struct myr_verify *verify, uint32_t port)
{
    const struct myr_cabling_link *link = &verify->cabling->links.items[verify->found_link[port]];
    if (port < verify->found[port]) {
        bool a = verify->by_cable[link->a.device];
        verify->unread[verify->unread_count++] = a ? link->a : link->b;
    }
}

/* Ports of other networks stay idle. */
static void fill_states(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    verify->state = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->port_count);
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        if (job->flags[p] & VERIFY_JUDGED) {
            verify->state[p] = (uint8_t)state_of(job, p);
            if (verify->state[p] == MYR_STATE_RIGHT && is_told_by_cable(job, p)) {
                verify->state[p] = MYR_STATE_UNREAD;
                note_cable_alone(verify, p);
            }
        }
    }
}

/* At the end: equivalence and degraded links change states. */
static void count_states(struct myr_verify *verify)
{
    memset(verify->counts, 0, sizeof(verify->counts));
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        MYR_ASSERT(verify->state[p] < MYR_STATE_COUNT);
        verify->counts[verify->state[p]]++;
    }
}

bool myr_verify_clean(const struct myr_verify *verify)
{
    /* A list in which nothing of the plan was seen proves nothing. */
    if (verify->counts[MYR_STATE_RIGHT] == 0) {
        return false;
    }
    uint32_t open =
        verify->counts[MYR_STATE_UNSEEN] + verify->counts[MYR_STATE_UNREAD] + verify->unread_count;
    return verify->renamed_count + verify->replaced_count + verify->counts[MYR_STATE_WRONG] +
                   verify->counts[MYR_STATE_MISSING] + verify->counts[MYR_STATE_EXTRA] +
                   verify->counts[MYR_STATE_DEGRADED] + verify->rogue_links ==
               0 &&
           (verify->options.partial || open == 0);
}

/* Planned links of which the plan, read in another way, has another pair of ports. */
static uint32_t count_relabelled(const struct repair_graph *graph, const uint32_t *plan)
{
    uint32_t ends = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        ends += plan[v] != MYR_NONE && plan[v] != graph->plan[v];
    }
    MYR_ASSERT(ends % 2 == 0); /* a plan is a matching: each link has two ends in it */
    return ends / 2;
}

/* What hands have to do, new cables and old ones included. */
static uint32_t steps_of(const struct myr_repair *repair)
{
    return repair->moves + repair->adds + repair->removes;
}

/* Labels as they are stay the answer where none is better, as may be with unseen ports. */
static const uint32_t *repair_as_equivalent(struct myr_verify *verify,
                                            const struct repair_graph *graph,
                                            const struct myr_repair *labelled,
                                            struct myr_repair *ret)
{
    uint32_t gap;
    uint32_t *plan = MYR_ARENA_NEW(verify->arena, uint32_t, graph->vertex_count);
    repair_equivalent_plan(graph, verify->arena, plan, &gap);
    struct repair_graph read_so = *graph;
    read_so.plan = plan;
    repair_labelled(&read_so, verify->arena, ret);
    bool worse = steps_of(ret) > steps_of(labelled);
    if (worse) {
        *ret = *labelled;
    }
    /* The gap is what the search could not rule out: no repair saves more moves than that. */
    uint32_t known = ret->exact ? ret->moves : ret->lower_bound;
    /* What was not read may stand for any of it. */
    gap = verify->open_chains ? known : gap;
    ret->lower_bound = known > gap ? known - gap : 0;
    ret->exact = ret->exact && !verify->open_chains;
    MYR_ASSERT(ret->lower_bound <= ret->moves && steps_of(ret) <= steps_of(labelled));
    ret->exact = ret->exact && gap == 0;
    return worse ? graph->plan : plan;
}

/* Ends that were not read: of the design, or of a device that is known. */
static bool verify_is_open(const struct verify_job *job, uint32_t vertex)
{
    const struct myr_verify *verify = job->verify;
    if (!verify_is_foreign(verify, vertex)) {
        return verify->state[vertex] == MYR_STATE_UNREAD;
    }
    return job->foreign_unread[vertex - verify->design->port_count];
}

/* The found cables as they are when devices get each other's names. */
static void repair_renamed(struct verify_job *job, struct myr_repair *ret)
{
    struct myr_verify *verify = job->verify;
    const struct myr_design *design = verify->design;
    size_t count = verify->vertex_count;
    uint32_t *now = MYR_ARENA_NEW(verify->arena, uint32_t, count);
    uint32_t *found = MYR_ARENA_NEW(verify->arena, uint32_t, count);
    uint8_t *known = MYR_ARENA_NEW(verify->arena, uint8_t, design->port_count);
    uint8_t *open = MYR_ARENA_NEW(verify->arena, uint8_t, count);
    uint8_t *state = MYR_ARENA_NEW(verify->arena, uint8_t, design->port_count);
    /* Where each port would be if devices had the names that their cables tell. */
    for (uint32_t v = 0; v < count; v++) {
        uint32_t device = v < design->port_count ? design->port_device[v] : MYR_NONE;
        uint32_t other = device == MYR_NONE ? MYR_NONE : verify->renames[device];
        now[v] = other == MYR_NONE ? v : v - design->first_port[device] + design->first_port[other];
    }
    for (uint32_t v = 0; v < count; v++) {
        MYR_ASSERT(now[v] < count);
        /* Cables stay where they are; their ends get other names. */
        found[now[v]] = verify->found[v] == MYR_NONE ? MYR_NONE : now[verify->found[v]];
        open[now[v]] = verify_is_open(job, v);
        if (v < design->port_count) {
            known[now[v]] = is_known(job, v);
        }
    }
    /* As in state_of: a cable is missing where somebody looked at both of its ends. */
    for (uint32_t p = 0; p < design->port_count; p++) {
        bool both = known[p] && (verify->plan[p] == MYR_NONE || known[verify->plan[p]]);
        state[p] = both ? MYR_STATE_MISSING : MYR_STATE_UNSEEN;
    }
    uint32_t chains;
    const uint32_t *readable = verify_readable_plan(verify, verify->plan, found, open, &chains);
    struct repair_graph graph = {design, verify->vertex_count, readable, found, state};
    struct myr_repair labelled;
    repair_labelled(&graph, verify->arena, &labelled);
    const uint32_t *plan = repair_as_equivalent(verify, &graph, &labelled, ret);
    verify->relabel_links = count_relabelled(&graph, plan);
}

/* Ports are right that have an equivalent neighbour. */
static void accept_equivalent(struct verify_job *job, const uint32_t *plan)
{
    struct myr_verify *verify = job->verify;
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        if (!(job->flags[p] & VERIFY_JUDGED) || job->open[p]) {
            continue;
        }
        /* A port without a cable either way is idle: the plan has moved elsewhere. */
        bool settled = verify->found[p] != MYR_NONE && plan[p] == verify->found[p];
        bool waits = verify->found[p] == MYR_NONE && plan[p] == MYR_NONE;
        verify->state[p] = settled ? MYR_STATE_RIGHT : waits ? MYR_STATE_IDLE : verify->state[p];
        if (verify->state[p] == MYR_STATE_WRONG && plan[p] == MYR_NONE) {
            verify->state[p] = MYR_STATE_EXTRA;
        } else if (verify->state[p] == MYR_STATE_EXTRA && plan[p] != MYR_NONE) {
            verify->state[p] = MYR_STATE_WRONG;
        }
    }
}

/* Both ways are always told; 'repair' is the one that was asked for. */
static void repair_all(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    job->open = MYR_ARENA_NEW(verify->arena, uint8_t, verify->vertex_count);
    for (uint32_t v = 0; v < verify->vertex_count; v++) {
        job->open[v] = verify_is_open(job, v);
    }
    const uint32_t *readable =
        verify_readable_plan(verify, verify->plan, verify->found, job->open, &verify->open_chains);
    struct repair_graph graph = {verify->design, verify->vertex_count, readable, verify->found,
                                 verify->state};
    repair_labelled(&graph, verify->arena, &verify->labelled);
    verify->labelled.exact = verify->labelled.exact && !verify->open_chains;
    verify->repair = verify->labelled;
    /* Nothing differs: there is nothing to read in another way. */
    if (verify->labelled.components == 0) {
        verify->equivalent = verify->labelled;
        return;
    }
    const uint32_t *plan =
        repair_as_equivalent(verify, &graph, &verify->labelled, &verify->equivalent);
    verify->relabel_links = count_relabelled(&graph, plan);
    verify->relabel_moves = verify->equivalent.moves;
    if (verify->relabel_devices) {
        struct myr_repair renamed;
        repair_renamed(job, &renamed);
        verify->relabel_moves = renamed.moves;
    }
    if (verify->options.equivalent) {
        verify->repair = verify->equivalent;
        accept_equivalent(job, plan);
    }
}

static void verify_job_done(struct verify_job *job)
{
    identify_done(&job->identify);
    myr_vec_done(&job->repeats);
    spelling_done(&job->spelling);
    myr_port_names_done(&job->names);
}

/*
 * The order matters: who is who, what is plugged where, what that means, and what to do. Patterns
 * come before the repair, since renames are theirs; degraded links after it, since they are in
 * their place.
 */
int myr_verify(struct myr_verify *ret, struct myr_arena *arena, const struct myr_design *design,
               const struct myr_cabling *cabling, const struct myr_verify_options *options,
               struct myr_err *err)
{
    *ret = (struct myr_verify){
        .arena = arena, .design = design, .cabling = cabling, .options = *options};
    ret->options.nets = options->nets ? options->nets : 1U << MYR_NET_COMPUTE;
    MYR_CLEANUP(verify_job_done) struct verify_job job = {.verify = ret};
    job.flags = MYR_ARENA_NEW(arena, uint8_t, design->port_count);
    if (!options->port_names) {
        MYR_TRY(myr_port_names_init(&job.names, arena, err));
    }
    spelling_init(&job.spelling, arena, design,
                  options->port_names ? options->port_names : &job.names, options->catalog);
    identify_init(&job.identify, arena, design, cabling, &job.spelling, &ret->options);
    identify_by_name(&job.identify);
    identify_learn(&job.identify);
    identify_by_structure(&job.identify, ret);
    ret->by_cable = job.identify.by_cable;
    ret->nodes = job.identify.nodes;
    ret->listed = job.identify.listed;
    MYR_TRY(verify_match(&job, err));
    ret->name_conflicts = job.identify.name_conflicts;
    ret->places = job.identify.devices;
    verify_find_replaced(ret);
    fill_states(&job);
    pattern_find(ret);
    repair_all(&job);
    verify_degrade(&job);
    count_states(ret);
    verify_cover(ret);
    return MYR_OK;
}
