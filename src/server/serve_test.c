/*
 * A server as a whole, from its folder to its last commit, in time that the test makes: whoever
 * waits moves the clock on, and hours pass at once. What it writes, tells its service manager and
 * answers is one text (tests/kept/server-serve.txt); lines at the margin are what the test does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "served_test.h"
#include "store/played_etcd_test.h"

#include <ftw.h>
#include <sys/resource.h>

/* And setenv() what it was given. */
long myr_leaks_allowed = TIME_ZONE_PIECES + 3;

static void submits(void)
{
    give("a", "ada", "ada", ROLE_ADMIN);
    look();
    ask("Bearer a", "POST", "/v1/jobs",
        "name: short\ngpus: 8\ncommand: x\ntime_limit: 100s\ntwin: {hours: 1, step_s: 20}\n");
    ask("Bearer a", "POST", "/v1/jobs",
        "name: early\ngpus: 4\ncommand: x\ntwin: {hours: 0.01, step_s: 2}\n");
    ask("Bearer a", "POST", "/v1/jobs",
        "name: long\ngpus: 8\ncommand: x\ntwin: {hours: 5, step_s: 20}\n");
}

static void asks_for_output(void)
{
    look();
    ask("Bearer a", "GET", "/v1/jobs/1/logs", "");
    ask("Bearer a", "GET", "/v1/jobs/2/logs", "");
}

static void explains(void)
{
    look();
    ask("Bearer a", "GET", "/v1/jobs/0/explain", "");
    ask("Bearer a", "GET", "/v1/jobs/1", "");
    ask("Bearer a", "GET", "/v1/jobs/2", "");
}

static void reads_anew(void)
{
    put_config("n[0-3]", "beat_ms: 500\npretend: true\npower: {kw_per_gpu: 2, price_kwh: 0.5, "
                         "currency: CHF}\n");
    assert_int_equal(raise(SIGHUP), 0);
}

static void has_read(void)
{
    ask("Bearer a", "GET", "/v1/usage", "");
    myr_buf_printf(&story, "  beat %u ms%s\n", server->config.beat_ms,
                   server->config.pretend ? ", pretends" : "");
    put_file("myriad.yaml", "nonsense: 1\n");
    assert_int_equal(raise(SIGHUP), 0);
}

static void grows(void)
{
    put_told();
    static const char *const bodies[] = {
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\",\"design_nodes\":"
        "\"5\"}",
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"0\",\"nodes_per_leaf\":\"2\",\"design_nodes\":"
        "\"4\"}",
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"1048577\",\"nodes_per_leaf\":\"2\",\"design_"
        "nodes\":\"4\"}",
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"4\",\"nodes_per_leaf\":\"2\",\"design_nodes\":"
        "\"4\"}",
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"3\",\"design_nodes\":"
        "\"4\"}",
        "{\"nodes\":\"n1,n0,x2,n4\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\",\"design_"
        "nodes\":\"4\"}",
        "{\"nodes\":\"a[0-3]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\",\"design_nodes\":"
        "\"4\"}",
        "{\"nodes\":\"n[0-3]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\",\"design_nodes\":"
        "\"4\"}",
        "{\"nodes\":\"n[0-5]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\",\"design_nodes\":"
        "\"6\",\"dry_run\":\"true\"}",
        "{\"nodes\":\"n[0-5]\",\"gpus_per_node\":\"8\",\"nodes_per_leaf\":\"2\",\"design_nodes\":"
        "\"6\"}",
    };
    for (size_t i = 0; i + 1 < MYR_ARRAY_COUNT(bodies); i++) {
        ask("Bearer a", "POST", "/v1/design", bodies[i]);
    }
    ask("Bearer a", "POST", "/v1/design", bodies[9]); /* the file has no 'nodes' */
    put_file("myriad.yaml", "# mine\nnodes:\n  - n0\n");
    ask("Bearer a", "POST", "/v1/design", bodies[9]);
    put_config("n[0-3]", "# and a word behind\n");
    ask("Bearer a", "POST", "/v1/design", bodies[9]);
    char path[256];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    path_of("myriad.yaml", path);
    assert_int_equal(myr_file_read(path, 4000, &text, &err), MYR_OK);
    myr_buf_puts(&story, text.data);
}

static void breaks(void)
{
    look();
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n0\",\"fault\":\"nothing\"}");
    ask("Bearer a", "POST", "/v1/inject", "{\"node\":\"n0\",\"fault\":\"node-dies\"}");
}

static void is_told_to_end(void)
{
    look();
    assert_int_equal(raise(SIGTERM), 0);
}

/* --- where the state is in etcd */

static uint16_t etcd_port;

static void control(const char *word)
{
    char url[80];
    struct myr_http_answer answer = {};
    struct myr_err err = {};
    snprintf(url, sizeof(url), "http://127.0.0.1:%u/control/%s", etcd_port, word);
    assert_int_equal(
        myr_http_ask(&(struct myr_http_request){.method = "POST", .url = url, .body = MYR_STR("x")},
                     NULL, NULL, &answer, &err),
        MYR_OK);
    myr_http_answer_done(&answer);
}

/* Of the request after this one: the lease is kept every third of its time. */
static void fails_once(void)
{
    lines_put(&story);
    myr_buf_puts(&story, "etcd fails once\n");
    control("500");
}

static void is_heard_again(void)
{
    lines_put(&story);
    myr_buf_printf(&story, "  %s\n", server->unheard ? "unheard" : "heard");
}

static void is_overtaken(void)
{
    lines_put(&story);
    myr_buf_puts(&story, "its lease runs out\n");
    control("expire");
}

/* Another server, which leads first; and how often the one that stands by has napped. */
static struct store *rival;
static uint32_t naps;

/* Nobody sleeps here either: things happen while the server that stands by naps. */
__attribute__((visibility("default"))) int nanosleep(const struct timespec *time,
                                                     struct timespec *left)
{
    assert_true(time->tv_sec == 0 && !left);
    put_manager();
    lines_put(&story);
    naps++;
    if (naps == 3 || naps == 4) {
        myr_buf_puts(&story, "etcd fails once\n");
        control("txn-500");
    } else if (naps == 6) {
        myr_buf_puts(&story, "the other gives up the lead\n");
        store_close(rival);
    }
    return 0;
}

static bool nobody_waits(void *context, const char *leader, const char *why)
{
    assert_null(why);
    snprintf(context, 128, "%s", leader);
    return false;
}

/* As init writes it for this cluster. */
static struct etcd_config etcd_config(void)
{
    struct etcd_config config = {.count = 1, .prefix = "/myriad/trial/", .ttl_s = 9};
    snprintf(config.endpoints[0], sizeof(config.endpoints[0]), "http://127.0.0.1:%u", etcd_port);
    return config;
}

/* By host and port others know which server leads. */
static void is_named(void)
{
    struct myr_err err = {};
    struct store *none = NULL;
    struct etcd_config config = etcd_config();
    char leader[128], host[64] = "", name[192];
    (void)gethostname(host, sizeof(host) - 1);
    int len = snprintf(name, sizeof(name), "%.60s", host);
    len = len > 55 ? len : snprintf(name, sizeof(name), "%s:4680 ", host);
    assert_int_equal(store_stand_by(&config, "curious", nobody_waits, leader, &none, &err),
                     MYR_ESTALE);
    assert_memory_equal(leader, name, (size_t)len);
}

/* The other's name has a number in it that is drawn. */
static void cover_other(void)
{
    for (char *at = strstr(story.data, "other:1 "); at; at = strstr(at + 1, "other:1 ")) {
        char *end = strstr(at, " leads");
        memmove(at + 7, end, strlen(end) + 1);
        story.len -= (size_t)(end - at - 7);
    }
}

/* The port is another one each time. */
static void cover_etcd_port(void)
{
    char port[32];
    int len = snprintf(port, sizeof(port), "127.0.0.1:%u", etcd_port);
    for (char *at = strstr(story.data, port); at; at = strstr(at, port)) {
        memmove(at + 4, at + len, strlen(at + len) + 1);
        memcpy(at, "ETCD", 4);
        story.len -= (size_t)len - 4;
    }
}

static void stands_by(void)
{
    static const struct step steps[] = {{1500, is_named}, {0, NULL}};
    struct myr_err err = {};
    struct etcd_config config = etcd_config();
    char leader[128];
    assert_int_equal(store_stand_by(&config, "other:1", nobody_waits, leader, &rival, &err),
                     MYR_OK);
    assert_int_equal(serve("and stands by, until it is free", steps, 3, false), MYR_OK);
    assert_int_equal(naps, 6);
    cover_other();
    char text[600];
    snprintf(text, sizeof(text),
             "cluster: another\nworld: twin\nnodes: \"n[0-1]\"\ngpus_per_node: 8\n"
             "nodes_per_leaf: 2\nhttp: \"127.0.0.1:4680\"\nagents: \"127.0.0.1:4681\"\n"
             "etcd:\n  endpoints: [\"http://127.0.0.1:%u\"]\n",
             etcd_port);
    put_file("myriad.yaml", text);
    assert_int_equal(serve("where etcd holds nothing of it", NULL, 3, false), MYR_ENOENT);
}

static void a_server_with_etcd(void)
{
    static const struct step steps[] = {{
                                            2500,
                                            fails_once,
                                        },
                                        {4000, is_heard_again},
                                        {7500, is_heard_again},
                                        {8000, is_overtaken},
                                        {0, NULL}};
    char asked[160], url[64];
    struct myr_err err = {};
    int status;
    snprintf(asked, sizeof(asked), "%s/asked", bench.folder);
    pid_t etcd = played_etcd_start(asked, &etcd_port);
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", etcd_port);
    snprintf(folder, sizeof(folder), "%s/second", bench.folder);
    const struct myr_server_init init = {.folder = folder,
                                         .cluster = "trial",
                                         .nodes = "n[0-1]",
                                         .gpus_per_node = 8,
                                         .nodes_per_leaf = 2,
                                         .http = "127.0.0.1:4680",
                                         .agents = "127.0.0.1:4681",
                                         .world = "twin",
                                         .etcd = url};
    assert_int_equal(myr_server_init(&init, &err), MYR_OK);
    assert_int_equal(myr_server_init(&init, &err), MYR_EINVAL); /* it is there already */
    assert_int_equal(serve("with its state in etcd", steps, 60, false), MYR_EAWAY);
    control("expire");
    stands_by();
    put_file("myriad.yaml", "");
    snprintf(folder, sizeof(folder), "%s/third", bench.folder);
    struct myr_server_init other = init;
    assert_int_equal(myr_server_init(&other, &err), MYR_EINVAL);
    myr_buf_printf(&story, "another cluster in the same etcd\n  %s\n", err.message);
    assert_int_equal(kill(etcd, SIGTERM), 0);
    assert_int_equal(waitpid(etcd, &status, 0), etcd);
    cover_etcd_port();
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static void put_open_files(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    myr_buf_printf(&story, "  open files: %llu\n", (unsigned long long)limit.rlim_cur);
}

static void what_is_not_there(void)
{
    char path[256];
    path_of("state.db", path);
    struct rlimit limit, before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){.rlim_cur = 256, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(serve("an empty store", NULL, 1, false), MYR_ECORRUPT);
    put_open_files();
    limit = (struct rlimit){.rlim_cur = 255, .rlim_max = 261};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(serve("few open files, for six nodes", NULL, 1, false), MYR_ECORRUPT);
    put_open_files();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(serve("no store", NULL, 1, false), MYR_ECORRUPT);
    path_of("myriad.yaml", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(serve("no configuration", NULL, 1, false), MYR_ENOENT);
}

static void a_server(void **state)
{
    (void)state;
    static const struct step first[] = {{3000, submits},         {4000, asks_for_output},
                                        {9000, asks_for_output}, {16000, explains},
                                        {17000, reads_anew},     {18000, has_read},
                                        {19000, grows},          {30000, breaks},
                                        {60000, look},           {0, NULL}};
    static const struct step second[] = {{5000, explains}, {6000, is_told_to_end}, {0, NULL}};
    struct myr_err err = {};
    bench_begin(&bench);
    snprintf(folder, sizeof(folder), "%s/server", bench.folder);
    const struct myr_server_init init = {.folder = folder,
                                         .cluster = "trial",
                                         .nodes = "n[0-3]",
                                         .gpus_per_node = 8,
                                         .nodes_per_leaf = 2,
                                         .http = "127.0.0.1:4680",
                                         .agents = "127.0.0.1:4681",
                                         .world = "twin",
                                         .speed = 10};
    assert_int_equal(myr_server_init(&init, &err), MYR_OK);
    lines_begin();
    lib.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    library_plays();
    manager_begin();
    put_config("n[0-3]", "");
    assert_int_equal(serve("a day's work", first, 80, false), MYR_OK);
    assert_int_equal(serve("and goes on", second, 0, false), MYR_OK);
    assert_int_equal(serve("until all are well", NULL, 0, true), MYR_OK);
    char path[256];
    path_of("server.url", path);
    assert_int_equal(mkdir(path, 0700), 0);
    blocked = true;
    assert_int_equal(serve("where its place cannot be written", NULL, 0, true), MYR_OK);
    blocked = false;
    assert_int_equal(rmdir(path), 0);
    what_is_not_there();
    a_server_with_etcd();
    unsetenv("NOTIFY_SOCKET");
    lines_end();
    close(manager_fd);
    myr_buf_done(&manager_heard);
    close(lib.epoll_fd);
    myr_buf_done(&lib.headers);
    cover_folder();
    assert_kept("server-serve.txt", &story);
    myr_buf_done(&story);
    assert_int_equal(nftw(bench.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
