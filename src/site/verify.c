#include "myriad/site/verify.h"

#include "repair.h"
#include "verify_internal.h"

const char *const myr_port_state_names[MYR_STATE_COUNT] = {"idle",   "right", "wrong",   "missing",
                                                           "unseen", "extra", "degraded"};

/* Whether somebody can say what is in the port. */
static bool is_known(const struct verify_job *job, uint32_t port)
{
    if (job->verify->found[port] != MYR_NONE) {
        return true;
    }
    return (job->flags[port] & (VERIFY_LOOKED | VERIFY_DOUBT)) == VERIFY_LOOKED;
}

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
    return is_known(job, port) && is_known(job, plan) ? MYR_STATE_MISSING : MYR_STATE_UNSEEN;
}

static void fill_states(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    verify->state = MYR_ARENA_NEW(verify->arena, uint8_t, verify->design->port_count + 1);
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        if (job->flags[p] & VERIFY_JUDGED) {
            verify->state[p] = (uint8_t)state_of(job, p);
        }
    }
}

static void count_states(struct myr_verify *verify)
{
    memset(verify->counts, 0, sizeof(verify->counts));
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        verify->counts[verify->state[p]]++;
    }
}

bool myr_verify_clean(const struct myr_verify *verify)
{
    return verify->counts[MYR_STATE_WRONG] + verify->counts[MYR_STATE_MISSING] +
               verify->counts[MYR_STATE_EXTRA] + verify->counts[MYR_STATE_DEGRADED] ==
           0;
}

static void repair_all(struct verify_job *job)
{
    struct myr_verify *verify = job->verify;
    struct repair_graph graph = {
        .design = verify->design,
        .vertex_count = verify->vertex_count,
        .plan = verify->plan,
        .found = verify->found,
        .state = verify->state,
    };
    repair_labelled(&graph, verify->arena, &verify->labelled);
    verify->repair = verify->labelled;
}

int myr_verify(struct myr_verify *ret, struct myr_arena *arena, const struct myr_design *design,
               const struct myr_cabling *cabling, const struct myr_verify_options *options,
               struct myr_err *err)
{
    *ret = (struct myr_verify){
        .arena = arena, .design = design, .cabling = cabling, .options = *options};
    ret->options.nets = options->nets ? options->nets : 1U << MYR_NET_COMPUTE;
    struct verify_job job = {.verify = ret};
    job.flags = MYR_ARENA_NEW(arena, uint8_t, design->port_count + 1);
    identify_init(&job.identify, arena, design, cabling, options->binding);
    identify_by_name(&job.identify);
    int r = verify_match(&job, err);
    if (r == MYR_OK) {
        ret->name_conflicts = job.identify.name_conflicts;
        fill_states(&job);
        repair_all(&job);
        verify_degrade(&job);
        count_states(ret);
    }
    identify_done(&job.identify);
    return r;
}
