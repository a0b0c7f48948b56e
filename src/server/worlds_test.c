/*
 * Servers of the other worlds, with real agents or a Slurm that is not there, and one whose store
 * is full for a while, as one text (tests/kept/server-worlds.txt). Time is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "full_store_test.h"
#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "served_test.h"

#include <ftw.h>
#include <pwd.h>
#include <sys/eventfd.h>

/* And setenv() what it was given, three times. */
long myr_leaks_allowed = TIME_ZONE_PIECES + 7;

/* It grows on the way. */
static const char *nodes = "n[0-2]";

static void put_world(const char *world, const char *more)
{
    char text[600];
    snprintf(text, sizeof(text),
             "cluster: trial\nworld: %s\nnodes: \"%s\"\ngpus_per_node: 8\nnodes_per_leaf: 2\n"
             "http: \"127.0.0.1:4680\"\nagents: \"127.0.0.1:0\"\nfaults: none\n%s",
             world, nodes, more);
    put_file("myriad.yaml", text);
}

/* --- agents */

/* One node is there; nobody hears what it is asked to do. */
static void one_joins(void)
{
    give("a", "ada", "ada", ROLE_ADMIN);
    myr_buf_puts(&story, "n1 joins\n");
    server->rows.nodes[1].boot = 1;
    rows_put_node(server, 1);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_JOIN, .node = 1, .boot = 1});
    taken();
    look();
}

/* It is told once that it is not heard: the clock tells, not the connection. */
static void is_silent(void)
{
    look();
    myr_buf_printf(&story, "  n1 %s\n",
                   server->rows.nodes[1].told_silent ? "is silent" : "is heard");
}

static void asks_for_more_nodes(void)
{
    ask("Bearer a", "POST", "/v1/design",
        "{\"nodes\":\"n0\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\","
        "\"design_nodes\":\"1\"}");
    ask("Bearer a", "POST", "/v1/design",
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\","
        "\"design_nodes\":\"4\"}");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n0\",\"fault\":\"node-dies\"}");
}

static void agents_come(void)
{
    static const struct step first[] = {{500, one_joins}, {6000, is_silent}, {0, NULL}};
    static const struct step second[] = {
        {500, is_silent}, {1500, asks_for_more_nodes}, {2500, look}, {0, NULL}};
    char path[256];
    put_world("agents", "");
    assert_int_equal(serve("agents", first, 8, false), MYR_OK);
    /* Where its port cannot be written down, it says so and serves. */
    path_of("agents.port", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(serve("agents again", second, 4, false), MYR_OK);
    assert_int_equal(rmdir(path), 0);
    nodes = "n[0-3]";
}

/* --- Slurm */

/* Nobody is known here, whoever may be on this machine. */
__attribute__((visibility("default"))) struct passwd *getpwnam(const char *name)
{
    (void)name;
    return NULL;
}

static void drains(void)
{
    look();
    ask("Bearer a", "POST", "/v1/nodes/n[0-1]/drain", "{\"reason\":\"a fan\"}");
    ask("Bearer a", "POST", "/v1/jobs", "gpus: 8\ncommand: x\nlease_s: 5\n");
    ask("Bearer a", "POST", "/v1/jobs", "gpus: 12\ncommand: x\n");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n0\",\"fault\":\"node-dies\"}");
}

static void resumes(void)
{
    look();
    ask("Bearer a", "POST", "/v1/nodes/n1/resume", "");
}

static void a_slurm_that_is_not_there(void)
{
    static const struct step steps[] = {{2000, drains}, {4000, resumes}, {6000, look}, {0, NULL}};
    char more[300];
    snprintf(more, sizeof(more),
             "fence: /no/such/program\nslurm: {bin: /nowhere, poll_s: 3, spool: \"%s/spool\"}\n",
             bench.folder);
    put_world("slurm", more);
    assert_int_equal(serve("Slurm", steps, 8, false), MYR_OK);
}

/* --- a store that is full */

static void is_full(void)
{
    look();
    myr_buf_puts(&story, "the disk is full\n");
    server->store = full_store(server->store);
    full = true;
    ask("Bearer a", "POST", "/v1/tenants/t1", "{\"weight\":\"3\"}");
    ask("Bearer a", "POST", "/v1/tenants/t2", "{\"weight\":\"4\"}");
    ask("Bearer a", "GET", "/healthz", "");
}

static void has_room(void)
{
    look();
    myr_buf_puts(&story, "there is room again\n");
    full = false;
}

static void ends_full(void)
{
    look();
    ask("Bearer a", "GET", "/healthz", "");
    ask("Bearer a", "GET", "/v1/usage", "");
    myr_buf_puts(&story, "the disk is full again, and it is told to end, twice\n");
    full = true;
    ask("Bearer a", "POST", "/v1/tenants/t3", "{\"weight\":\"5\"}");
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(raise(SIGINT), 0);
}

/* The library has something to do: it is run, without anybody who asks. */
static int rings = -1;

static void rings_the_library(void)
{
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLONESHOT};
    rings = eventfd(1, EFD_CLOEXEC);
    assert_int_equal(epoll_ctl(lib.epoll_fd, EPOLL_CTL_ADD, rings, &wanted), 0);
    lib.runs = 0;
}

static void has_rung(void)
{
    assert_true(lib.runs > 0);
    close(rings);
}

static void a_full_store(void)
{
    static const struct step steps[] = {{500, rings_the_library}, {900, has_rung},
                                        {2500, is_full},          {6500, has_room},
                                        {9500, ends_full},        {0, NULL}};
    full = false;
    put_world("twin", "speed: 2\n");
    assert_int_equal(serve("a twin", steps, 60, false), MYR_EIO);
    full = false;
}

/* --- a twin that cannot grow */

/* The old world goes on where the new one cannot be made. */
static void cannot_grow(void)
{
    look();
    snprintf(server->config.faults, sizeof(server->config.faults), "nobody's");
    ask("Bearer a", "POST", "/v1/design",
        "{\"nodes\":\"n[0-4]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\","
        "\"design_nodes\":\"5\"}");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n2\",\"fault\":\"node-dies\"}");
}

static void a_twin_that_cannot_grow(void)
{
    static const struct step steps[] = {{20000, cannot_grow}, {140000, look}, {0, NULL}};
    put_world("twin", "speed: 10\n");
    assert_int_equal(serve("a twin that cannot grow", steps, 150, false), MYR_OK);
    nodes = "n[0-4]";
}

/* --- the service manager by another name */

static void at_other_addresses(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char name[80], long_name[120];
    int before = manager_fd;
    int len = snprintf(name, sizeof(name), "@myriad-%d-%s", (int)getpid(), bench.folder + 5);
    memcpy(at.sun_path + 1, name + 1, (size_t)len - 1);
    manager_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(manager_fd, (const struct sockaddr *)&at,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
    assert_int_equal(serve("an abstract address", NULL, 2, false), MYR_OK);
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(at.sun_path)] = '\0';
    setenv("NOTIFY_SOCKET", long_name, 1);
    assert_int_equal(serve("an address that is too long", NULL, 2, false), MYR_OK);
    close(manager_fd);
    manager_fd = before;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

/* The port is another one each time; 0 stays, where there is none. */
static void cover_ports(const char *before)
{
    for (char *at = strstr(story.data, before); at; at = strstr(at + 1, before)) {
        char *digits = at + strlen(before);
        size_t len = strspn(digits, "0123456789");
        if (len > 1) {
            memmove(digits + 1, digits + len, strlen(digits + len) + 1);
            *digits = 'P';
            story.len -= len - 1;
        }
    }
}

static void servers_of_other_worlds(void **state)
{
    (void)state;
    struct myr_err err = {};
    bench_begin(&bench);
    snprintf(folder, sizeof(folder), "%s/server", bench.folder);
    const struct myr_server_init init = {.folder = folder,
                                         .cluster = "trial",
                                         .nodes = "n[0-2]",
                                         .gpus_per_node = 8,
                                         .nodes_per_leaf = 2,
                                         .http = "127.0.0.1:4680",
                                         .agents = "127.0.0.1:0"};
    assert_int_equal(myr_server_init(&init, &err), MYR_OK);
    lines_begin();
    lib.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    library_plays();
    manager_begin();
    agents_come();
    a_slurm_that_is_not_there();
    a_full_store();
    a_twin_that_cannot_grow();
    at_other_addresses();
    unsetenv("NOTIFY_SOCKET");
    lines_end();
    close(manager_fd);
    myr_buf_done(&manager_heard);
    close(lib.epoll_fd);
    myr_buf_done(&lib.headers);
    cover_folder();
    cover_ports("agents on ");
    cover_ports("agents on port ");
    assert_kept("server-worlds.txt", &story);
    myr_buf_done(&story);
    assert_int_equal(nftw(bench.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_of_other_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
