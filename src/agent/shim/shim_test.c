/*
 * Launchers from their first file to their last, in time that the test makes, as one text
 * (tests/kept/agent-shim.txt). The ranks are real processes; the clock stands still while they do
 * what they were started for, and jumps on when a launcher only waits. Each line has the moment at
 * which it happened, in seconds of that clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pwd.h>
#include <sys/wait.h>

#include "kept.h"
#include "leaks.h"
#include "shim/scene_test.h"

/* What the C library keeps once it has looked up a user: its list of services, by file. */
long myr_leaks_allowed = 200;

/* --- a launcher in a process of its own */

static const char *user(void)
{
    const struct passwd *own = getpwuid(geteuid());
    return geteuid() == 0 || !own ? "nobody" : own->pw_name;
}

/* Of two nodes this is the second. */
static uint16_t open_gang(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    gang_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(gang_fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(gang_fd, (struct sockaddr *)&at, &size), 0);
    return ntohs(at.sin_port);
}

static void put_order(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[80], master[40];
    bool gang = strstr(scene->what, "gang") != NULL;
    snprintf(path, sizeof(path), "%s/s", root);
    snprintf(master, sizeof(master), "127.0.0.1 %u", gang ? open_gang() : 20000U);
    struct order order = {.job = 5,
                          .epoch = 2,
                          .gpus = (1U << scene->ranks) - 1,
                          .first_rank = 8,
                          .world = 16,
                          .node_rank = gang,
                          .node_count = 1 + gang,
                          .lease_s = scene->lease_s,
                          .master = myr_str_from(master),
                          .user = strstr(scene->what, "nobody knows") ? MYR_STR("no-such-user")
                                                                      : myr_str_from(user()),
                          .boot = MYR_STR("b"),
                          .tag = myr_str_from(tag),
                          .socket = myr_str_from(path),
                          .state = myr_str_from(root),
                          .spec = myr_str_from(scene->spec)};
    order_write(&order, &text);
    assert_int_equal(file_put(folder, "order", (struct myr_str){text.data, text.len}, NULL),
                     MYR_OK);
}

static void put_text(const char *where, const char *name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (file_is_there(where, name) && file_get(where, name, &text, NULL) == MYR_OK) {
        for (const char *at = text.data; at && *at;) {
            size_t len = strcspn(at, "\n");
            myr_buf_printf(&story, "  %s: %.*s\n", name, (int)len, at);
            at += len + (at[len] == '\n');
        }
    }
}

static uint32_t rings(int bell)
{
    char byte[4];
    uint32_t count = 0;
    while (recv(bell, byte, sizeof(byte), MSG_DONTWAIT) > 0) {
        count++;
    }
    return count;
}

static int open_bell(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int bell = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/" SHIM_BELL, root);
    assert_int_equal(bind(bell, (const struct sockaddr *)&at, sizeof(at)), 0);
    return bell;
}

static void put_files(void)
{
    static const char *const files[] = {"launched", "started", "exit", "stuck", "progress"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        put_text(folder, files[i]);
    }
    for (uint32_t i = 0; i < 4; i++) { /* of ranks, and of scripts */
        char name[32];
        snprintf(name, sizeof(name), "log.%u.0", i < 3 ? 8 + i : UINT32_MAX);
        put_text(folder, name);
    }
    if (gang_fd >= 0) {
        close(gang_fd);
        gang_fd = -1;
    }
}

static void play(const struct scene *which)
{
    scene = which;
    snprintf(tag, sizeof(tag), "5-2-%d", (int)getpid());
    myr_buf_printf(&story, "%s\n", scene->what);
    memcpy(root + sizeof(root) - 7, "XXXXXX", 7);
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof(folder), "%s/5.2", root);
    assert_int_equal(mkdir(folder, 0700) | chmod(root, 0755), 0);
    put_order();
    int bell = open_bell();
    char path[80];
    snprintf(path, sizeof(path), "%s/trace", root);
    trace_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(trace_fd, STDERR_FILENO) < 0) {
            _exit(99);
        }
        immortal = scene->immortal;
        old_kernel = strstr(scene->what, "old kernel") != NULL;
        in_shim = true;
        for (; scene->actions[next_action].name && scene->actions[next_action].at_ms < 0;) {
            act(&scene->actions[next_action++]);
        }
        int rc = shim_run(folder);
        trace("returns %d", rc);
        in_shim = old_kernel = false;
        uint32_t left = 0, stuck;
        struct told nobody = {};
        left = kill_descendants(SIGKILL, &nobody, &stuck);
        if (left) {
            trace("%u are left", left);
        }
        _exit(rc);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(path, 1 << 20, &text, &err), MYR_OK);
    const char *own = strstr(text.data, folder); /* which is another every time */
    while (own) {
        size_t before = (size_t)(own - text.data);
        memset(text.data + before, '~', 1);
        memmove(text.data + before + 1, own + strlen(folder), strlen(own + strlen(folder)) + 1);
        own = strstr(text.data, folder);
    }
    myr_buf_puts(&story, text.data);
    put_files();
    snprintf(path, sizeof(path), "%s/s", root);
    myr_buf_printf(&story, "  the bell rang %u times%s\n", rings(bell),
                   access(path, F_OK) == 0 ? "; its socket lies about" : "");
    close(bell);
    close(trace_fd);
    folder_remove(folder);
    each_gpu(folder_remove);
    folder_remove(getenv("MYRIAD_AGENT_NVIDIA_PROC"));
    folder_remove(root);
    assert_true(folder_is_gone(root));
}

/* --- scenes */

#define SLEEPS "command: [sleep, '1000000']\ndirectory: /\n"
/* Those of one node: the first does this, the others that. */
#define EACH(first, others) \
    "command: [sh, -c, '[ $LOCAL_RANK != 0 ] || " first "; " others "']\ndirectory: /\n"
#define DEAF "trap : TERM; while :; do read x < /dev/zero; sleep 1000000; done"

#define SILENT "command: [sh, -c, 'exec >&- 2>&-; kill -STOP $$; "

static const struct scene scenes[] = {
    {"all end well", "command: ['true']\ndirectory: /\n", 2, 0, false, {}},
    {"what they wrote", EACH("echo iteration 7/9 \\|", "echo x"), 2, 0, false, {}},
    {"one fails, the others take the signal",
     EACH("exit 3", "exec sleep 1000000"),
     3,
     0,
     false,
     {}},
    {"one is killed, and has said why",
     EACH("{ echo Error: no memory; kill -9 $$; }", "exec sleep 1000000"),
     2,
     0,
     false,
     {}},
    {"one fails, another does not hear",
     EACH("exit 4", "trap \"\" TERM; while :; do sleep 1000000; done"),
     2,
     0,
     false,
     {}},
    {"the same in an old kernel",
     EACH("exit 4", "trap \"\" TERM; while :; do sleep 1000000; done"),
     2,
     0,
     false,
     {}},
    /* Nothing but its end tells of it, and that is looked at when it comes. */
    {"one that has closed its output fails between two looks",
     SILENT "exit 3']\ndirectory: /\n",
     1,
     0,
     false,
     {{2300, "goes on", ""}}},
    {"and one that ends well",
     SILENT "exit 0']\ndirectory: /\n",
     2,
     0,
     false,
     {{2300, "goes on", ""}}},
    {"no such program", "command: [/no/such/program]\ndirectory: /\n", 2, 0, false, {}},
    {"no such folder", "command: ['true']\ndirectory: /no/such\n", 1, 0, false, {}},
    {"no job file", "command: 7: 8\n", 1, 0, false, {}},
    {"a prolog and an epilog",
     "command: ['true']\ndirectory: /\nprolog: 'exit 0'\nepilog: 'exit 0'\n",
     2,
     0,
     false,
     {}},
    {"a prolog that fails",
     "command: ['true']\ndirectory: /\nprolog: 'echo no disk; exit 9'\n"
     "epilog: 'exit 0'\n",
     2,
     0,
     false,
     {}},
    {"a prolog that is killed, and wrote nothing",
     "command: ['true']\ndirectory: /\nprolog: 'kill -9 $$'\n",
     2,
     0,
     false,
     {}},
    {"a prolog that takes long, and writes",
     "command: ['true']\ndirectory: /\n"
     "prolog: 'echo iteration 3/9 \\|; exec sleep 1000000'\n",
     1,
     0,
     false,
     {{2500, "stop", "grace_s 3\n"}}},
    {"an epilog that fails",
     "command: ['true']\ndirectory: /\nepilog: 'exit 9'\n",
     1,
     0,
     false,
     {}},
    {"an epilog that does not end",
     "command: ['true']\ndirectory: /\nepilog: 'exec sleep 1000000'\n",
     1,
     0,
     false,
     {}},
    {"stopped before it began", SLEEPS, 2, 0, false, {{-1, "stop", "grace_s 3\n"}}},
    {"stopped, with a grace", SLEEPS, 2, 0, false, {{5500, "stop", "grace_s 3\n"}}},
    {"stopped, with a grace that nobody takes, and then with a shorter one",
     EACH("true", "trap \"\" TERM; while :; do sleep 1000000; done"),
     1,
     0,
     false,
     {{2000, "stop", "grace_s 300\n"}, {9000, "stop", "grace_s 20\n"}, {9001, "wakes", ""}}},
    {"what a terminal and a host say to end is not for it", /* SIGHUP, SIGINT, SIGPIPE, SIGTERM */
     SLEEPS,
     1,
     0,
     false,
     {{1100, "hears", "1"},
      {2200, "hears", "2"},
      {3300, "hears", "13"},
      {4400, "hears", "15"},
      {5500, "stop", "grace_s 3\n"}}},
    {"its lease runs out", SLEEPS, 1, 60, false, {}},
    {"its lease is long, for the server was heard",
     SLEEPS,
     1,
     60,
     false,
     {{30000, "heard", ""}, {100500, "heard", ""}}},
    {"its lease is long, for it makes steps",
     SLEEPS,
     1,
     10,
     false,
     {{8000, "says", "step 3 saved 2"}, {8400, "says", "nonsense"}, {15000, "says", "step 4"}}},
    {"several steps in a second",
     SLEEPS,
     1,
     0,
     false,
     {{2000, "says", "step 3"},
      {2300, "says", "step 4"},
      {2600, "says", "step 5"},
      {3700, "says", "step 6"},
      {5000, "stop", "grace_s 3\n"}}},
    {"its folder goes", SLEEPS, 2, 0, false, {{3000, "gone", ""}}},
    {"what does not die is told",
     SLEEPS,
     2,
     0,
     true,
     {{1000, "stop", "grace_s 2\n"}, {20000, "mortal", ""}}},
    {"a launcher was killed before", SLEEPS, 2, 0, false, {{-1, "launched", "launched 1\n"}}},
    {"and after it was to stop",
     SLEEPS,
     2,
     0,
     false,
     {{-1, "launched", "launched 1\n"}, {-1, "stop", "grace_s 3\n"}}},
    {"and who has its sign is still there",
     SLEEPS,
     2,
     0,
     false,
     {{-1, "launched", "launched 1\n"}, {-1, "orphan", "its own"}, {-1, "orphan", "another's"}}},
    {"and does not die",
     SLEEPS,
     2,
     0,
     true,
     {{-1, "launched", "launched 1\n"}, {-1, "orphan", "its own"}, {15000, "mortal", ""}}},
    {"an order that is none", SLEEPS, 2, 0, false, {{-1, "order", "nonsense\n"}}},
    {"a stop that cannot be read",
     EACH("true", "trap \"\" TERM; while :; do sleep 1000000; done"),
     1,
     0,
     false,
     {{1500, "stop", "grace_s never\n"}}},
    {"a grace that is too long",
     EACH("true", "trap \"\" TERM; while :; do sleep 1000000; done"),
     1,
     0,
     false,
     {{1500, "stop", "grace_s 86401\n"}}},
    {"its lease is long, for the gang makes steps",
     SLEEPS,
     1,
     10,
     false,
     {{5000, "peer", "step-age 5 2 1000\n"}, {9500, "peer", "step-age 5 2 -\n"}}},
    {"a file that cannot be written at first",
     SLEEPS,
     1,
     0,
     false,
     {{-1, "blocks", "started"}, {1500, "frees", "started"}, {4000, "stop", "grace_s 3\n"}}},
    {"a user whom nobody knows", SLEEPS, 1, 0, false, {}},
    {"a pattern that is none", SLEEPS "progress: {pattern: x}\n", 1, 0, false, {}},
    {"GPUs of others", "command: ['true']\ndirectory: /\n", 2, 0, false, {{-1, "gpus", ""}}},
    {"all was over already", SLEEPS, 2, 0, false, {{-1, "exit", "kind exit\n"}}},
};

static void launchers(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(scenes); i++) {
        play(&scenes[i]);
    }
    assert_kept("agent-shim.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launchers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
