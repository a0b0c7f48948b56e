/*
 * accounts: tenants and the accounts of their names. Slurm's fair share of an account is its
 * tenant's weight here; a job that limits of its account or of its QOS would never let start is
 * refused when it is submitted; one that waits for them is told with the limit that it waits for.
 * Slurm holds them: Myriad counts nothing of its own, and submits nothing in its stead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/state.h"

enum { LOOK_MS = 60000, PARENTS_MAX = 32, WEIGHT_MAX = 1000000 }; /* a loop of parents ends too */

/* An empty user finds the account itself. */
static struct account *find(const struct slurm *slurm, struct myr_str name, struct myr_str user)
{
    for (size_t i = 0; i < slurm->accounts.count; i++) {
        struct account *account = &slurm->accounts.items[i];
        if (myr_str_eq(myr_str_from(account->name), name) &&
            myr_str_eq(myr_str_from(account->user), user)) {
            return account;
        }
    }
    return NULL;
}

/* Texts are copied: those of the command's output go with it. */
static int keep(void *context, const struct myr_slurm_account *seen, struct myr_err *err)
{
    struct slurm *slurm = context;
    struct account account = {.share = seen->by_parent ? 0 : seen->share,
                              .group = seen->group,
                              .each = seen->each,
                              .group_jobs = seen->group_jobs,
                              .most_jobs = seen->most_jobs};
    (void)err;
    if (seen->name.len >= sizeof(account.name) || seen->user.len >= sizeof(account.user) ||
        seen->parent.len >= sizeof(account.parent) || seen->qos.len >= sizeof(account.qos)) {
        return MYR_OK; /* no tenant has such a name */
    }
    myr_str_put(seen->name, account.name);
    myr_str_put(seen->user, account.user);
    myr_str_put(seen->parent, account.parent);
    myr_str_put(seen->qos, account.qos);
    myr_vec_push(&slurm->accounts, account);
    return MYR_OK;
}

/* One whose name is too long for its place is left out. */
static int keep_qos(void *context, const struct myr_slurm_qos *seen, struct myr_err *err)
{
    struct slurm *slurm = context;
    struct qos qos = {.group = seen->group,
                      .each = seen->each,
                      .of_user = seen->of_user,
                      .group_jobs = seen->group_jobs,
                      .user_jobs = seen->user_jobs};
    (void)err;
    if (seen->name.len < sizeof(qos.name)) {
        myr_str_put(seen->name, qos.name);
        myr_vec_push(&slurm->qualities, qos);
    }
    return MYR_OK;
}

/* Fair share becomes weight, where a tenant of that name is known. */
static void set_weights(struct slurm *slurm)
{
    struct server *server = slurm->server;
    /* A tenant that comes later gets its weight with the next look. */
    slurm->tenants_seen = server->rows.tenants.count;
    MYR_ASSERT(server->rows.tenants.count <= SERVER_TENANTS);
    for (uint32_t id = 0; id < server->rows.tenants.count; id++) {
        struct tenant_row *row = &server->rows.tenants.items[id];
        const struct account *account = find(slurm, myr_str_from(row->name), MYR_STR(""));
        /* A share of 0 is the parent's: the tenant keeps the weight that it has. */
        if (!account || account->share < 1 || account->share > WEIGHT_MAX ||
            account->share == row->weight) {
            continue;
        }
        row->weight = (uint32_t)account->share;
        rows_put_tenant(server, id);
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_WEIGHT,
                                              .count = id,
                                              .value = (int64_t)row->weight});
        log_say("info", "tenant %s has weight %u, its fair share in Slurm", row->name, row->weight);
    }
}

/* A slurmdbd that is away keeps what was known; each change of that is one line. */
static void on_accounts(struct server *server, void *context, const struct call_result *result)
{
    struct slurm *slurm = context;
    struct myr_err err = {};
    char why[300] = "";
    MYR_ASSERT(!slurm->closing);
    if (result->code != 0) {
        (void)myr_slurm_read_fault("sacctmgr", result->err, why, sizeof(why));
    } else {
        /* The new list takes the place of the old one. */
        slurm->accounts.count = 0;
        if (myr_slurm_read_accounts("sacctmgr", result->out, keep, slurm, &err) < 0) {
            snprintf(why, sizeof(why), "%.290s", err.message);
        }
    }
    if (why[0] && !slurm->accounts_away) {
        log_say("warning", "Slurm: its accounts are not known, and their limits are not shown: %s",
                why);
    } else if (!why[0] && slurm->accounts_away) {
        log_say("info", "Slurm: its accounts are known again");
    }
    slurm->accounts_away = why[0] != 0;
    (void)server;
    set_weights(slurm);
}

/* Without them sbatch and squeue still tell what holds a job back: nothing is said of it here. */
static void on_qos(struct server *server, void *context, const struct call_result *result)
{
    struct slurm *slurm = context;
    (void)server;
    slurm->qualities.count = 0;
    if (result->code == 0 &&
        myr_slurm_read_qos("sacctmgr", result->out, keep_qos, slurm, NULL) < 0) {
        slurm->qualities.count = 0;
    }
}

/* Limits that Slurm does not enforce are no reason to refuse a job. */
static void on_enforced(struct server *server, void *context, const struct call_result *result)
{
    struct slurm *slurm = context;
    static const char key[] = "AccountingStorageEnforce";
    const char *at =
        result->code == 0 ? memmem(result->out.data, result->out.len, key, sizeof(key) - 1) : NULL;
    (void)server;
    if (at) {
        size_t length = (size_t)(result->out.data + result->out.len - at);
        /* "AccountingStorageEnforce = associations,limits": on this line alone. */
        const char *end = memchr(at, '\n', length);
        slurm->limits_hold = memmem(at, end ? (size_t)(end - at) : length, "limits", 6) != NULL;
    }
}

/* Once a minute: limits and shares change by a person's hand. */
void slurm_accounts_look(struct slurm *slurm)
{
    static const char *const accounts[] = {
        "sacctmgr", "-nP", "show", "assoc", (MYR_SLURM_ACCOUNT_FORMAT), NULL};
    static const char *const qos[] = {"sacctmgr", "-nP", "show", "qos", MYR_SLURM_QOS_FORMAT, NULL};
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    int64_t now_ms = steady_ms();
    MYR_ASSERT(!slurm->closing && slurm->calls);
    if (slurm->tenants_seen != slurm->server->rows.tenants.count) {
        set_weights(slurm); /* somebody is new */
    }
    if (!slurm->server->config.slurm.accounts ||
        (slurm->accounts_ms && now_ms - slurm->accounts_ms < LOOK_MS)) {
        return;
    }
    slurm->accounts_ms = now_ms;
    call(slurm->calls, &(struct call_order){.argv = config, .done = on_enforced, .context = slurm});
    call(slurm->calls, &(struct call_order){.argv = qos, .done = on_qos, .context = slurm});
    call(slurm->calls,
         &(struct call_order){.argv = accounts, .done = on_accounts, .context = slurm});
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The limits of an account with those of all above it, and of the user in it. */
static bool limits_of(const struct slurm *slurm, const char *tenant, const char *user,
                      struct account *ret)
{
    const struct account *at = find(slurm, myr_str_from(tenant), MYR_STR(""));
    const struct account *own = find(slurm, myr_str_from(tenant), myr_str_from(user));
    if (!at) {
        return false;
    }
    /* The user's own association has its share and limits of its own. */
    *ret = own ? *own : *at;
    for (uint32_t i = 0; at && i < PARENTS_MAX; i++) {
        ret->group.gpus = least(ret->group.gpus, at->group.gpus);
        ret->group.nodes = least(ret->group.nodes, at->group.nodes);
        ret->group_jobs = least(ret->group_jobs, at->group_jobs);
        ret->each.gpus = least(ret->each.gpus, at->each.gpus);
        ret->each.nodes = least(ret->each.nodes, at->each.nodes);
        at = at->parent[0] ? find(slurm, myr_str_from(at->parent), MYR_STR("")) : NULL;
    }
    return true;
}

/* "--qos=high" or "-q high" among the words for sbatch. */
static struct myr_str named_qos(const char *options)
{
    const char *at = options;
    while (*(at += strspn(at, " "))) {
        size_t len = strcspn(at, " ");
        if (len > 6 && memcmp(at, "--qos=", 6) == 0) {
            return (struct myr_str){at + 6, len - 6};
        }
        if (len == 2 && memcmp(at, "-q", 2) == 0) {
            at += len + strspn(at + len, " ");
            return (struct myr_str){at, strcspn(at, " ")};
        }
        at += len;
    }
    return MYR_STR("");
}

/* The one that a job gets: named, the user's, the account's or one above it, or Slurm's own. */
static const struct qos *qos_of(const struct slurm *slurm, const char *tenant, const char *user)
{
    struct myr_str name = named_qos(slurm->server->config.slurm.options);
    const struct account *own = find(slurm, myr_str_from(tenant), myr_str_from(user));
    const struct account *at = find(slurm, myr_str_from(tenant), MYR_STR(""));
    name = name.len == 0 && own ? myr_str_from(own->qos) : name;
    for (uint32_t i = 0; name.len == 0 && at && i < PARENTS_MAX; i++) {
        name = myr_str_from(at->qos);
        at = at->parent[0] ? find(slurm, myr_str_from(at->parent), MYR_STR("")) : NULL;
    }
    /* What Slurm takes where nobody has said anything. */
    name = name.len ? name : MYR_STR("normal");
    for (size_t i = 0; i < slurm->qualities.count; i++) {
        if (myr_str_eq(myr_str_from(slurm->qualities.items[i].name), name)) {
            return &slurm->qualities.items[i];
        }
    }
    return NULL;
}

/* The most that a job may ever have of something, and who says so. */
struct cap {
    uint64_t most; /* UINT64_MAX: no limit */
    const char *whose, *name, *limit;
};

static void lower(struct cap *cap, struct cap other)
{
    if (other.most < cap->most) {
        *cap = other;
    }
}

/* What a QOS says of a limit counts in place of what its account says of it. */
static struct cap caps(const struct account *account, const struct qos *qos, const char *tenant,
                       size_t of)
{
    struct cap cap = {UINT64_MAX, "", "", ""};
    const struct {
        const struct myr_slurm_amounts *account, *qos;
        const char *limit;
    } rows[] = {{&account->group, qos ? &qos->group : NULL, "GrpTRES"},
                {&account->each, qos ? &qos->each : NULL, "MaxTRESPerJob"},
                {NULL, qos ? &qos->of_user : NULL, "MaxTRESPerUser"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        /* 'of' chooses the amount: GPUs or nodes. */
        const void *theirs = rows[i].account, *its = rows[i].qos;
        uint64_t by_qos = UINT64_MAX, by_account = UINT64_MAX;
        if (its) {
            memcpy(&by_qos, (const char *)its + of, sizeof(by_qos));
        }
        if (theirs) {
            memcpy(&by_account, (const char *)theirs + of, sizeof(by_account));
        }
        if (by_qos != UINT64_MAX) {
            lower(&cap, (struct cap){by_qos, "QOS", qos->name, rows[i].limit});
        } else {
            lower(&cap, (struct cap){by_account, "account", tenant, rows[i].limit});
        }
    }
    return cap;
}

/* Whole nodes where it has more than one, which on_submit() has seen to. */
int slurm_accounts_check(const struct slurm *slurm, const struct job_row *row, uint32_t gpus,
                         struct myr_err *err)
{
    MYR_ASSERT(row->tenant < slurm->server->rows.tenants.count && gpus > 0);
    const char *tenant = slurm->server->rows.tenants.items[row->tenant].name;
    uint32_t each = slurm->server->config.gpus_per_node, nodes = (gpus + each - 1) / each;
    struct account limits;
    /* What is not known here is Slurm's to judge. */
    if (!slurm->limits_hold || !limits_of(slurm, tenant, row->unix_user, &limits)) {
        return MYR_OK;
    }
    const struct qos *qos = qos_of(slurm, tenant, row->unix_user);
    struct cap of_gpus = caps(&limits, qos, tenant, offsetof(struct myr_slurm_amounts, gpus));
    struct cap of_nodes = caps(&limits, qos, tenant, offsetof(struct myr_slurm_amounts, nodes));
    /* As many as it may ever have at once: no waiting would help. */
    if (gpus > of_gpus.most) {
        return myr_err_set(err, MYR_ERANGE, "%u GPUs: Slurm gives %s '%s' %llu at most (%s)", gpus,
                           of_gpus.whose, of_gpus.name, (unsigned long long)of_gpus.most,
                           of_gpus.limit);
    }
    if (nodes > of_nodes.most) {
        return myr_err_set(err, MYR_ERANGE, "%u nodes: Slurm gives %s '%s' %llu at most (%s)",
                           nodes, of_nodes.whose, of_nodes.name, (unsigned long long)of_nodes.most,
                           of_nodes.limit);
    }
    return MYR_OK;
}

/* And goes on behind it: "AssocGrpGRES" begins with "Assoc". */
static bool begins(struct myr_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len > len && memcmp(text.data, word, len) == 0;
}

/* Empty where the reason is no limit, or the limit is not known here. */
void slurm_accounts_explain(const struct slurm *slurm, uint32_t job, struct myr_str reason,
                            char *ret, size_t size)
{
    const struct job_row *row = rows_job(slurm->server, job);
    struct account limits;
    ret[0] = '\0';
    bool by_account = begins(reason, "Assoc"), by_qos = begins(reason, "QOS");
    const struct rows *rows = &slurm->server->rows;
    const char *tenant =
        row && row->tenant < rows->tenants.count ? rows->tenants.items[row->tenant].name : "";
    if (!row || !(by_account || by_qos) || !limits_of(slurm, tenant, row->unix_user, &limits)) {
        return;
    }
    /* Slurm's word says whose limit it is, what is counted, and whether for one user. */
    const struct qos *qos = by_qos ? qos_of(slurm, tenant, row->unix_user) : NULL;
    bool jobs = memmem(reason.data, reason.len, "Jobs", 4) != NULL;
    bool user = memmem(reason.data, reason.len, "PerUser", 7) != NULL;
    uint64_t most = by_account
                        ? jobs ? least(limits.group_jobs, limits.most_jobs) : limits.group.gpus
                    : !qos ? UINT64_MAX
                    : user ? jobs ? qos->user_jobs : qos->of_user.gpus
                    : jobs ? qos->group_jobs
                           : qos->group.gpus;
    if (most != UINT64_MAX) {
        snprintf(ret, size, " (%s %s: %llu %s at once%s)", by_account ? "account" : "QOS",
                 by_account ? tenant : qos->name, (unsigned long long)most, jobs ? "jobs" : "GPUs",
                 user && !by_account ? " for a user" : "");
    }
}
