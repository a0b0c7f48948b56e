#include "myriad/sched/rehearse.h"

#include "replay/ask.h"

/* By their names, each once. */
static int read_policies(const struct myr_rehearsal_question *question, struct myr_rehearsal *ret,
                         struct myr_err *err)
{
    bool seen[MYR_REPLAY_POLICIES] = {};
    if (question->count == 1) {
        return myr_err_set(err, MYR_EINVAL,
                           "--policy is given once: a second one is expected to compare with");
    }
    for (uint32_t i = 0; i < question->count; i++) {
        struct myr_str word = myr_str_from(question->policies[i]);
        char quoted[MYR_EXCERPT_MAX];
        uint32_t policy = 0;
        while (policy < MYR_REPLAY_POLICIES &&
               !myr_str_eq(word, myr_str_from(myr_replay_policy_names[policy]))) {
            policy++;
        }
        if (policy == MYR_REPLAY_POLICIES) {
            return myr_err_set(err, MYR_EINVAL,
                               "--policy: '%s', fifo, first-fit, fair or preempt is expected",
                               myr_text_excerpt(word, quoted));
        }
        if (seen[policy]) {
            return myr_err_set(err, MYR_EINVAL,
                               "--policy: '%s' is given twice, others are expected",
                               myr_replay_policy_names[policy]);
        }
        seen[policy] = true;
        ret->runs[ret->run_count++].policy = (enum myr_replay_policy)policy;
    }
    for (uint32_t policy = 0; question->count == 0 && policy < MYR_REPLAY_POLICIES; policy++) {
        ret->runs[ret->run_count++].policy = (enum myr_replay_policy)policy;
    }
    return MYR_OK;
}

/* What is told of a replay, and nothing that lives as long as it does. */
static void keep(struct myr_rehearsal *r, struct myr_rehearsal_run *run)
{
    struct myr_replay_answer *a = &r->read;
    r->size_count = a->size_count;
    for (uint32_t i = 0; i < a->size_count; i++) {
        const struct myr_replay_size_row *row = &a->sizes[i];
        r->sizes[i] = row->gpus;
        run->sizes[i] = (struct myr_rehearsal_size){.jobs = row->jobs,
                                                    .mean_h = row->wait_mean_h,
                                                    .p99_h = row->wait_p99_h,
                                                    .max_h = row->wait_max_h};
    }
    MYR_ASSERT(a->longest_count > 0); /* a trace without jobs is refused */
    run->longest = a->longest[0];
    run->took_ns = a->took_ns;
    myr_replay_result_done(&a->result);
    run->result = a->result;
    run->result.submitted = NULL;
    a->result = (struct myr_replay_result){};
    a->size_count = a->longest_count = 0;
}

static int rehearse(const struct myr_rehearsal_question *question, struct myr_arena *arena,
                    struct myr_rehearsal *ret, struct myr_err *err)
{
    struct myr_replay_question asked = question->replay;
    struct myr_tenant *tenants = NULL;
    asked.explain = NULL;
    asked.schedule = false;
    asked.samples = 0;
    MYR_TRY(read_policies(question, ret, err));
    MYR_TRY(replay_ask_read(&asked, &ret->read, &tenants, err));
    for (uint32_t i = 0; i < ret->run_count; i++) {
        asked.policy = ret->runs[i].policy;
        MYR_TRY(replay_ask_play(&asked, tenants, arena, &ret->read, err));
        keep(ret, &ret->runs[i]);
    }
    return MYR_OK;
}

int myr_rehearse(const struct myr_rehearsal_question *question, struct myr_arena *arena,
                 struct myr_rehearsal *ret, struct myr_err *err)
{
    *ret = (struct myr_rehearsal){};
    int rc = rehearse(question, arena, ret, err);
    if (rc < 0) {
        myr_rehearsal_done(ret);
    }
    return rc;
}

void myr_rehearsal_done(struct myr_rehearsal *rehearsal)
{
    myr_replay_answer_done(&rehearsal->read);
}
