/*
 * schedule: the scheduler of pods, until it is told to stop. Options become the scheduler's
 * question (myr_kube_schedule); its report is the answer when it ends.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kubernetes/kubernetes.h"
#include "myriad/kube.h"
#include "myriad/record.h"

enum { KEPT_BYTES = 8 << 20 }; /* of free memory that is not given back to the system */

struct options {
    const char *kubeconfig, *context, *account, *name, *lease, *identity, *hold;
    struct myr_option_list leaf_labels;
    uint64_t nodes_per_leaf, lost_after, lease_seconds, timeout, stop_after;
    bool alone;
};

/* As myr_kube_policy_default() has them, in the units of the options. */
static const struct options defaults = {.name = "myriad",
                                        .lease = "myriad/myriad",
                                        .hold = "10m",
                                        .nodes_per_leaf = 8,
                                        .lost_after = 5,
                                        .lease_seconds = 15,
                                        .timeout = 15};

static const struct myr_option rows[] = {
    CLI_PATH("kubeconfig", "FILE", struct options, kubeconfig,
             "else KUBECONFIG, ~/.kube/config, or the service account of this pod"),
    CLI_TEXT("context", "NAME", struct options, context, "of that file; its present one"),
    CLI_PATH("account", "DIR", struct options, account, "folder of the service account"),
    CLI_TEXT("name", "NAME", struct options, name, "pods with this schedulerName are ours"),
    CLI_LIST("leaf-label", "KEY", struct options, leaf_labels,
             "label that names a node's leaf (myriad/leaf); may be given three times"),
    CLI_COUNT("nodes-per-leaf", struct options, nodes_per_leaf, 1, 4096,
              "of nodes without such a label, in the order of their names"),
    CLI_TEXT("hold", "TIME", struct options, hold,
             "how long a gang that finds no room may be passed over"),
    CLI_COUNT("lost-after", struct options, lost_after, 0, 86400,
              "seconds after which a node that is not ready is lost"),
    CLI_TEXT("lease", "NAMESPACE/NAME", struct options, lease,
             "of several schedulers the holder of this lease binds"),
    CLI_COUNT("lease-seconds", struct options, lease_seconds, 3, 3600, "how long it lasts"),
    CLI_FLAG("alone", struct options, alone, "no other scheduler has this name: it needs no lease"),
    CLI_TEXT("identity", "NAME", struct options, identity,
             "who holds the lease; the host's name and the process by default"),
    CLI_COUNT("timeout", struct options, timeout, 1, 3600, "seconds to wait for an answer"),
    CLI_COUNT("stop-after", struct options, stop_after, 0, 1000000,
              "seconds after which it ends, for scripts; 0: never"),
};

const struct myr_command kubernetes_schedule_command = {
    .name = "kubernetes schedule",
    .operands = "",
    .summary = "bind the pods of gangs, whole and in rank order",
    .details = "Runs beside the stock scheduler, for pods with 'schedulerName: myriad'. Two "
               "annotations of the pods' template, myriad/gang and myriad/gang-size, say which "
               "pods belong together; they are bound when all of them are there and all find room, "
               "rank by rank along the fabric, and made again by their Job when a node is lost. "
               "What happens is a line on standard error, and an Event of the pod and the Job. "
               "SIGTERM ends it; what runs runs on. docs/kubernetes.md tells the rest.",
    .example = "myriad kubernetes schedule --kubeconfig ~/.kube/config",
    CLI_OPTIONS(rows, defaults),
    .young = true,
};

/* A line for everything that it does, with the time of the wall as logs beside it have it. */
static void say(void *context, const char *level, const char *text)
{
    struct timespec now;
    struct tm parts;
    char line[1400], at[32];
    (void)context;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(line, sizeof(line), "%s.%03ldZ %s %s", at, now.tv_nsec / 1000000, level, text);
    /* Others' words stand in it: they must not steer a terminal. */
    for (char *c = line; *c; c++) {
        *c = (unsigned char)*c < 0x20 || *c == 0x7F ? '?' : *c;
    }
    fprintf(stderr, "%s\n", line);
}

static const char *lookup(const char *name)
{
    return getenv(name);
}

/* "myriad/myriad" */
static int split_lease(struct cli *cli, const char *text, struct myr_kube_schedule *ret,
                       struct myr_err *err)
{
    const char *slash = strchr(text, '/');
    for (const char *c = text; *c; c++) {
        /* Both go into a path: only what names there may have, and one '/' between them. */
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-' ||
                     *c == '.' || c == slash;
        slash = plain ? slash : NULL;
    }
    if (!slash || slash == text || !slash[1] || strlen(text) > 200) {
        return myr_err_set(err, MYR_EINVAL,
                           "--lease is '%.60s'; a namespace and a name, such as "
                           "myriad/myriad, are expected",
                           text);
    }
    ret->lease_space = myr_arena_strndup(&cli->arena, text, (size_t)(slash - text));
    ret->lease_name = slash + 1;
    return MYR_OK;
}

/*
 * Bounds are those of the fields that the texts are copied into. The identity has host and process,
 * so that two on one host differ.
 */
static int read_options(struct cli *cli, struct myr_kube_schedule *ret, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_kube_policy policy = myr_kube_policy_default();
    char host[64] = "myriad";
    int64_t hold_s;
    if (!myr_duration_parse(myr_str_from(options->hold), &hold_s)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--hold is '%.40s'; a time such as 90s, 10m or 2h is expected",
                           options->hold);
    }
    if (options->leaf_labels.count > 3 || strlen(options->name) > 60) {
        return myr_err_set(err, MYR_ERANGE, "%s",
                           options->leaf_labels.count > 3 ? "--leaf-label: at most three"
                                                          : "--name: at most 60 bytes");
    }
    /* Labels that are named stand in place of the usual ones; NULL ends the list. */
    for (uint32_t i = 0; i < options->leaf_labels.count; i++) {
        policy.leaf_labels[i] = options->leaf_labels.items[i];
        policy.leaf_labels[i + 1] = NULL;
    }
    policy.scheduler = options->name;
    policy.nodes_per_leaf = (uint32_t)options->nodes_per_leaf;
    policy.hold_ms = hold_s * 1000;
    policy.lost_ms = (int64_t)options->lost_after * 1000;
    (void)!gethostname(host, sizeof(host) - 1);
    *ret = (struct myr_kube_schedule){
        .where = {options->kubeconfig, options->context, options->account, lookup},
        .policy = policy,
        .identity = options->identity ? options->identity
                                      : myr_arena_printf(&cli->arena, "%s-%d", host, (int)getpid()),
        .lease_s = (uint32_t)options->lease_seconds,
        .timeout_s = (uint32_t)options->timeout,
        .stop_after_s = (uint32_t)options->stop_after,
        .say = say};
    return options->alone ? MYR_OK : split_lease(cli, options->lease, ret, err);
}

/* A list of one, which is the CSV. */
static void put_report(struct cli *cli, const struct myr_kube_report *r)
{
    struct myr_answer *a = &cli->answer;
    struct myr_value *list = myr_answer_list(a, "scheduled");
    myr_answer_object(a, NULL);
    myr_answer_u64(a, "gangs_bound", r->gangs_bound);
    myr_answer_u64(a, "pods_bound", r->pods_bound);
    myr_answer_u64(a, "gangs_remade", r->gangs_remade);
    myr_answer_u64(a, "gangs_finished", r->gangs_finished);
    myr_answer_u64(a, "gangs_waiting", r->counts.gangs_waiting);
    myr_answer_u64(a, "nodes", r->counts.nodes);
    myr_answer_u64(a, "nodes_usable", r->counts.usable);
    myr_answer_u64(a, "pods", r->counts.pods);
    myr_answer_u64(a, "requests", r->requests);
    myr_answer_u64(a, "lists", r->lists);
    myr_answer_u64(a, "watches", r->watches);
    myr_answer_u64(a, "bindings", r->bindings);
    myr_answer_u64(a, "deletions", r->deletions);
    myr_answer_u64(a, "events", r->events);
    myr_answer_u64(a, "leases", r->leases);
    myr_answer_u64(a, "expired", r->expired);
    myr_answer_u64(a, "troubles", r->troubles);
    myr_answer_double(a, "seconds", r->seconds, 3);
    myr_answer_double(a, "requests_per_s", r->requests_per_s, 3);
    myr_answer_double(a, "idle_seconds", r->idle_seconds, 0);
    myr_answer_double(a, "idle_requests_per_s", r->idle_requests_per_s, 3);
    myr_answer_double(a, "work_p50_ms", r->work_p50_ms, 4);
    myr_answer_double(a, "work_p99_ms", r->work_p99_ms, 4);
    myr_answer_double(a, "work_max_ms", r->work_max_ms, 4);
    myr_answer_end(a);
    myr_answer_end(a);
    myr_answer_rows(a, list);
    myr_answer_fact(a, "bound", "%s, %s; %s made again", MYR_COUNT(r->gangs_bound, "gang"),
                    MYR_COUNT(r->pods_bound, "pod"), MYR_COUNT(r->gangs_remade, "gang"));
    myr_answer_fact(a, "requests", "%s, %.2f a second; %.2f a second at idle, without the lease",
                    MYR_GROUPED(r->requests), r->requests_per_s, r->idle_requests_per_s);
    myr_answer_fact(a, "own work", "%.3f ms a gang (p50), %.3f ms (p99): measured", r->work_p50_ms,
                    r->work_p99_ms);
}

static int run(struct cli *cli, struct myr_err *err)
{
    struct myr_kube_schedule schedule;
    struct myr_kube_report report = {};
    MYR_TRY(read_options(cli, &schedule, err));
    schedule.report = &report;
    /* Each gang takes and frees a quarter of a megabyte: it is not given back in between. */
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    MYR_TRY(myr_kube_schedule(&schedule, err));
    put_report(cli, &report);
    return MYR_OK;
}

const struct cli_verb cli_kubernetes_schedule_verb = {&kubernetes_schedule_command, run,
                                                      .group = NULL};
