/*
 * ask: a question from its words to its answer: the fabric, each job alone where there are several,
 * all of them together, and what follows from their times.
 */
#include "myriad/sim/question.h"

#include <stdlib.h>

#include "myriad/sim/state.h"
#include "myriad/text/kind.h"
#include "question/saved.h"

static double seconds_of(myr_ps ps)
{
    return (double)ps / (double)MYR_PS_PER_S;
}

/*
 * What packets cannot do is refused by its name, and what only packets know is refused without
 * them: nothing is quietly left out.
 */
static int check_packets(const struct myr_sim_question *question, struct myr_err *err)
{
    const struct {
        bool asked;
        const char *name, *why;
    } against[] = {
        {question->faults.count, "--fault", "links do not fail under packets yet"},
        {question->save != NULL, "--save", "packets are not saved yet"},
        {question->series_step != NULL, "--series", "packets have no time series yet"},
        {question->efficiency_permille && question->efficiency_permille != 1000, "--efficiency",
         "packets have headers and a congestion control of their own"},
        {question->sharing_loss_permille, "--sharing-loss", "packets queue and are marked"},
        {question->pause_permille, "--pause", "packets are paused by the switches"},
    };
    if (!question->packets) {
        bool said = question->cc != MYR_CC_DCQCN || question->mtu_bytes || question->header_bytes ||
                    question->kmin_bytes || question->kmax_bytes || question->pmax_permille ||
                    question->buffer_bytes || question->threads > 1;
        return said ? myr_err_set(err, MYR_EINVAL,
                                  "--cc, --mtu, --header, --kmin, --kmax, --pmax, --buffer and "
                                  "--threads are of packets: give --mode packet")
                    : MYR_OK;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(against); i++) {
        if (against[i].asked) {
            return myr_err_set(err, MYR_EINVAL, "%s does not go with --mode packet: %s",
                               against[i].name, against[i].why);
        }
    }
    if (question->threads > 1) {
        return myr_err_set(err, MYR_EINVAL,
                           "--threads is %u: packets are played by one thread so far",
                           question->threads);
    }
    if (question->cc != MYR_CC_DCQCN && question->cc != MYR_CC_DCQCN_CX &&
        question->cc != MYR_CC_HPCC && question->cc != MYR_CC_PFC) {
        return myr_err_set(err, MYR_EINVAL,
                           "--cc %s is not built yet; dcqcn, dcqcn-cx, hpcc and pfc are",
                           myr_cc_names[question->cc]);
    }
    return MYR_OK;
}

/* Topologies in words stand for what simulators were measured with; a design for what is built. */
static int set_packets(struct myr_sim_answer *answer, const struct myr_sim_question *question,
                       struct myr_err *err)
{
    enum { MTU_BUILT = 4096 };
    struct myr_packet_options *own = &answer->packets;
    *own = myr_packet_default(question->cc);
    if (!question->topology) {
        own->mtu_bytes = MTU_BUILT;
    }
    own->mtu_bytes = question->mtu_bytes ? question->mtu_bytes : own->mtu_bytes;
    own->header_bytes = question->header_bytes ? question->header_bytes : own->header_bytes;
    own->kmin_bytes = question->kmin_bytes ? question->kmin_bytes : own->kmin_bytes;
    own->kmax_bytes = question->kmax_bytes ? question->kmax_bytes : own->kmax_bytes;
    own->pmax_permille = question->pmax_permille ? question->pmax_permille : own->pmax_permille;
    own->buffer_bytes = question->buffer_bytes ? question->buffer_bytes : own->buffer_bytes;
    if (own->kmin_bytes >= own->kmax_bytes) {
        return myr_err_set(err, MYR_EINVAL,
                           "--kmin %llu: marks begin below the queue at which all are marked, "
                           "--kmax %llu",
                           (unsigned long long)own->kmin_bytes,
                           (unsigned long long)own->kmax_bytes);
    }
    return MYR_OK;
}

/* What the question leaves open is the engine's default; a topology brings its own latencies. */
static int set_options(struct myr_sim_answer *answer, const struct myr_sim_question *question,
                       struct myr_err *err)
{
    struct myr_sim_options *engine = &answer->engine;
    const char *overhead = question->message_overhead;
    *engine = myr_sim_default();
    engine->balance = question->balance;
    engine->queue_pairs = question->queue_pairs;
    engine->pause_permille = question->pause_permille;
    engine->sharing_loss_permille = question->sharing_loss_permille;
    engine->efficiency_permille = question->efficiency_permille;
    if (question->topology) {
        /* A topology in words has no cables: its delay stands for their lengths. */
        engine->link_ps = answer->fabric.topology.delay_ps;
        engine->switch_ps = answer->fabric.topology.switch_ps;
        if (answer->fabric.topology.scale_up_ps >= 0) {
            engine->scale_up_ps = answer->fabric.topology.scale_up_ps;
        }
    }
    if (overhead && !myr_sim_parse_time(myr_str_from(overhead), &engine->message_ps)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--message-overhead is '%.40s', a time such as 2us is expected",
                           overhead);
    }
    if (question->series_step &&
        (!myr_sim_parse_time(myr_str_from(question->series_step), &engine->series_ps) ||
         engine->series_ps == 0)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--series-step is '%.40s', a time such as 10us is expected",
                           question->series_step);
    }
    return MYR_OK;
}

/*
 * Slow nodes are slow from the start: a fault that degrades a link later takes its part of what the
 * node has left, not of what it was planned with.
 */
static int add_breakage(struct myr_sim_answer *answer, const struct myr_sim_question *question,
                        struct myr_err *err)
{
    for (uint32_t i = 0; i < question->slow.count; i++) {
        MYR_TRY(myr_sim_slow_words(answer->sim, &answer->graph, question->slow.items[i], err));
    }
    for (uint32_t i = 0; i < question->faults.count; i++) {
        MYR_TRY(myr_sim_fault_words(answer->sim, &answer->graph, question->faults.items[i], err));
    }
    return MYR_OK;
}

/* Job 'only' alone, or all of them (MYR_NONE), in a fresh engine with the same faults. */
static int prepare(struct myr_sim_answer *answer, const struct myr_sim_question *question,
                   uint32_t only, struct myr_err *err)
{
    /* Faults mark links in the graph: a new run starts from one without marks. */
    int rc =
        myr_graph_init(&answer->graph, &answer->arena, answer->fabric.design, question->net, err);
    if (rc < 0) {
        return rc;
    }
    MYR_ASSERT(!answer->sim);
    answer->sim = myr_sim_create(&answer->graph, &answer->engine);
    if (question->packets) {
        myr_sim_use_packets(answer->sim, &answer->packets);
    }
    if (question->routes) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        MYR_TRY(myr_kind_read(question->routes, UINT32_C(1) << 30, MYR_KINDS_CSV,
                              "a CSV list of routes, as --paths writes it,", &text, err));
        struct myr_str content = {text.len ? text.data : "", text.len};
        MYR_TRY(myr_sim_given_paths(answer->sim, myr_file_name(question->routes), content, err));
    }
    if (question->keep_paths && only == MYR_NONE && !question->packets) {
        myr_sim_keep_paths(answer->sim);
    }
    MYR_TRY(add_breakage(answer, question, err));
    if (answer->job_count > 1 && only == MYR_NONE) {
        myr_sim_defer_routing(answer->sim); /* so that the jobs know of each other */
    }
    for (uint32_t i = 0; i < answer->job_count; i++) {
        if (only != MYR_NONE && only != i) {
            continue;
        }
        MYR_TRY(myr_sim_load_words(answer->sim, &answer->graph, &answer->fabric.topology.hosts,
                                   question->workloads.items[i], question->balance.seed,
                                   &answer->jobs[i].load, err));
    }
    return MYR_OK;
}

/* When the last of its tasks ended. */
static myr_ps load_end(const struct myr_sim *sim, const struct myr_sim_load *load)
{
    myr_ps end = 0;
    MYR_ASSERT((uint64_t)load->first_task + load->task_count <= myr_sim_task_count(sim));
    for (uint32_t t = 0; t < load->task_count; t++) {
        myr_ps one = myr_sim_task_end(sim, load->first_task + t);
        end = one > end ? one : end;
    }
    return end;
}

/*
 * One after the other, each in an engine of its own: what a job takes when it has the fabric to
 * itself is the measure of what the others cost it. A single job has nobody to be compared with.
 */
static int run_alone(struct myr_sim_answer *answer, const struct myr_sim_question *question,
                     struct myr_err *err)
{
    for (uint32_t i = 0; answer->job_count > 1 && i < answer->job_count; i++) {
        struct myr_sim_result result;
        MYR_TRY(prepare(answer, question, i, err));
        MYR_TRY(
            myr_sim_run(answer->sim, question->progress, question->progress_context, &result, err));
        answer->jobs[i].alone = load_end(answer->sim, &answer->jobs[i].load);
        myr_sim_free(answer->sim);
        answer->sim = NULL;
    }
    return MYR_OK;
}

/* Not a difference, which could overflow. */
static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* What single flows would get if all moved at once. */
static int initial_rates(struct myr_sim_answer *answer, struct myr_err *err)
{
    const struct myr_sim_load *load = &answer->jobs[0].load;
    const struct myr_network *net = answer->graph.net;
    uint32_t count = load->flow_count, full = 0;
    if (answer->job_count > 1 || count == 0) {
        return MYR_OK;
    }
    MYR_TRY(myr_sim_route(answer->sim, err));
    uint64_t *rates = MYR_ARENA_NEW(&answer->arena, uint64_t, count);
    /* Line rate of a host: all planes together, in bits per second. */
    double line = (double)net->host_gbps * net->planes * 1e9, sum = 0, slow = 0;
    myr_sim_fair_rates(answer->sim, load->first_flow, count, rates);
    for (uint32_t i = 0; i < count; i++) {
        double part = (double)rates[i] / line;
        sum += part;
        slow += part > 0 ? 1 / part : 0;
        full += part > 0.9999;
    }
    /* The hundredth that fares worst says more about a policy than the single worst flow. */
    qsort(rates, count, sizeof(*rates), by_value);
    uint32_t hundredth = count / 100;
    answer->rates = (struct myr_sim_rates){.count = count,
                                           .mean = sum / count,
                                           .mean_slowdown = slow / count,
                                           .p1 = (double)rates[hundredth] / line,
                                           .least = (double)rates[0] / line,
                                           .full_share = (double)full / count};
    return MYR_OK;
}

/*
 * From the collective and the rates of the NICs and of the scale-up domain alone: neither schedule
 * nor paths are looked at. Who is quicker has left something out.
 */
static myr_ps collective_bound(const struct myr_sim_answer *answer, const struct myr_sim_load *load)
{
    const struct myr_network *net = answer->graph.net;
    struct myr_collective_bound least = myr_collective_least(&load->shape, &load->domains);
    double nic = (double)net->host_gbps * net->planes * 1e9 / 8;
    bool shared = load->domains.largest > 1;
    double scale_up = shared ? answer->fabric.design->head->scale_up_gbps * 1e9 / 8 : 0;
    double longest = least.all_nics_bytes / (nic * load->ranks);
    /* Into the busiest NIC; into a GPU, which has its NIC and its domain to get bytes from. */
    double others[] = {least.nic_bytes / nic, least.gpu_bytes / (nic + scale_up)};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        longest = others[i] > longest ? others[i] : longest;
    }
    return (myr_ps)(longest * (double)MYR_PS_PER_S);
}

/* Bandwidths are by the job's own end: other jobs may run on long after it. */
static void judge_job(const struct myr_sim_answer *answer, struct myr_sim_job *job)
{
    const struct myr_sim *sim = answer->sim;
    job->end = load_end(sim, &job->load);
    job->slowdown = job->alone > 0 ? (double)job->end / (double)job->alone : 1;
    if (job->load.collective) {
        job->bound = collective_bound(answer, &job->load);
        double seconds = seconds_of(job->end);
        double rate = seconds > 0 ? (double)job->load.bytes / 1e9 / seconds : 0;
        job->algorithm_gbytes_per_s = rate;
        job->bus_gbytes_per_s = rate * myr_collective_bus_factor(job->load.kind, job->load.ranks);
    }
}

/* A millionth and a nanosecond for rounding: the bound is worked out in floating point. */
static bool above_bound(const struct myr_sim_job *job)
{
    return job->end + job->end / 1000000 + MYR_PS_PER_NS >= job->bound;
}

/* Load of a channel: what went over it against what could have, over the whole run. */
static void judge_links(struct myr_sim_answer *answer)
{
    const struct myr_design *design = answer->fabric.design;
    double seconds = seconds_of(answer->result.end), sum = 0;
    uint32_t used = 0;
    for (uint32_t c = 0; c < design->link_count * 2 && seconds > 0; c++) {
        uint64_t bytes = myr_sim_channel_bytes(answer->sim, c);
        if (bytes) {
            double load = (double)bytes * 8 / ((double)myr_channel_gbps(design, c) * 1e9 * seconds);
            used++;
            sum += load;
            answer->load_max = load > answer->load_max ? load : answer->load_max;
        }
    }
    answer->load_mean = used ? sum / used : 0;
}

/* What can be said before anything is opened. */
static int check_workloads(const struct myr_sim_question *question, struct myr_err *err)
{
    if (question->workloads.count == 0) {
        int rc = myr_err_set(err, MYR_EINVAL, "give --workload WORDS");
        myr_err_hint(err, "myriad sim --help lists them");
        return rc;
    }
    if (question->routes && question->faults.count) {
        return myr_err_set(err, MYR_EINVAL,
                           "--routes: paths from a file avoid no fault; give them without --fault");
    }
    /* Each job is played alone and then with the others: standard input is there only once. */
    bool again = question->workloads.count > 1 || question->save;
    for (uint32_t i = 0; again && i < question->workloads.count; i++) {
        const char *words = question->workloads.items[i];
        if (strcmp(words, "file:-") == 0 || strncmp(words, "file:-,", 7) == 0) {
            return myr_err_set(err, MYR_EINVAL,
                               question->save
                                   ? "--save: who resumes the run reads its files again; file:- "
                                     "is standard input, which can be read once"
                                   : "--job: several workloads are read more than once; file:- is "
                                     "standard input, which can be read once");
        }
    }
    return MYR_OK;
}

/* Up to the moment, which must come before the end; then the state goes to its file. */
static int save_run(struct myr_sim_answer *answer, const struct myr_sim_question *question,
                    myr_ps at, struct myr_err *err)
{
    bool over;
    MYR_TRY(myr_sim_run_until(answer->sim, at, &over, err));
    if (over) {
        return myr_err_set(
            err, MYR_EINVAL, "--at %.40s: the run is over after %.6f us; nothing is saved",
            question->save_at, (double)myr_sim_now(answer->sim) / (double)MYR_PS_PER_US);
    }
    return saved_write(answer, question, err);
}

/* 'ret' stays as it is where nothing is to be saved. */
static int parse_at(const struct myr_sim_question *question, myr_ps *ret, struct myr_err *err)
{
    if ((question->save != NULL) != (question->save_at != NULL)) {
        return myr_err_set(err, MYR_EINVAL, "--save and --at go together");
    }
    if (question->save && !myr_sim_parse_time(myr_str_from(question->save_at), ret)) {
        return myr_err_set(err, MYR_EINVAL, "--at is '%.40s', a time such as 10us is expected",
                           question->save_at);
    }
    MYR_ASSERT(!question->save || !question->planned); /* who resumes opens the fabric again */
    return MYR_OK;
}

/* The engine has its tasks, or a state to go on from. */
static int finish(struct myr_sim_answer *ret, const struct myr_sim_question *question, bool resumed,
                  struct myr_err *err)
{
    MYR_TRY(
        myr_sim_run(ret->sim, question->progress, question->progress_context, &ret->result, err));
    if (question->packets) {
        ret->packet_stats = myr_sim_packet_stats(ret->sim);
    }
    for (uint32_t i = 0; i < ret->job_count; i++) {
        judge_job(ret, &ret->jobs[i]);
        if (resumed && !above_bound(&ret->jobs[i])) {
            return myr_err_set(err, MYR_ECORRUPT,
                               "the state that was loaded is wrong: a workload ends before it can");
        }
        MYR_ASSERT(above_bound(&ret->jobs[i])); /* a bug, not an input */
    }
    myr_times_collect(&ret->times, &ret->arena, ret->sim, 0, myr_sim_task_count(ret->sim));
    judge_links(ret);
    return MYR_OK;
}

/* A design that the caller has planned is borrowed; else it is read, or made from the topology. */
static int open_fabric(struct myr_sim_answer *ret, const struct myr_sim_question *question,
                       struct myr_err *err)
{
    ret->job_count = question->workloads.count;
    const struct myr_design *planned = question->planned;
    MYR_TRY(check_workloads(question, err));
    MYR_TRY(check_packets(question, err));
    MYR_TRY(planned ? myr_sim_fabric_borrow(&ret->fabric, planned,
                                            myr_design_str(planned, planned->head->name), err)
                    : myr_sim_fabric_open(&ret->fabric, question->design, question->topology, err));
    MYR_TRY(set_options(ret, question, err));
    MYR_TRY(set_packets(ret, question, err));
    ret->jobs = MYR_ARENA_NEW(&ret->arena, struct myr_sim_job, ret->job_count);
    return MYR_OK;
}

/*
 * In this order because of what can fail: words before files, files before simulations, and the
 * fair rates before the run, which uses the tasks up.
 */
int myr_sim_ask(struct myr_sim_answer *ret, const struct myr_sim_question *question,
                struct myr_err *err)
{
    myr_ps at = 0;
    *ret = (struct myr_sim_answer){};
    myr_arena_init(&ret->arena);
    MYR_TRY(parse_at(question, &at, err));
    MYR_TRY(open_fabric(ret, question, err));
    MYR_TRY(run_alone(ret, question, err));
    MYR_TRY(prepare(ret, question, MYR_NONE, err));
    MYR_TRY(initial_rates(ret, err));
    if (question->save) {
        MYR_TRY(save_run(ret, question, at, err));
    }
    return finish(ret, question, false, err);
}

/*
 * The question comes from the file; only who is told of progress is the caller's. What each job
 * took alone is in the file too, and is not played again.
 */
int myr_sim_resume(struct myr_sim_answer *ret, struct myr_sim_question *question, const char *path,
                   struct myr_err *err)
{
    struct saved saved;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    *ret = (struct myr_sim_answer){};
    myr_arena_init(&ret->arena);
    MYR_TRY(myr_kind_read(path, UINT64_C(1) << 34, MYR_KIND_BIT(SAVED),
                          "a run as sim --save writes it", &text, err));
    path = myr_file_name(path);
    struct myr_str content = {text.len ? text.data : "", text.len};
    MYR_TRY(saved_read(&saved, &ret->arena, path, content, err));
    /* Who is told of progress is not part of the file. */
    saved.question.progress = question->progress;
    saved.question.progress_context = question->progress_context;
    *question = saved.question;
    MYR_TRY(open_fabric(ret, question, err));
    for (uint32_t i = 0; i < ret->job_count; i++) {
        /* By bytes: in the file it is not aligned. */
        memcpy(&ret->jobs[i].alone, saved.alone + i * sizeof(myr_ps), sizeof(myr_ps));
    }
    MYR_TRY(prepare(ret, question, MYR_NONE, err));
    MYR_TRY(initial_rates(ret, err));
    if (myr_sim_load(ret->sim, saved.image, err) < 0) {
        return myr_err_wrap(err, "%s", path);
    }
    return finish(ret, question, true, err);
}

void myr_sim_answer_done(struct myr_sim_answer *answer)
{
    myr_sim_free(answer->sim);
    myr_sim_fabric_close(&answer->fabric);
    myr_arena_done(&answer->arena);
}
