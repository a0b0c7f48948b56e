/*
 * The answer of a run: what it was asked on, what came out. Each part goes into the tree and is
 * said to people in the same place, so that both have the same figures.
 */
#include "sim/sim.h"

/* Simulated time is whole picoseconds inside; people and programs read microseconds. */
static double us(myr_ps time)
{
    return (double)time / (double)MYR_PS_PER_US;
}

/* The fabric, and the latencies that the engine took: both decide every time below. */
static void put_fabric(struct cli *cli, const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_design *design = sim->fabric.design;
    const struct myr_network *net = sim->graph.net;
    const struct myr_sim_options *engine = &sim->engine;
    char gpus[32];
    myr_answer_object(answer, "fabric");
    myr_answer_text(answer, "name", myr_design_str(design, design->head->name));
    myr_answer_text(answer, "network", myr_net_names[sim->graph.net_id]);
    myr_answer_u64(answer, "gpus", design->head->gpus);
    myr_answer_u64(answer, "leaf", net->leaf);
    myr_answer_u64(answer, "spine", net->spine);
    myr_answer_u64(answer, "core", net->core);
    myr_answer_u64(answer, "access", net->access);
    myr_answer_u64(answer, "aggregation", net->aggregation);
    myr_answer_end(answer);
    myr_answer_object(answer, "latency_us");
    if (engine->link_ps < 0) {
        myr_answer_null(answer, "link"); /* by the length of each cable */
    } else {
        myr_answer_double(answer, "link", us(engine->link_ps), 6);
    }
    myr_answer_double(answer, "switch", us(engine->switch_ps), 6);
    myr_answer_double(answer, "scale_up", us(engine->scale_up_ps), 6);
    myr_answer_double(answer, "message", us(engine->message_ps), 6);
    myr_answer_end(answer);
    myr_answer_fact(answer, "fabric", "%s, %s GPU%s; %s network of %s",
                    myr_design_str(design, design->head->name),
                    myr_u64_grouped(design->head->gpus, gpus), cli_s(design->head->gpus),
                    myr_net_names[sim->graph.net_id], myr_sim_switches(&cli->arena, net));
}

/* For people; programs have every setting in the question. */
static void show_settings(struct cli *cli, const struct myr_sim_question *question,
                          const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    myr_answer_fact(answer, "load balance", "%s, seed %llu%s",
                    myr_policy_names[question->balance.policy],
                    (unsigned long long)question->balance.seed,
                    question->balance.polarised ? ", one seed for all switches" : "");
    /* Corrections of the fluid: packets have none of them. */
    const char *fluid =
        myr_arena_printf(&cli->arena, "efficiency %.1f %%, sharing loss %.1f %%, pause %.1f %%, ",
                         question->efficiency_permille / 10.0,
                         question->sharing_loss_permille / 10.0, question->pause_permille / 10.0);
    myr_answer_fact(answer, "settings", "%s%s, message overhead %s", question->packets ? "" : fluid,
                    MYR_COUNT(question->queue_pairs, "queue pair"),
                    sim->engine.message_ps ? myr_times_text(&cli->arena, sim->engine.message_ps)
                                           : "none");
    for (uint32_t i = 0; i < question->slow.count; i++) {
        myr_answer_fact(answer, "slow", "%s", question->slow.items[i]);
    }
    for (uint32_t i = 0; i < question->faults.count; i++) {
        myr_answer_fact(answer, "fault", "%s", question->faults.items[i]);
    }
}

/* Completion times of flows, not of transfers: 'flows' says of how many. */
static void put_times(struct cli *cli, const struct myr_sim_answer *sim)
{
    static const struct {
        const char *name;
        uint32_t percent;
    } parts[] = {{"p50", 50}, {"p99", 99}, {"max", 100}};
    struct myr_answer *answer = &cli->answer;
    const struct myr_times *times = &sim->times;
    double mean = myr_times_mean_us(times);
    myr_answer_object(answer, "fct_us");
    myr_answer_u64(answer, "flows", times->flows);
    myr_answer_double(answer, "mean", mean, 6);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        myr_ps time = myr_times_percentile(times, parts[i].percent);
        myr_answer_double(answer, parts[i].name, us(time), 6);
    }
    myr_answer_end(answer);
    myr_answer_fact(answer, "completion", "mean %s, p50 %s, p99 %s, max %s",
                    myr_times_text(&cli->arena, (myr_ps)(mean * (double)MYR_PS_PER_US)),
                    myr_times_text(&cli->arena, myr_times_percentile(times, 50)),
                    myr_times_text(&cli->arena, myr_times_percentile(times, 99)),
                    myr_times_text(&cli->arena, myr_times_percentile(times, 100)));
}

/* Null where there are no single flows, or several jobs; the load of links is always told. */
static void put_rates(struct myr_answer *answer, const struct myr_sim_answer *sim)
{
    const struct myr_sim_rates *rates = &sim->rates;
    if (rates->count == 0) {
        myr_answer_null(answer, "rate");
    } else {
        myr_answer_object(answer, "rate");
        myr_answer_double(answer, "mean", rates->mean, 6);
        myr_answer_double(answer, "mean_slowdown", rates->mean_slowdown, 6);
        myr_answer_double(answer, "p1", rates->p1, 6);
        myr_answer_double(answer, "min", rates->least, 6);
        myr_answer_double(answer, "full_share", rates->full_share, 6);
        myr_answer_end(answer);
        myr_answer_fact(answer, "fair rates",
                        "mean %.1f %% of line rate, least %.1f %%; %.1f %% of the flows at full "
                        "rate",
                        rates->mean * 100, rates->least * 100, rates->full_share * 100);
    }
    myr_answer_object(answer, "link_load");
    myr_answer_double(answer, "mean", sim->load_mean, 6);
    myr_answer_double(answer, "max", sim->load_max, 6);
    myr_answer_end(answer);
    myr_answer_fact(answer, "link load", "mean %.1f %%, max %.1f %%", sim->load_mean * 100,
                    sim->load_max * 100);
}

/* As nccl-tests count: algorithm is bytes by time, bus what links would show. */
static void put_bandwidth(struct myr_answer *answer, const struct myr_sim_job *job)
{
    if (!job || !job->load.collective) {
        myr_answer_null(answer, "collective");
        return;
    }
    myr_answer_object(answer, "collective");
    myr_answer_double(answer, "algbw_gbytes_per_s", job->algorithm_gbytes_per_s, 6);
    myr_answer_double(answer, "busbw_gbytes_per_s", job->bus_gbytes_per_s, 6);
    myr_answer_end(answer);
}

/* What was chosen, and what it could not have been quicker than. */
static void put_schedule(struct myr_answer *answer, const struct myr_sim_job *job)
{
    bool collective = job->load.collective;
    if (collective) {
        myr_answer_text(answer, "algorithm", myr_algorithm_names[job->load.algorithm]);
        myr_answer_text(answer, "schedule", job->load.full ? "full" : "collapsed");
    } else {
        myr_answer_null(answer, "algorithm");
        myr_answer_null(answer, "schedule");
    }
    myr_answer_double(answer, "end_us", us(job->end), 6);
    if (collective) {
        myr_answer_double(answer, "bound_us", us(job->bound), 6);
    } else {
        myr_answer_null(answer, "bound_us");
    }
}

/* What no run on this fabric could be quicker than, by each reason; the largest is 'best'. */
static void put_bounds(struct cli *cli, const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_sim_bounds *bounds = &sim->result.bounds;
    if (!bounds->known) {
        myr_answer_null(answer, "bounds_us"); /* paths change on the way */
        return;
    }
    double part = bounds->best > 0 ? (double)sim->result.end / (double)bounds->best : 1;
    myr_answer_object(answer, "bounds_us");
    myr_answer_double(answer, "alpha", us(bounds->alpha), 6);
    myr_answer_double(answer, "chain", us(bounds->chain), 6);
    myr_answer_double(answer, "beta", us(bounds->beta), 6);
    myr_answer_double(answer, "incast", us(bounds->incast), 6);
    myr_answer_double(answer, "bisection", us(bounds->bisection), 6);
    myr_answer_double(answer, "best", us(bounds->best), 6);
    myr_answer_double(answer, "of_best", part, 6);
    myr_answer_end(answer);
    myr_answer_fact(
        answer, "lower bound", "%s (latency %s, chain %s, senders %s, receivers %s, links %s)",
        myr_times_text(&cli->arena, bounds->best), myr_times_text(&cli->arena, bounds->alpha),
        myr_times_text(&cli->arena, bounds->chain), myr_times_text(&cli->arena, bounds->beta),
        myr_times_text(&cli->arena, bounds->incast),
        myr_times_text(&cli->arena, bounds->bisection));
}

/* A job alone needs no comparison with itself: slowdowns are for several. */
static void put_job(struct cli *cli, const struct myr_sim_answer *sim, uint32_t i)
{
    const struct myr_sim_job *job = &sim->jobs[i];
    struct myr_answer *answer = &cli->answer;
    bool several = sim->job_count > 1;
    const char *label = myr_arena_printf(&cli->arena, several ? "job %u" : "workload", i + 1);
    const char *end = myr_times_text(&cli->arena, job->end);
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "workload", job->load.words);
    put_schedule(answer, job);
    if (several) {
        myr_answer_double(answer, "alone_us", us(job->alone), 6);
        myr_answer_double(answer, "slowdown", job->slowdown, 6);
        myr_answer_fact(answer, label, "%s: %s, alone %s, slowdown %.3f", job->load.words, end,
                        myr_times_text(&cli->arena, job->alone), job->slowdown);
    } else {
        myr_answer_null(answer, "alone_us");
        myr_answer_null(answer, "slowdown");
        myr_answer_fact(answer, label, "%s: %s", job->load.words, end);
    }
    put_bandwidth(answer, job);
    myr_answer_end(answer);
    if (job->load.collective) {
        myr_answer_fact(answer, "schedule", "%s, %s; no algorithm of its kind ends before %s",
                        myr_algorithm_names[job->load.algorithm],
                        job->load.full ? "every send played" : "collapsed to rounds in lockstep",
                        myr_times_text(&cli->arena, job->bound));
        myr_answer_fact(answer, "bandwidth", "algorithm %.3f GB/s, bus %.3f GB/s",
                        job->algorithm_gbytes_per_s, job->bus_gbytes_per_s);
    }
}

/* What packets were played with; fluids have none of it. */
static void put_control(struct cli *cli, const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_packet_options *options = &sim->packets;
    myr_answer_object(answer, "control");
    myr_answer_text(answer, "cc", myr_cc_names[options->cc]);
    myr_answer_u64(answer, "mtu_bytes", options->mtu_bytes);
    myr_answer_u64(answer, "header_bytes", options->header_bytes);
    myr_answer_u64(answer, "ack_bytes", options->ack_bytes);
    myr_answer_u64(answer, "telemetry_bytes",
                   options->cc == MYR_CC_HPCC ? options->telemetry_bytes : 0);
    myr_answer_u64(answer, "buffer_bytes", options->buffer_bytes);
    myr_answer_u64(answer, "kmin_bytes", options->kmin_bytes);
    myr_answer_u64(answer, "kmax_bytes", options->kmax_bytes);
    myr_answer_u64(answer, "pmax_permille", options->pmax_permille);
    myr_answer_end(answer);
    myr_answer_fact(answer, "packets", "%s bytes and %s of headers; %s, ECN from %s to %s KB",
                    MYR_GROUPED(options->mtu_bytes), MYR_GROUPED(options->header_bytes),
                    myr_cc_names[options->cc], MYR_GROUPED(options->kmin_bytes / 1000),
                    MYR_GROUPED(options->kmax_bytes / 1000));
}

/* A fluid has nothing to tell of packets. */
static void put_no_packets(struct myr_answer *answer)
{
    static const char *const names[] = {"control",    "packets",     "hops",
                                        "pfc_pauses", "ecn_marks",   "drops",
                                        "trims",      "retransmits", "queue_kb"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        myr_answer_null(answer, names[i]);
    }
}

/* What happened to them. */
static void put_packets(struct cli *cli, const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_packet_stats *stats = &sim->packet_stats;
    put_control(cli, sim);
    myr_answer_u64(answer, "packets", stats->packets);
    myr_answer_u64(answer, "hops", stats->hops);
    myr_answer_u64(answer, "pfc_pauses", stats->pauses);
    myr_answer_u64(answer, "ecn_marks", stats->marks);
    myr_answer_u64(answer, "drops", stats->drops);
    myr_answer_u64(answer, "trims", stats->trims);
    myr_answer_u64(answer, "retransmits", stats->retransmits);
    myr_answer_object(answer, "queue_kb");
    myr_answer_u64(answer, "p50", stats->queue_kb_p50);
    myr_answer_u64(answer, "p99", stats->queue_kb_p99);
    myr_answer_u64(answer, "max", stats->queue_kb_max);
    myr_answer_end(answer);
    myr_answer_fact(answer, "traffic", "%s packets over %s hops, %s marked, %s pauses",
                    MYR_GROUPED(stats->packets), MYR_GROUPED(stats->hops),
                    MYR_GROUPED(stats->marks), MYR_GROUPED(stats->pauses));
    myr_answer_fact(answer, "queues met", "p50 %s KB, p99 %s KB, max %s KB",
                    MYR_GROUPED(stats->queue_kb_p50), MYR_GROUPED(stats->queue_kb_p99),
                    MYR_GROUPED(stats->queue_kb_max));
}

/* The hash is of the whole run: two of them that agree have played the same. */
void cli_sim_put(struct cli *cli, const struct myr_sim_question *question,
                 const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    char flows[32];
    put_fabric(cli, sim);
    show_settings(cli, question, sim);
    struct myr_value *jobs = myr_answer_list(answer, "jobs");
    for (uint32_t i = 0; i < sim->job_count; i++) {
        put_job(cli, sim, i);
    }
    myr_answer_end(answer);
    /* At the top too where there is one job, for whoever asks about one collective. */
    put_bandwidth(answer, sim->job_count == 1 ? &sim->jobs[0] : NULL);
    myr_answer_u64(answer, "flows", sim->result.flows);
    myr_answer_u64(answer, "transfers", sim->result.transfers);
    myr_answer_double(answer, "sim_time_us", us(sim->result.end), 6);
    myr_answer_fact(answer, "flows", "%s", myr_u64_grouped(sim->result.flows, flows));
    myr_answer_fact(answer, "simulated time", "%s", myr_times_text(&cli->arena, sim->result.end));
    put_bounds(cli, sim);
    put_times(cli, sim);
    put_rates(answer, sim);
    if (question->packets) {
        put_packets(cli, sim);
    } else {
        put_no_packets(answer);
    }
    myr_answer_u64(answer, "events", sim->result.events);
    myr_answer_u64(answer, "solved", sim->result.solved);
    myr_answer_text(answer, "hash",
                    myr_arena_printf(&cli->arena, "%016llx", (unsigned long long)sim->result.hash));
    myr_answer_rows(answer, jobs);
}
