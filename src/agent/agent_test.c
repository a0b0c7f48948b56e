/*
 * An agent as a whole, with a controller beside it, in time that the test makes: as one text
 * (tests/kept/agent-life.txt). Each line has the moment at which it happened, in seconds. What
 * collects the inventory, and launchers, are this program itself.
 */
#include "agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "disk/order.h"
#include "inventory.h"
#include "kept.h"
#include "leaks.h"
#include "life_test.h"
#include "shim/shim.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

/* --- what is done */

static bool no_fork; /* there are too many processes */

__attribute__((visibility("default"))) pid_t fork(void)
{
    static pid_t (*own)(void);
    own = own ? own : (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    errno = EAGAIN;
    return no_fork ? -1 : own();
}

#define HOST(gpus) \
    "{\"host\":\"n\",\"serial\":\"S\",\"cpus\":9,\"memory_bytes\":1000,\"gpus\":[" gpus "]}"
#define GPU "{\"name\":\"H100\"}"

static void put_in(const char *name, const char *text)
{
    char path[256];
    struct myr_buf bytes = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", root, name);
    myr_buf_puts(&bytes, text);
    assert_int_equal(myr_file_write(path, &bytes, &err), MYR_OK);
    myr_buf_done(&bytes);
}

static void starts(void)
{
    trace("a job is to start");
    tell(MYR_WIRE_START, 1,
         &(struct myr_wire_start){.job = 5,
                                  .world = 2,
                                  .gpus = 3,
                                  .spec = MYR_STR("command: [x]\n"),
                                  .master = MYR_STR("127.0.0.1 20000"),
                                  .user = MYR_STR("nobody"),
                                  .lease_s = 600,
                                  .node_count = 1});
}

static void tests(void)
{
    trace("a test");
    tell(MYR_WIRE_TEST, 3, &(struct myr_wire_test){.id = 11, .name = MYR_STR("quick")});
}

/* While one is at it: what collects for the first collects for the others, and is asked once. */
static void tests_thrice(void)
{
    trace("three tests at once");
    for (uint32_t id = 12; id < 15; id++) {
        tell(MYR_WIRE_TEST, 3, &(struct myr_wire_test){.id = id, .name = MYR_STR("quick")});
    }
}

static void steps(void)
{
    trace("it makes a step");
    put_in("state/run/5.1/progress", "step 10\nsaved 4\nat_ns 5000\nby_line 0\n");
}

static void more_steps(void)
{
    trace("it makes five more");
    put_in("state/run/5.1/progress", "step 15\nsaved 14\nat_ns 10005000\nby_line 0\n");
}

static void fetches(void)
{
    static const struct myr_wire_fetch all[] = {
        {.job = 5, .offset = 0, .rank = 0, .bytes = 4},
        {.job = 5, .offset = 6, .rank = 0, .bytes = 0},
        {.job = 6, .offset = 3, .rank = 1, .bytes = 9},
    };
    put_in("state/run/5.1/log.0.0", "0123456789");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        trace("what has rank %u of job %" PRIu64 " written?", all[i].rank, all[i].job);
        tell(MYR_WIRE_FETCH, i == 1 ? 0 : 1, &all[i]);
    }
}

static void acknowledges(void)
{
    trace("all up to %" PRIu64 " is kept", desk.last);
    tell(MYR_WIRE_ACK, 0, &(struct myr_wire_ack){desk.last});
}

static void leases(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char state[128];
    snprintf(state, sizeof(state), "%s/state", root);
    if (file_get(state, "heard", &text, NULL) == MYR_OK) {
        trace("heard: %.*s", (int)strcspn(text.data, "\n"), text.data);
    }
    tell(MYR_WIRE_LEASE, 3, &(struct myr_wire_beat){1});
}

static void breaks_off(void)
{
    trace("the controller goes");
    myr_io_close(desk.stream);
}

static void loses_gpus(void)
{
    put_in("pretend", "gpus: 3\n");
    put_in("inventory", HOST(""));
    tests();
}

static void loses_a_gpu(void)
{
    put_in("inventory", HOST(GPU));
    tests();
}

static void collects_nothing(void)
{
    put_in("inventory", "");
    tests();
}

static void collects_nonsense(void)
{
    put_in("inventory", "what a node");
    tests();
}

/* With a name of so many bytes, so that all of it is as long as may be told, or longer by one. */
static void collects_much(void)
{
    static size_t more;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    static const char front[] = "{\"host\":\"", back[] = "\",\"cpus\":9,\"memory_bytes\":1000,"
                                                         "\"gpus\":[]}";
    myr_buf_puts(&text, front);
    while (text.len < INVENTORY_BYTES_MAX + more - strlen(back)) {
        myr_buf_putc(&text, 'n');
    }
    myr_buf_puts(&text, back);
    put_in("inventory", text.data);
    more++;
    tests();
}

static void fetches_much(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    while (text.len < 60000) {
        myr_buf_puts(&text, "0123456789");
    }
    put_in("state/run/5.1/log.0.0", text.data);
    static const uint32_t most[] = {0, 48 << 10, (48 << 10) - 1, 59999, 1};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(most); i++) {
        trace("at most %u of it", most[i]);
        tell(MYR_WIRE_FETCH, 1,
             &(struct myr_wire_fetch){.job = 5, .offset = 3, .rank = 0, .bytes = most[i]});
    }
}

static void nobody_can_be_started(void)
{
    no_fork = true;
    tests();
}

static void somebody_can(void)
{
    trace("there is room again, and two errors of a GPU");
    put_in("xids", "");
    no_fork = false;
}

static void stops(void)
{
    trace("it is to stop");
    tell(MYR_WIRE_STOP, 1, &(struct myr_wire_stop){.job = 5, .grace_s = 3});
}

static void rings(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/state/" SHIM_BELL, root);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    trace("a launcher rings");
    assert_int_equal(sendto(fd, "!", 1, 0, (const struct sockaddr *)&at, sizeof(at)), 1);
    close(fd);
}

static void rings_between_looks(void)
{
    put_in("state/run/5.1/stuck", "count 2\nwaiting 1\n");
    rings();
}

static void is_told_to_end(void)
{
    trace("it is told to end after %u beats", desk.beats);
    (void)raise(SIGTERM);
}

/* --- the program that the agent calls */

static int launcher(const char *folder)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct ending ending = {.kind = ENDING_STOPPED, .line = MYR_STR("by order")};
    (void)signal(SIGUSR1, SIG_IGN);
    if (file_put(folder, "started", MYR_STR("started 1\n"), NULL) < 0) {
        return 3;
    }
    for (uint32_t i = 0; i < 60000 && !file_is_there(folder, "stop"); i++) {
        nap();
    }
    ending_write(&ending, &text);
    return file_put(folder, "exit", (struct myr_str){text.data, text.len}, NULL) < 0 ? 3 : 0;
}

static int watcher(const char *path)
{
    static const char lines[] = "xid 3 79\nx\nxid 3 79\n";
    char folder[200];
    snprintf(folder, sizeof(folder), "%s", path ? path : "/x");
    *strrchr(folder, '/') = '\0';
    if (!file_is_there(folder, "xids")) {
        return 0;
    }
    return write(STDOUT_FILENO, lines, strlen(lines)) == (ssize_t)strlen(lines) ? 0 : 1;
}

static int collector(void)
{
    const char *path = getenv("AGENT_TEST_INVENTORY");
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    if (!path || myr_file_read(path, 1 << 20, &text, &err) < 0) {
        return 1;
    }
    return write(STDOUT_FILENO, text.data, text.len) == (ssize_t)text.len ? 0 : 1;
}

/* --- lives */

/* What would have ended it, and who would not have come to it. */
static void put_signals(int status)
{
    int reaper = 0;
    if (status == 0 &&
        (signal(SIGPIPE, SIG_IGN) != SIG_IGN || signal(SIGHUP, SIG_IGN) != SIG_IGN)) {
        trace("it could die with a peer or a terminal");
    }
    if (status == 0 && (prctl(PR_GET_CHILD_SUBREAPER, &reaper) < 0 || !reaper)) {
        trace("orphans would not come to it");
    }
}

static void run(const char *what, const struct action *actions, bool held)
{
    char path[128];
    myr_buf_printf(&story, "%s\n", what);
    snprintf(path, sizeof(path), "%s/trace", root);
    trace_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_TRUNC, 0600);
    assert_true(trace_fd >= 0);
    /* A child of the agent before holds it until it is a program of its own, and time of the test's
     * making does not wait for that. */
    snprintf(path, sizeof(path), "%s/state/lock", root);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(lock < 0 ? !held : flock(lock, LOCK_EX) == 0); /* without a folder there is none */
    if (!held && lock >= 0) {
        close(lock);
        lock = -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(trace_fd, STDERR_FILENO) < 0) {
            _exit(99);
        }
        next_action = actions;
        desk_open();
        began_ns = clock_ns;
        (void)signal(SIGPIPE, SIG_DFL);
        (void)signal(SIGHUP, SIG_DFL);
        in_agent = true;
        int status = agent_run(&settings);
        trace("ends with %d", status);
        put_signals(status);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (lock >= 0) {
        close(lock);
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/trace", root);
    assert_int_equal(myr_file_read(path, 1 << 20, &text, &err), MYR_OK);
    for (const char *at = text.data; *at;) { /* ports and the folder are those of a run */
        size_t digits = strncmp(at, "127.0.0.1:", 10) == 0 ? strspn(at + 10, "0123456789") : 0;
        if (digits) {
            myr_buf_puts(&story, "HERE");
            at += 10 + digits;
        } else if (strncmp(at, root, strlen(root)) == 0) {
            myr_buf_puts(&story, "~");
            at += strlen(root);
        } else {
            myr_buf_putc(&story, *at++);
        }
    }
    close(trace_fd);
}

/* Something else lies where its file should be. */
static void cannot_open(const char *name, const struct action *actions)
{
    char path[256], what[80];
    snprintf(path, sizeof(path), "%s/state/%s", root, name);
    snprintf(what, sizeof(what), "where '%s' is a folder", name);
    assert_int_equal(unlink(path) | mkdir(path, 0700), 0);
    run(what, actions, false);
    assert_int_equal(rmdir(path), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static const struct action day[] = {{1500, tests, NULL},
                                    {2500, starts, "state/run/5.1/started"},
                                    {3700, steps, NULL},
                                    {4200, fetches, NULL},
                                    {4300, fetches_much, NULL},
                                    {5200, acknowledges, NULL},
                                    {5600, leases, NULL},
                                    {6100, leases, NULL},
                                    {7300, leases, NULL},
                                    {8000, leases, NULL},
                                    {8300, leases, NULL},
                                    {8900, leases, NULL},
                                    {10400, tests_thrice, NULL},
                                    {12500, more_steps, NULL},
                                    {13300, rings_between_looks, NULL},
                                    {21500, loses_gpus, NULL},
                                    {22500, collects_nothing, NULL},
                                    {23500, breaks_off, NULL},
                                    {29500, stops, "state/run/5.1/exit"},
                                    {29600, rings, NULL},
                                    {30500, acknowledges, NULL},
                                    {32500, is_told_to_end, NULL},
                                    {0, NULL, NULL}};
static const struct action real[] = {{1500, tests, NULL},
                                     {2500, loses_a_gpu, NULL},
                                     {3500, collects_nonsense, NULL},
                                     {4500, collects_much, NULL},
                                     {5500, collects_much, NULL},
                                     {6500, nobody_can_be_started, NULL},
                                     {7500, tests, NULL},
                                     {8500, somebody_can, NULL},
                                     {9500, tests, NULL},
                                     {80500, is_told_to_end, NULL},
                                     {0, NULL, NULL}};

static void an_agent(void **state)
{
    (void)state;
    static const struct action short_one[] = {{4500, is_told_to_end, NULL}, {0, NULL, NULL}};
    char path[128];
    assert_non_null(mkdtemp(root));
    snprintf(settings.state, sizeof(settings.state), "%s/state", root);
    snprintf(settings.sockets, sizeof(settings.sockets), "%s/sockets", root);
    snprintf(settings.host, sizeof(settings.host), "127.0.0.1");
    snprintf(settings.name, sizeof(settings.name), "gpu-07");
    snprintf(path, sizeof(path), "%s/pretend", root);
    snprintf(program, sizeof(program), "%s/inventory", root);
    setenv("AGENT_TEST_INVENTORY", program, 1);
    settings.plain = true;
    settings.pretend = path;
    assert_int_equal(mkdir(settings.state, 0700), 0);
    put_in("pretend", "gpus: 4\ngpu_kind: H100\nserial: SN1\n");
    put_in("inventory", HOST(""));
    run("a day", day, false);
    put_in("pretend", "gpus: 4\n");
    run("and the next, of which little is known", short_one, false);
    welcome_pretend = 0;
    run("where nobody may pretend", short_one, false);
    settings.pretend = NULL;
    put_in("inventory", HOST(GPU "," GPU));
    run("without pretending", real, false);
    run("where another agent is", short_one, true);
    cannot_open("heard", short_one);
    cannot_open("lock", short_one);
    cannot_open("stops", short_one);
    settings.pretend = "/no/such/file";
    run("where what is pretended cannot be read", short_one, false);
    settings.pretend = NULL;
    settings.plain = false;
    run("without a certificate", short_one, false);
    assert_kept("agent-life.txt", &story);
    myr_buf_done(&story);
    assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "shim") == 0) {
        return launcher(argv[2]);
    }
    /* A helper looks for no leaks: killed with the agent in its midst, that would be told to it. */
    if (argc > 1 && strcmp(argv[1], "inventory") == 0) {
        _exit(collector());
    }
    if (argc > 1 && strcmp(argv[1], "watch") == 0) {
        return watcher(getenv("AGENT_TEST_INVENTORY"));
    }
    const struct CMUnitTest all[] = {
        cmocka_unit_test(an_agent),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
