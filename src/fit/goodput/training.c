/*
 * training: a whole run planned: layouts, failures by two practices at one rate or two, price and
 * currency. A number below 0 in the question is "not given".
 */
#include "myriad/fit/training.h"

/* A server draws this much more than its GPUs do: the data sheets' ratio. */
#define SERVER_POWER 1.8

/* Below 0 is "not given" where 0 is an answer. */
struct myr_training_question myr_training_question_default(void)
{
    return (struct myr_training_question){.of = myr_case_question_default(),
                                          .gpus_per_node = MYR_TRAINING_NODE_GPUS,
                                          .spare_risk = -1,
                                          .pue = -1,
                                          .kwh = -1,
                                          .years = -1,
                                          .gpu_hour = -1};
}

static double given(double value, double otherwise)
{
    return value >= 0 ? value : otherwise;
}

/* What the run is charged by: the design's figures unless the question says otherwise. */
static int set_price(struct myr_training *t, struct myr_arena *arena,
                     const struct myr_training_question *u, struct myr_err *err)
{
    struct myr_campaign_question *q = &t->question;
    const struct myr_run_facility *f = &t->facility;
    const struct myr_run_facility_question question = {
        .pue = u->pue,
        .kwh = u->kwh,
        .years = u->years,
        .gpu_hour = u->gpu_hour,
        .currency = u->currency,
        .design = t->it.has_design ? &t->it.design : NULL,
        .gpus = t->it.query.gpus,
        .gpu_watts = SERVER_POWER * t->it.query.it.device->power_w,
    };
    MYR_TRY(myr_run_facility_of(&question, arena, &t->facility, err));
    q->watts = f->it_watts.value;
    q->pue = f->pue.value;
    /* What has no price adds nothing; whoever tells a sum asks 'known' first. */
    q->price_per_kwh = f->kwh.known ? f->kwh.value : 0;
    q->price_per_hour = f->machine_hour.known ? f->machine_hour.value : 0;
    return MYR_OK;
}

/* Copies are taken between steps: the nearest number of them. */
static uint64_t steps_of(double interval_s, double step_s)
{
    double steps = interval_s / step_s;
    return steps < 1 ? 1 : steps < 1e15 ? (uint64_t)(steps + 0.5) : (uint64_t)1e15;
}

/* One practice at one rate: the best of the layouts for it, and what it costs. */
static int add_case(struct myr_training *t, enum myr_practice practice, struct myr_job_rate rate,
                    uint64_t play, struct myr_err *err)
{
    struct myr_training_case *c = &t->cases[t->case_count];
    struct myr_campaign_question *q = &t->question;
    double nodes = (double)t->it.query.gpus / q->gpus_per_node;
    MYR_ASSERT(t->case_count < MYR_TRAINING_CASES);
    *c = (struct myr_training_case){.practice = practice, .rate = rate, .total_cost = -1};
    q->rate_per_s = rate.per_1000_node_days / 1000 / 86400 * nodes;
    MYR_TRY(myr_campaign_of(q, practice, t->answer.top, t->answer.top_count, &c->campaign, err));
    t->case_count++;
    struct myr_fit_cost cost;
    myr_fit_cost_of(&t->it.query.it, &c->campaign.layout, &cost);
    /* The winner need not be the fastest layout, so its own interval is asked for. */
    c->spread = myr_case_spread(&t->it, &c->campaign.layout, &cost).share;
    c->played = myr_failure_play(&c->campaign.renewal, play);
    c->interval_steps = steps_of(c->campaign.renewal.interval, c->campaign.step_s);
    c->priced = t->facility.machine_hour.known;
    if (q->tokens > 0 && c->campaign.ends) {
        myr_campaign_days(&c->campaign, c->spread, c->days);
        if (t->facility.kwh.known && c->priced && !t->facility.servers_unpriced) {
            c->total_cost = c->campaign.energy_cost + c->campaign.machine_cost;
        }
    }
    return MYR_OK;
}

/* Several layouts, for the fastest need not keep the most work (docs/fit.md, "Goodput"). */
static int find_layouts(struct myr_training *t, struct myr_arena *arena,
                        const struct myr_training_question *u, struct myr_err *err)
{
    struct myr_case_question of = u->of;
    of.top = MYR_TRAINING_LAYOUTS;
    MYR_TRY(myr_case_init(&t->it, arena, &of, err));
    t->question.gpus_per_node = u->gpus_per_node;
    if (t->it.has_design) {
        const struct myr_design_head *head = t->it.design.head;
        /* The default is no statement: only another number can contradict the design. */
        if (u->gpus_per_node != MYR_TRAINING_NODE_GPUS && u->gpus_per_node != head->gpus_per_node) {
            return myr_err_set(err, MYR_EINVAL, "--gpus-per-node %u, the design's nodes have %u",
                               u->gpus_per_node, head->gpus_per_node);
        }
        t->question.store = myr_store_of(&t->it.design);
        t->question.gpus_per_node = head->gpus_per_node;
        /* What the design has beside the job: room for spares. */
        t->nodes_left = (head->gpus - t->it.query.gpus) / head->gpus_per_node;
    }
    return myr_case_answer(&t->it, arena, &t->answer, err);
}

static int plan(struct myr_training *t, struct myr_arena *arena,
                const struct myr_training_question *u, struct myr_err *err)
{
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    struct myr_campaign_question *q = &t->question;
    uint32_t count = 0;
    MYR_TRY(myr_recovery_read(&t->recovery, arena, u->data, err));
    MYR_TRY(find_layouts(t, arena, u, err));
    double gpus = t->it.query.gpus;
    q->it = t->it.query.it;
    q->recovery = &t->recovery;
    q->tokens = u->tokens;
    q->spare_risk = given(u->spare_risk, MYR_TRAINING_RISK);
    q->interval_s = u->times.interval_s;
    q->fault = u->fault;
    q->has_recovery = u->times.has_recovery;
    q->recovery_s = u->times.recovery_s;
    q->has_stall = u->times.has_stall;
    q->stall_s = u->times.stall_s;
    MYR_TRY(myr_job_rates(&t->recovery, u->rate, gpus, q->gpus_per_node, rates, &count, err));
    MYR_TRY(set_price(t, arena, u, err));
    MYR_ASSERT(count <= MYR_JOB_RATES_MAX && 2 * count <= MYR_TRAINING_CASES);
    for (uint32_t i = 0; i < count; i++) {
        MYR_TRY(add_case(t, MYR_PRACTICE_COMMON, rates[i], u->play, err));
        MYR_TRY(add_case(t, MYR_PRACTICE_BEST, rates[i], u->play, err));
    }
    t->class_count = myr_failure_shares(&t->recovery, gpus, q->gpus_per_node, 0, t->classes);
    return MYR_OK;
}

/* Nothing is held where it fails. */
int myr_training_plan(struct myr_training *ret, struct myr_arena *arena,
                      const struct myr_training_question *question, struct myr_err *err)
{
    *ret = (struct myr_training){};
    MYR_ASSERT(question->gpus_per_node > 0);
    int rc = plan(ret, arena, question, err);
    if (rc < 0) {
        myr_training_done(ret);
    }
    return rc;
}

void myr_training_done(struct myr_training *training)
{
    myr_recovery_done(&training->recovery);
    myr_case_done(&training->it);
}
