/*
 * Limits of accounts and qualities of service: which of several holds, and what a job that it holds
 * back is told. The tree here: root over lab over team, with ada in it; alone beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "slurm/state.h"

#define NO UINT64_MAX

static struct server server;
static struct slurm slurm;
static struct job_row row;

/* Everything that is not said has no limit. */
static struct account *add_account(const char *name, const char *user, const char *parent)
{
    const struct myr_slurm_amounts none = {NO, NO};
    struct account account = {.group = none, .each = none, .group_jobs = NO, .most_jobs = NO};
    myr_str_put(myr_str_from(name), account.name);
    myr_str_put(myr_str_from(user), account.user);
    myr_str_put(myr_str_from(parent), account.parent);
    myr_vec_push(&slurm.accounts, account);
    return &slurm.accounts.items[slurm.accounts.count - 1];
}

static struct qos *add_qos(const char *name)
{
    const struct myr_slurm_amounts none = {NO, NO};
    struct qos qos = {
        .group = none, .each = none, .of_user = none, .group_jobs = NO, .user_jobs = NO};
    myr_str_put(myr_str_from(name), qos.name);
    myr_vec_push(&slurm.qualities, qos);
    return &slurm.qualities.items[slurm.qualities.count - 1];
}

/* root 0, lab 1, team 2, ada in team 3, alone 4; each call begins anew. */
static struct account *tree(void)
{
    slurm.accounts.count = slurm.qualities.count = 0;
    server.config.slurm.options[0] = '\0';
    add_account("root", "", "");
    add_account("lab", "", "root");
    add_account("team", "", "lab");
    add_account("team", "ada", "");
    add_account("alone", "", "root");
    return slurm.accounts.items;
}

static void as(const char *tenant, const char *user)
{
    myr_str_put(myr_str_from(user), row.unix_user);
    for (row.tenant = 0; strcmp(server.rows.tenants.items[row.tenant].name, tenant) != 0;) {
        row.tenant++;
    }
}

/* What is said of so many GPUs; "": they may start. */
static void expect(uint32_t gpus, const char *said)
{
    struct myr_err err = {};
    int rc = slurm_accounts_check(&slurm, &row, gpus, &err);
    assert_string_equal(err.message, said);
    assert_int_equal(rc, said[0] ? MYR_ERANGE : MYR_OK);
}

static void the_least_of_all_accounts_above_holds(void **state)
{
    (void)state;
    struct account *a = tree();
    as("team", "bob");
    expect(100000, "");
    for (uint32_t level = 0; level < 3; level++) { /* each of them alone, and what is above it */
        a = tree();
        a[level].group.gpus = 64;
        expect(64, "");
        expect(65, "65 GPUs: Slurm gives account 'team' 64 at most (GrpTRES)");
        as("lab", "bob");
        expect(65, level < 2 ? "65 GPUs: Slurm gives account 'lab' 64 at most (GrpTRES)" : "");
        as("alone", "bob");
        expect(65, level < 1 ? "65 GPUs: Slurm gives account 'alone' 64 at most (GrpTRES)" : "");
        as("team", "bob");
        a = tree();
        a[level].each.gpus = 16;
        expect(16, "");
        expect(17, "17 GPUs: Slurm gives account 'team' 16 at most (MaxTRESPerJob)");
        a = tree();
        a[level].group.nodes = 3; /* of 8 GPUs */
        expect(24, "");
        expect(25, "4 nodes: Slurm gives account 'team' 3 at most (GrpTRES)");
        a = tree();
        a[level].each.nodes = 1;
        expect(8, "");
        expect(9, "2 nodes: Slurm gives account 'team' 1 at most (MaxTRESPerJob)");
    }
    a = tree();
    a[0].group.gpus = 10;
    a[1].group.gpus = 30;
    a[2].each.gpus = 20;
    expect(11, "11 GPUs: Slurm gives account 'team' 10 at most (GrpTRES)");
    a[0].group.gpus = 21;
    expect(21, "21 GPUs: Slurm gives account 'team' 20 at most (MaxTRESPerJob)");
    slurm.limits_hold = false; /* Slurm does not enforce them */
    expect(100000, "");
    slurm.limits_hold = true;
}

static void a_users_own_limits_are_his_alone(void **state)
{
    (void)state;
    struct account *a = tree();
    a[3].each.gpus = 4;
    as("team", "ada");
    expect(5, "5 GPUs: Slurm gives account 'team' 4 at most (MaxTRESPerJob)");
    as("team", "bob");
    expect(5, "");
    as("lab", "ada"); /* she is in another account */
    expect(5, "");
    a[2].each.gpus = 2; /* and the account's hold for her, too */
    as("team", "ada");
    expect(3, "3 GPUs: Slurm gives account 'team' 2 at most (MaxTRESPerJob)");
    as("nobody's", "ada"); /* a tenant without an account */
    expect(100000, "");
}

/* Parents that go round in a circle come to an end. */
static void a_circle_of_parents_ends(void **state)
{
    (void)state;
    struct account *a = tree();
    myr_str_put(MYR_STR("team"), a[0].parent);
    a[1].group.gpus = 5;
    as("team", "bob");
    expect(6, "6 GPUs: Slurm gives account 'team' 5 at most (GrpTRES)");
}

/* Thirty-two levels are looked at, the account's own among them. */
static void a_long_line_of_parents_is_followed_so_far(void **state)
{
    (void)state;
    for (uint32_t depth = 31; depth <= 32; depth++) {
        tree();
        add_qos("far")->each.gpus = 3;
        myr_str_put(MYR_STR("p1"), slurm.accounts.items[2].parent);
        for (uint32_t i = 1; i <= depth; i++) {
            char name[8], parent[8];
            snprintf(name, sizeof(name), "p%u", i);
            snprintf(parent, sizeof(parent), "p%u", i + 1);
            struct account *account = add_account(name, "", i < depth ? parent : "");
            account->group.gpus = i == depth ? 5 : NO;
            myr_str_put(i == depth ? MYR_STR("far") : MYR_STR(""), account->qos);
        }
        as("team", "bob");
        expect(4, depth == 31 ? "4 GPUs: Slurm gives QOS 'far' 3 at most (MaxTRESPerJob)" : "");
        slurm.qualities.count = 0;
        expect(6, depth == 31 ? "6 GPUs: Slurm gives account 'team' 5 at most (GrpTRES)" : "");
    }
}

static void options_are(const char *text)
{
    snprintf(server.config.slurm.options, sizeof(server.config.slurm.options), "%s", text);
}

static void put_qos(struct account *account, const char *name)
{
    myr_str_put(myr_str_from(name), account->qos);
}

static void the_quality_of_service_is_the_nearest_that_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *options, *root, *lab, *team, *ada;
        uint32_t most;
    } cases[] = {
        {"", "", "", "", "", 10}, /* Slurm's own: "normal" */
        {"", "q1", "", "", "", 1},
        {"", "q1", "q2", "", "", 2},
        {"", "q1", "q2", "q3", "", 3},
        {"", "q1", "q2", "q3", "q4", 4},
        {"--qos=q5", "q1", "q2", "q3", "q4", 5},
        {"--x  --qos=q5 -q q6", "", "", "", "", 5},
        {"--x -q q6 --y", "", "", "", "", 6},
        {"-q   q6", "", "", "", "", 6},
        {"--qos= -qq6 --no-qos=q5", "", "", "", "q4", 4},
        {"--qos=unknown", "", "", "", "q4", 0}, /* of which nothing is known */
    };
    as("team", "ada");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct account *a = tree();
        for (uint32_t n = 1; n <= 6; n++) {
            const char name[] = {'q', (char)('0' + n), '\0'};
            add_qos(name)->each.gpus = n;
        }
        add_qos("normal")->each.gpus = 10;
        put_qos(&a[0], cases[i].root);
        put_qos(&a[1], cases[i].lab);
        put_qos(&a[2], cases[i].team);
        put_qos(&a[3], cases[i].ada);
        options_are(cases[i].options);
        struct myr_err err = {};
        for (uint32_t gpus = 1; gpus <= 12; gpus++) {
            int rc = slurm_accounts_check(&slurm, &row, gpus, &err);
            assert_int_equal(rc < 0, cases[i].most && gpus > cases[i].most);
        }
    }
    options_are("");
}

/* What a QOS says of a limit counts in place of what the account says of it. */
static void a_quality_overrules_its_account(void **state)
{
    (void)state;
    struct account *a = tree();
    struct qos *q = add_qos("normal");
    as("team", "bob");
    a[2].group.gpus = 8;
    a[2].each.nodes = 1;
    q->group.gpus = 40;
    expect(16, "2 nodes: Slurm gives account 'team' 1 at most (MaxTRESPerJob)");
    q->each.nodes = 3;
    expect(16, "");
    expect(25, "4 nodes: Slurm gives QOS 'normal' 3 at most (MaxTRESPerJob)");
    expect(41, "41 GPUs: Slurm gives QOS 'normal' 40 at most (GrpTRES)");
    q->of_user.gpus = 12;
    expect(12, "");
    expect(13, "13 GPUs: Slurm gives QOS 'normal' 12 at most (MaxTRESPerUser)");
    q->of_user = (struct myr_slurm_amounts){NO, 1};
    expect(9, "2 nodes: Slurm gives QOS 'normal' 1 at most (MaxTRESPerUser)");
}

static void who_waits_for_a_limit_is_told_which(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *said;
    } cases[] = {
        {"AssocGrpGRES", " (account team: 20 GPUs at once)"},
        {"AssocGrpJobsLimit", " (account team: 7 jobs at once)"},
        {"AssocMaxJobsLimit", " (account team: 7 jobs at once)"},
        {"QOSGrpGRES", " (QOS normal: 30 GPUs at once)"},
        {"QOSGrpJobsLimit", " (QOS normal: 9 jobs at once)"},
        {"QOSMaxGRESPerUser", " (QOS normal: 4 GPUs at once for a user)"},
        {"QOSMaxJobsPerUserLimit", " (QOS normal: 2 jobs at once for a user)"},
        {"Resources", ""},
        {"Assoc", ""},
        {"QOS", ""},
        {"", ""},
    };
    struct account *a = tree();
    struct qos *q = add_qos("normal");
    char said[160];
    struct job_row *rows[] = {&row};
    a[1].group.gpus = 20;
    a[1].group_jobs = 8;
    a[3].most_jobs = 7;
    q->group.gpus = 30;
    q->group_jobs = 9;
    q->of_user.gpus = 4;
    q->user_jobs = 2;
    server.rows.jobs.items = rows;
    server.rows.jobs.count = 1;
    as("team", "ada");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        slurm_accounts_explain(&slurm, 0, myr_str_from(cases[i].reason), said, sizeof(said));
        assert_string_equal(said, cases[i].said);
    }
    as("team", "bob"); /* without a limit of his own the account's holds */
    slurm_accounts_explain(&slurm, 0, MYR_STR("AssocMaxJobsLimit"), said, sizeof(said));
    assert_string_equal(said, " (account team: 8 jobs at once)");
    a[1].group_jobs = NO;
    slurm_accounts_explain(&slurm, 0, MYR_STR("AssocMaxJobsLimit"), said, sizeof(said));
    assert_string_equal(said, "");
    slurm_accounts_explain(&slurm, 1, MYR_STR("AssocGrpGRES"), said, sizeof(said));
    assert_string_equal(said, ""); /* a job that nobody knows */
    slurm.qualities.count = 0;
    slurm_accounts_explain(&slurm, 0, MYR_STR("QOSGrpGRES"), said, sizeof(said));
    assert_string_equal(said, "");
    server.rows.jobs.items = NULL;
    server.rows.jobs.count = 0;
}

static int set_up(void **state)
{
    static const char *const tenants[] = {"lab", "team", "alone", "nobody's"};
    (void)state;
    slurm.server = &server;
    slurm.limits_hold = true;
    server.config.gpus_per_node = 8;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tenants); i++) {
        struct tenant_row tenant = {};
        myr_str_put(myr_str_from(tenants[i]), tenant.name);
        myr_vec_push(&server.rows.tenants, tenant);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    myr_vec_done(&server.rows.tenants);
    myr_vec_done(&slurm.accounts);
    myr_vec_done(&slurm.qualities);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_all_accounts_above_holds),
        cmocka_unit_test(a_users_own_limits_are_his_alone),
        cmocka_unit_test(a_circle_of_parents_ends),
        cmocka_unit_test(a_long_line_of_parents_is_followed_so_far),
        cmocka_unit_test(the_quality_of_service_is_the_nearest_that_is_named),
        cmocka_unit_test(a_quality_overrules_its_account),
        cmocka_unit_test(who_waits_for_a_limit_is_told_which),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
