#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kept.h"
#include "leaks.h"
#include "shim/shim.h"

/* What the C library keeps once it has looked up a user: its list of services, by file. */
long myr_leaks_allowed = 200;

static const struct order order = {.job = 9,
                                   .epoch = 3,
                                   .gpus = 0xA0,
                                   .first_rank = 6,
                                   .world = 8,
                                   .node_rank = 3,
                                   .node_count = 4,
                                   .master = {"10.0.0.7 29500", 14},
                                   .socket = {"/run/s", 6},
                                   .tag = {"9-3-x", 5}};
static const struct person person = {.name = "ada", .home = "/h/ada", .shell = "/bin/bash"};

static const char *find(const char *const *env, const char *name)
{
    const char *found = NULL;
    size_t len = strlen(name);
    for (uint32_t i = 0; env[i]; i++) {
        if (strncmp(env[i], name, len) == 0 && env[i][len] == '=') {
            assert_null(found); /* once */
            found = env[i] + len + 1;
        }
    }
    return found;
}

static void ours_win_over_the_job_file(void **state)
{
    (void)state;
    static const char *const env[] = {"RANK=77", "HOME=/tmp", "A=1", "A=2", NULL};
    static const char *const command[] = {"true", NULL};
    struct myr_jobfile job = {.command = {command, MYR_ARRAY_COUNT(command) - 1, false},
                              .env = {env, MYR_ARRAY_COUNT(env) - 1}};
    struct myr_arena arena;
    myr_arena_init(&arena);
    const char *const *got = start_env(&arena, &order, &job, &person, 1);
    assert_string_equal(find(got, "RANK"), "7");
    assert_string_equal(find(got, "LOCAL_RANK"), "1");
    assert_string_equal(find(got, "LOCAL_WORLD_SIZE"), "2");
    assert_string_equal(find(got, "CUDA_VISIBLE_DEVICES"), "5,7");
    assert_string_equal(find(got, "MASTER_ADDR"), "10.0.0.7");
    assert_string_equal(find(got, "MASTER_PORT"), "29500");
    assert_string_equal(find(got, "TORCHELASTIC_RESTART_COUNT"), "2");
    assert_string_equal(find(got, "HOME"), "/tmp"); /* the user's to choose */
    assert_string_equal(find(got, "A"), "2");
    assert_string_equal(find(got, "USER"), "ada");
    assert_null(find(got, "MYRIAD_CHECKPOINT_DIR"));
    myr_arena_done(&arena);
}

/* Those that say who and where a rank's user is; the user may say it otherwise. */
static bool is_free(const char *name)
{
    static const char *const names[] = {"PATH", "HOME", "USER", "LOGNAME", "SHELL"};
    bool found = false;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        found = found || strcmp(names[i], name) == 0;
    }
    return found;
}

/*
 * Each name that a rank is given, in a job file too, as its first, second or last variable: it is
 * there once, and ours unless it is free. Names that are longer or shorter are others.
 */
static void no_name_is_there_twice_wherever_the_job_puts_it(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    struct order all = order;
    struct myr_jobfile job = {.command = {none, MYR_ARRAY_COUNT(none) - 1, false},
                              .env = {none, MYR_ARRAY_COUNT(none) - 1},
                              .checkpoint = "/ck"};
    struct myr_arena arena;
    uint32_t count = 0, looked_at = 0;
    myr_arena_init(&arena);
    all.array_index = 3;
    const char *const *base = start_env(&arena, &all, &job, &person, 1);
    while (base[count]) {
        count++;
    }
    assert_true(count > 20);
    for (uint32_t i = 0; i < count * 3; i++) {
        char name[64], theirs[80], longer[80], shorter[80];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(base[i / 3], "="), base[i / 3]);
        snprintf(theirs, sizeof(theirs), "%s=theirs", name);
        snprintf(longer, sizeof(longer), "%sX=longer", name);
        snprintf(shorter, sizeof(shorter), "X%s=other", name);
        const char *env[] = {longer, shorter, longer, NULL};
        env[i % 3] = theirs;
        job.env = (struct myr_job_env){env, 3};
        const char *const *got = start_env(&arena, &all, &job, &person, 1);
        uint32_t got_count = 0;
        while (got[got_count]) {
            got_count++;
        }
        assert_int_equal(got_count, count + (i % 3 == 1 ? 1 : 2));
        for (uint32_t k = 0; k < count; k++) {
            char each[64];
            snprintf(each, sizeof(each), "%.*s", (int)strcspn(base[k], "="), base[k]);
            const char *value = find(got, each);
            assert_non_null(value);
            bool said = k == i / 3 && is_free(each);
            assert_string_equal(value, said ? "theirs" : base[k] + strlen(each) + 1);
            looked_at++;
        }
    }
    assert_int_equal(looked_at, 3 * count * count);
    myr_arena_done(&arena);
}

static bool has_podman(const char *program)
{
    return strcmp(program, "podman") == 0;
}

static bool has_apptainer(const char *program)
{
    return strcmp(program, "apptainer") == 0;
}

static bool has_none(const char *program)
{
    (void)program;
    return false;
}

static bool holds(const char *const *argv, const char *first, const char *second)
{
    for (uint32_t i = 0; argv[i]; i++) {
        if (strcmp(argv[i], first) == 0 &&
            (!second || (argv[i + 1] && strcmp(argv[i + 1], second) == 0))) {
            return true;
        }
    }
    return false;
}

static void an_image_is_run_by_who_is_there(void **state)
{
    (void)state;
    static const char *const env[] = {"A=1", NULL};
    static const char *const command[] = {"python3", "train.py", NULL};
    struct myr_jobfile job = {.command = {command, MYR_ARRAY_COUNT(command) - 1, false},
                              .env = {env, MYR_ARRAY_COUNT(env) - 1},
                              .image = "lab/train:1",
                              .directory = "/h/ada",
                              .checkpoint = "/ck"};
    const char *const *argv = NULL;
    struct myr_err err = {};
    struct myr_arena arena;
    myr_arena_init(&arena);
    assert_int_equal(start_argv(&arena, &order, &job, env, has_none, &argv, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "podman"));
    assert_int_equal(start_argv(&arena, &order, &job, env, has_podman, &argv, &err), MYR_OK);
    assert_string_equal(argv[0], "podman");
    assert_true(holds(argv, "--env", "A=1") && holds(argv, "--workdir", "/h/ada"));
    assert_true(holds(argv, "--volume", "/ck:/ck") && holds(argv, "--volume", "/run/s:/run/s"));
    assert_true(holds(argv, "lab/train:1", "python3") && holds(argv, "train.py", NULL));
    assert_int_equal(start_argv(&arena, &order, &job, env, has_apptainer, &argv, &err), MYR_OK);
    assert_string_equal(argv[0], "apptainer");
    assert_true(holds(argv, "--bind", "/run/s:/run/s") && holds(argv, "--pwd", "/h/ada"));
    assert_false(holds(argv, "--env", NULL)); /* it hands its own on */
    job.image = NULL;
    assert_int_equal(start_argv(&arena, &order, &job, env, has_none, &argv, &err), MYR_OK);
    assert_ptr_equal(argv, command);
    myr_arena_done(&arena);
}

static bool has_enroot(const char *program)
{
    return strcmp(program, "enroot") == 0;
}

/* Every name and every word, as ranks get them (tests/kept/agent-start.txt). */
static void all_of_it(void **state)
{
    (void)state;
    static const char *const env[] = {"A=1", "LANG=C", NULL}, *const none[] = {NULL};
    static const char *const command[] = {"python3", "train.py", NULL};
    static bool (*const who[])(const char *) = {has_podman, has_apptainer, has_enroot};
    const struct myr_jobfile jobs[] = {
        {.command = {command, MYR_ARRAY_COUNT(command) - 1, false},
         .env = {none, MYR_ARRAY_COUNT(none) - 1}},
        {.command = {command, MYR_ARRAY_COUNT(command) - 1, false},
         .env = {env, MYR_ARRAY_COUNT(env) - 1},
         .image = "lab/train:1"},
        {.command = {command, MYR_ARRAY_COUNT(command) - 1, false},
         .env = {env, MYR_ARRAY_COUNT(env) - 1},
         .image = "/images/train.sqsh",
         .directory = "/h/ada",
         .checkpoint = "/ck"},
    };
    struct order orders[] = {order, order};
    orders[1].array_index = 5;
    orders[1].epoch = 0;
    orders[1].master = MYR_STR("head");
    orders[1].gpus = 1ULL << 63 | 1;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_arena arena;
    myr_arena_init(&arena);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(jobs); i++) {
        const char *const *got = start_env(&arena, &orders[i % 2], &jobs[i], &person, i);
        myr_buf_printf(&text, "job %u\n", i);
        for (uint32_t k = 0; got[k]; k++) {
            myr_buf_printf(&text, "  %s\n", got[k]);
        }
        for (uint32_t by = 0; by < MYR_ARRAY_COUNT(who); by++) {
            const char *const *argv = NULL;
            struct myr_err err = {};
            int rc = start_argv(&arena, &orders[i % 2], &jobs[i], env, who[by], &argv, &err);
            myr_buf_printf(&text, "  %s", rc < 0 ? err.message : "runs");
            for (uint32_t k = 0; rc == MYR_OK && argv[k]; k++) {
                myr_buf_printf(&text, " %s", argv[k]);
            }
            myr_buf_puts(&text, "\n");
        }
    }
    myr_arena_done(&arena);
    assert_kept("agent-start.txt", &text);
}

static void nobody_runs_as_root(void **state)
{
    (void)state;
    struct person found;
    struct myr_err err = {};
    assert_true(person_find(MYR_STR("no-such-user-here"), &found, &err) < 0);
    if (geteuid() == 0) {
        assert_int_equal(person_find(MYR_STR("root"), &found, &err), MYR_EINVAL);
        assert_int_equal(person_find(MYR_STR(""), &found, &err), MYR_EINVAL);
        assert_int_equal(person_find(MYR_STR("nobody"), &found, &err), MYR_OK);
        assert_true(found.change && found.uid != 0 && found.group_count > 0);
    } else {
        assert_int_equal(person_find(MYR_STR(""), &found, &err), MYR_OK);
        assert_false(found.change);
        assert_int_equal(person_find(MYR_STR("root"), &found, &err), MYR_EINVAL);
    }
}

/* --- people of a host that is the test's */

static bool made_up;
static uid_t own_uid;
static struct passwd entry;
static int found_rc, group_rc;
static char asked[80];

__attribute__((visibility("default"))) uid_t geteuid(void)
{
    return made_up ? own_uid : (uid_t)syscall(SYS_geteuid);
}

static int find_entry(struct passwd *space, struct passwd **ret)
{
    *space = entry;
    *ret = entry.pw_name ? space : NULL;
    return found_rc;
}

__attribute__((visibility("default"))) int
getpwnam_r(const char *name, struct passwd *space, char *memory, size_t size, struct passwd **ret)
{
    if (!made_up) {
        int (*call)(const char *, struct passwd *, char *, size_t, struct passwd **);
        *(void **)&call = dlsym(RTLD_NEXT, "getpwnam_r");
        return call(name, space, memory, size, ret);
    }
    snprintf(asked, sizeof(asked), "name %s", name);
    return find_entry(space, ret);
}

__attribute__((visibility("default"))) int getpwuid_r(uid_t uid, struct passwd *space, char *memory,
                                                      size_t size, struct passwd **ret)
{
    if (!made_up) {
        int (*call)(uid_t, struct passwd *, char *, size_t, struct passwd **);
        *(void **)&call = dlsym(RTLD_NEXT, "getpwuid_r");
        return call(uid, space, memory, size, ret);
    }
    snprintf(asked, sizeof(asked), "number %u", uid);
    return find_entry(space, ret);
}

__attribute__((visibility("default"))) int getgrouplist(const char *name, gid_t group,
                                                        gid_t *groups, int *count)
{
    if (!made_up) {
        int (*call)(const char *, gid_t, gid_t *, int *);
        *(void **)&call = dlsym(RTLD_NEXT, "getgrouplist");
        return call(name, group, groups, count);
    }
    assert_int_equal(*count, 256);
    assert_string_equal(name, entry.pw_name);
    groups[0] = group;
    *count = group_rc < 0 ? 300 : 1;
    return group_rc;
}

static void who_a_rank_runs_as(void **state)
{
    static char ada[] = "ada", home[] = "/h/ada", bash[] = "/bin/bash";
    static const struct {
        const char *name;
        uid_t own, uid;
        bool plain; /* neither a home nor a shell */
        bool unknown;
        int found_rc, group_rc;
        const char *asked, *says;
    } all[] = {
        {"ada", 0, 1000, false, false, 0, 1, "name ada", ""},
        {"ada", 0, 1, true, false, 0, 1, "name ada", ""},
        {"ada", 1000, 1000, false, false, 0, 1, "name ada", ""},
        {"", 1000, 1000, false, false, 0, 1, "number 1000", ""},
        {"ada", 0, 0, false, false, 0, 1, "name ada", "user 'ada' is root: no rank runs as root"},
        {"ada", 1000, 1001, false, false, 0, 1, "name ada",
         "user 'ada' is not the agent's own, and the agent is not root"},
        {"ada", 1000, 0, false, false, 0, 1, "name ada",
         "user 'ada' is not the agent's own, and the agent is not root"},
        {"", 0, 1000, false, false, 0, 1, "", "the job names no Unix user, and none runs as root"},
        {"eve", 0, 1000, false, true, 0, 1, "name eve", "user 'eve' is not known on this node"},
        {"eve", 0, 1000, false, false, EIO, 1, "name eve", "user 'eve' is not known on this node"},
        {"ada", 0, 1000, false, false, 0, -1, "name ada", "user 'ada' is in more than 256 groups"},
    };
    (void)state;
    made_up = true;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct person found = {.uid = 77};
        struct myr_err err = {};
        own_uid = all[i].own;
        entry = (struct passwd){.pw_name = all[i].unknown ? NULL : ada,
                                .pw_uid = all[i].uid,
                                .pw_gid = 1005,
                                .pw_dir = all[i].plain ? NULL : home,
                                .pw_shell = all[i].plain ? NULL : bash};
        found_rc = all[i].found_rc;
        group_rc = all[i].group_rc;
        asked[0] = '\0';
        int rc = person_find(myr_str_from(all[i].name), &found, &err);
        assert_string_equal(asked, all[i].asked);
        assert_string_equal(err.message, all[i].says);
        assert_int_equal(rc == MYR_OK, all[i].says[0] == '\0');
        if (rc == MYR_OK) {
            assert_int_equal(found.uid, all[i].uid);
            assert_int_equal(found.gid, 1005);
            assert_int_equal(found.change, all[i].own == 0);
            assert_int_equal(found.group_count, 1);
            assert_int_equal(found.groups[0], 1005);
            assert_string_equal(found.name, "ada");
            assert_string_equal(found.home, all[i].plain ? "/" : home);
            assert_string_equal(found.shell, all[i].plain ? "/bin/sh" : bash);
        }
    }
    made_up = false;
}

static void a_name_is_one_word_of_a_line(void **state)
{
    (void)state;
    made_up = true;
    own_uid = found_rc = 0;
    for (size_t len = 63; len <= 65; len++) { /* the longest name, and what is none */
        char name[80];
        struct person found;
        struct myr_err err = {};
        memset(name, 'n', sizeof(name));
        name[5] = len == 65 ? '\0' : 'n';
        entry.pw_name = NULL;
        int rc = person_find((struct myr_str){name, len == 65 ? 9 : len}, &found, &err);
        assert_int_equal(rc, len == 63 ? MYR_ENOENT : MYR_EINVAL);
        name[63] = '\0';
        if (len == 63) {
            assert_non_null(strstr(err.message, name));
        } else {
            assert_string_equal(err.message, "no name of a user");
        }
    }
    made_up = false;
}

static void programs_are_found_where_roots_lie(void **state)
{
    (void)state;
    assert_true(start_has("sh"));
    assert_true(start_has("env")); /* of the last folder but one */
    assert_false(start_has("no-such-program-here"));
    assert_false(start_has("../etc/passwd")); /* which nobody can run */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_win_over_the_job_file),
        cmocka_unit_test(no_name_is_there_twice_wherever_the_job_puts_it),
        cmocka_unit_test(an_image_is_run_by_who_is_there),
        cmocka_unit_test(all_of_it),
        cmocka_unit_test(nobody_runs_as_root),
        cmocka_unit_test(who_a_rank_runs_as),
        cmocka_unit_test(a_name_is_one_word_of_a_line),
        cmocka_unit_test(programs_are_found_where_roots_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
