/* compare_log: from a log and a few words to a layout that the model can be asked about. */
#include "myriad/fit/calibrate.h"
#include "myriad/fit/compare.h"

/* What a log may leave out and the user has to say. */
static int need(bool given, const char *what, struct myr_err *err)
{
    if (given) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "the log does not say %s", what);
    myr_err_hint(err, "myriad fit compare --log run.log --model llama3-70b --device h100 "
                      "--gpus 256 --tp 4 --pp 4");
    return rc;
}

/* What the log says ran, and somebody says otherwise: another run would be predicted. */
static int check_same(const struct myr_log_comparison *c, const struct myr_case_question *u,
                      struct myr_err *err)
{
    struct myr_fit_query log = myr_fit_query_default();
    log.it.model = &c->model;
    myr_trainlog_query(&c->log, &log);
    const struct {
        const char *name;
        uint64_t asked, there;
    } pairs[] = {
        {"tp", u->tp, log.tp},
        {"pp", u->pp, log.pp},
        {"vp", u->vp, log.vp},
        {"dp", u->dp, log.dp},
        {"cp", u->cp, log.cp},
        {"ep", u->ep, log.ep},
        {"micro-batch", u->micro_batch, log.micro_batch},
        {"gpus", u->gpus, log.gpus},
        {"batch", u->batch, log.batch},
        {"seq", u->seq, log.seq_tokens},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        if (pairs[i].asked && pairs[i].there && pairs[i].asked != pairs[i].there) {
            return myr_err_set(err, MYR_EINVAL, "--%s is %llu, but %llu ran, as the log says",
                               pairs[i].name, (unsigned long long)pairs[i].asked,
                               (unsigned long long)pairs[i].there);
        }
    }
    return MYR_OK;
}

/* What the user says, and the log fills in what is still open. */
static void fix_axes(struct myr_log_comparison *c, const struct myr_case_question *u)
{
    struct myr_fit_query *q = &c->query;
    q->it.model = &c->model;
    q->it.constants = c->profiles.constants;
    q->gpus = (uint32_t)u->gpus;
    q->batch = (uint32_t)u->batch;
    q->seq_tokens = (uint32_t)u->seq;
    myr_case_axes(u, q);
    q->any_precision = false; /* a log has one */
    q->top = 1;
    myr_trainlog_query(&c->log, q);
    q->seq_tokens = q->seq_tokens ? q->seq_tokens : c->model.seq_tokens;
}

/* What ran need not be among what is searched: so many chunks, so large a micro-batch. */
static bool set_as_told(struct myr_log_comparison *c, struct myr_arena *arena,
                        struct myr_fit_answer *answer)
{
    struct myr_fit_query open = c->query;
    struct myr_fit_memory memory;
    open.vp = open.micro_batch = 0;
    if (myr_fit_search(&open, arena, answer, NULL) < 0) {
        return false;
    }
    struct myr_layout l = answer->top[0].layout;
    /* The best layout of the open question, with the log's own sizes put in. */
    l.vp = c->query.vp ? c->query.vp : l.vp;
    l.micro_batch = c->query.micro_batch ? c->query.micro_batch : l.micro_batch;
    l.schedule = l.vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    l.first_layers = l.last_layers = l.recompute_layers = 0;
    if (myr_layout_broken(&l, &c->model, c->query.gpus) != MYR_LAYOUT_OK) {
        return false;
    }
    myr_fit_memory_of(&c->query.it, &l, &memory);
    c->layout = l;
    c->fits = memory.fits;
    return true;
}

/* Axes that neither the log nor the user fixes take the model's best; one that ran did fit. */
static int choose_layout(struct myr_log_comparison *c, struct myr_arena *arena, struct myr_err *err)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
    int rc = myr_fit_search(&c->query, arena, answer, err);
    if (rc < 0 && !answer->has_nearest) {
        return set_as_told(c, arena, answer) ? MYR_OK : rc;
    }
    c->fits = rc == MYR_OK;
    c->layout = c->fits ? answer->top[0].layout : answer->nearest;
    return MYR_OK;
}

/* The device first: it is the one thing that no log says. */
static int look_up(struct myr_log_comparison *c, struct myr_arena *arena,
                   const struct myr_log_question *u, struct myr_err *err)
{
    const struct myr_case_question *of = &u->of;
    MYR_TRY(need(of->device, "the device: give --device NAME", err));
    MYR_TRY(myr_profiles_init(&c->profiles, arena, err));
    MYR_TRY(of->profile ? myr_profiles_load(&c->profiles, arena, of->profile, err) : MYR_OK);
    MYR_TRY(myr_trainlog_read(&c->log, u->log, err));
    MYR_TRY(of->model ? myr_model_find(arena, of->model, &c->model, err)
                      : myr_trainlog_model(&c->log, &c->model, err));
    MYR_TRY(myr_profiles_device(&c->profiles, myr_str_from(of->device), &c->query.it.device, err));
    struct myr_str release =
        myr_str_from(of->software ? of->software : c->query.it.device->software);
    MYR_TRY(myr_profiles_stack(&c->profiles, release, &c->query.it.stack, &c->stack_exact, err));
    struct myr_stated stated = {};
    MYR_TRY(of->recipe ? myr_recipe_words("--recipe", of->recipe, &stated, err) : MYR_OK);
    c->query.it.open = myr_profiles_recipes(&c->profiles, c->query.it.stack, c->query.it.device,
                                            &c->model, &stated, c->recipes);
    c->query.it.recipes = c->recipes;
    /* What the log says of a model by name: its modules may have been left out. */
    if (of->model && c->log.given[MYR_LOG_MTP]) {
        c->model.mtp_count = (uint32_t)c->log.arguments[MYR_LOG_MTP];
        return myr_model_check(&c->model, err);
    }
    return MYR_OK;
}

static int compare(struct myr_log_comparison *c, struct myr_arena *arena,
                   const struct myr_log_question *u, struct myr_err *err)
{
    MYR_TRY(look_up(c, arena, u, err));
    MYR_TRY(check_same(c, &u->of, err));
    fix_axes(c, &u->of);
    MYR_TRY(need(c->query.gpus > 0, "how many GPUs: give --gpus N", err));
    MYR_TRY(need(c->query.batch > 0, "the batch: give --batch SEQUENCES", err));
    MYR_TRY(choose_layout(c, arena, err));
    myr_compare(&c->query.it, &c->layout, &c->log, &c->result);
    double spread = myr_fit_spread(&c->profiles, &c->query.it, &c->layout, &c->result.cost,
                                   c->stack_exact ? 0 : MYR_UNKNOWN_RELEASE)
                        .share;
    c->low_s = c->result.cost.step_s / (1 + spread);
    c->high_s = c->result.cost.step_s * (1 + spread);
    return MYR_OK;
}

/* Where it fails nothing is held; else myr_log_comparison_done() frees the log. */
int myr_compare_log(struct myr_log_comparison *ret, struct myr_arena *arena,
                    const struct myr_log_question *question, struct myr_err *err)
{
    *ret = (struct myr_log_comparison){.query = myr_fit_query_default()};
    MYR_ASSERT(question->log);
    myr_trainlog_init(&ret->log);
    int rc = compare(ret, arena, question, err);
    if (rc < 0) {
        myr_log_comparison_done(ret);
    }
    return rc;
}

void myr_log_comparison_done(struct myr_log_comparison *comparison)
{
    myr_trainlog_done(&comparison->log);
}
