#include "compare_rows.h"
#include "myriad/fit/calibrate.h"

/*
 * The measuring of a comparison: each design is simulated and fitted by itself, one after the
 * other, so that only one simulation is in memory at a time.
 */

/* How far all of it is; each design has the same number of steps. */
struct steps {
    const struct myr_compare_question *question;
    uint64_t done;
};

enum { STEPS_A_SIDE = 4 }; /* planned, simulated, contention, fitted */

/* To whoever waits; nobody has to. */
static void tell(const struct steps *steps)
{
    const struct myr_compare_question *q = steps->question;
    if (q->progress) {
        q->progress(q->progress_context, steps->done, (uint64_t)q->count * STEPS_A_SIDE);
    }
}

/* Inside a step nothing is known of how far it is; that it goes on is told. */
static void tell_inside(void *context, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    tell(context);
}

/* The same workload on each, over the compute network, with that design's way of spreading flows.
 */
static int simulate(struct myr_compare_side *side, const struct myr_compare_question *question,
                    struct steps *steps, struct myr_err *err)
{
    MYR_CLEANUP(myr_sim_answer_done) struct myr_sim_answer answer = {};
    const char *workload = question->workload ? question->workload : MYR_COMPARE_WORKLOAD;
    struct myr_sim_question ask = {
        .planned = &side->job,
        .net = MYR_NET_COMPUTE,
        .workloads = {&workload, 1},
        .balance = {side->policy, question->seed, false},
        /* A message goes as one flow. */
        .queue_pairs = 1,
        .efficiency_permille = side->efficiency_permille,
        .progress = tell_inside,
        .progress_context = steps,
    };
    int rc = myr_sim_ask(&answer, &ask, err);
    if (rc < 0) {
        /* Several designs are asked: the message names the one that it is about. */
        (void)myr_err_wrap(err, "%s", side->file);
        return rc;
    }
    side->simulated = answer.jobs[0];
    /* A workload that is no collective has no algorithm. */
    side->algorithm = side->simulated.load.collective
                          ? myr_algorithm_names[side->simulated.load.algorithm]
                          : NULL;
    return MYR_OK;
}

/* What flows that meet lose on this fabric, when jobs like this fill it. */
static int contend(struct myr_compare_side *side, const struct myr_compare_question *question,
                   struct steps *steps, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    struct myr_balance_options balance = {side->policy, question->seed, false};
    struct myr_graph graph;
    myr_arena_init(&scratch);
    MYR_TRY(myr_graph_init(&graph, &scratch, &side->job, MYR_NET_COMPUTE, err));
    return myr_contention_compute(&graph, &balance, tell_inside, steps, &side->contention, err);
}

/* The best layout on it; that none fits is an answer. */
static int train(struct myr_compare_side *side, struct myr_arena *arena,
                 const struct myr_compare_question *question, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    /* The question is the same for all designs; only the design and its contention change. */
    struct myr_case_question ask = question->of;
    struct myr_err why = {};
    myr_arena_init(&scratch);
    /* Large: not for the stack. */
    struct myr_case *it = MYR_ARENA_ONE(&scratch, struct myr_case);
    struct myr_fit_answer *found = MYR_ARENA_ONE(&scratch, struct myr_fit_answer);
    ask.planned = &side->job;
    ask.contention = &side->contention;
    int rc = myr_case_init(it, &scratch, &ask, err);
    if (rc < 0) {
        (void)myr_err_wrap(err, "%s", side->file);
        return rc;
    }
    /* Errors of the search stay apart: that nothing fits is a row's answer, all else an error. */
    rc = myr_case_answer(it, &scratch, found, &why);
    if (rc == MYR_OK) {
        rc = myr_case_price(it, &found->top[0].layout, NULL, &scratch, &side->price, &why);
    }
    side->trained = rc == MYR_OK;
    if (side->trained) {
        side->layout = found->top[0].layout;
        /* The job may be smaller than the design. */
        side->gpus = it->query.gpus;
        side->spread = myr_case_spread(it, &side->layout, &side->price.cost).share;
        /* Copies: the profiles are given back with the case. */
        side->device = myr_arena_printf(arena, "%s", it->query.it.device->name);
        side->software = myr_arena_printf(arena, "%s", it->query.it.stack->name);
    }
    myr_case_done(it);
    if (rc < 0 && rc != MYR_EINFEASIBLE) {
        if (err) {
            *err = why;
            (void)myr_err_wrap(err, "%s", side->file);
        }
        return rc;
    }
    side->not_trained = rc < 0 ? myr_arena_printf(arena, "%s", why.message) : NULL;
    return MYR_OK;
}

/* A step is counted even if nothing is trained, so that the total is known from the start. */
static int measure(struct myr_compare_side *side, struct myr_arena *arena,
                   const struct myr_compare_question *question, struct steps *steps,
                   struct myr_err *err)
{
    MYR_TRY(simulate(side, question, steps, err));
    steps->done++;
    tell(steps);
    MYR_TRY(contend(side, question, steps, err));
    steps->done++;
    tell(steps);
    if (question->of.model) {
        MYR_TRY(train(side, arena, question, err));
    }
    steps->done++;
    tell(steps);
    return MYR_OK;
}

/* What is asked of every side is read once: standard input and pipes have it once only. */
static int read_shared(struct myr_arena *arena, const struct myr_compare_question *question,
                       const struct myr_compare_question **ret, struct myr_err *err)
{
    struct myr_compare_question *read = MYR_ARENA_ONE(arena, struct myr_compare_question);
    *read = *question;
    struct myr_case_question *of = &read->of;
    if (of->profile && !of->profile_doc) {
        MYR_TRY(myr_profiles_open(arena, of->profile, &of->profile_doc, err));
    }
    if (of->model && !of->model_read) {
        struct myr_model *model = MYR_ARENA_ONE(arena, struct myr_model);
        MYR_TRY(myr_model_find(arena, of->model, model, err));
        of->model_read = model;
    }
    if (of->layout && !of->layout_doc) {
        MYR_TRY(myr_layout_file_open(arena, of->layout, &of->layout_doc, err));
    }
    *ret = read;
    return MYR_OK;
}

/* On an error the designs read so far are in 'ret', and are given back with it. */
int myr_compare_designs(struct myr_design_comparison *ret, struct myr_arena *arena,
                        const struct myr_catalog *catalog,
                        const struct myr_compare_question *question, struct myr_err *err)
{
    *ret = (struct myr_design_comparison){.question = question};
    MYR_TRY(compare_check(question, err));
    MYR_TRY(read_shared(arena, question, &ret->question, err));
    question = ret->question;
    struct steps steps = {.question = question};
    struct myr_price_file prices = {.path = question->prices};
    ret->count = question->count;
    /* All are read before the first is simulated: bad input shows at once. */
    for (uint32_t i = 0; i < ret->count; i++) {
        MYR_TRY(compare_open(&ret->sides[i], arena, catalog, question, &prices, i, err));
        steps.done++;
        tell(&steps);
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        MYR_TRY(measure(&ret->sides[i], arena, question, &steps, err));
    }
    MYR_ASSERT(steps.done == (uint64_t)ret->count * STEPS_A_SIDE);
    return compare_fill(ret, arena, err);
}

/* Designs that were read from files are mapped; planned ones lie in the arena. */
void myr_design_comparison_done(struct myr_design_comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->count; i++) {
        myr_design_close(&comparison->sides[i].design);
    }
}
