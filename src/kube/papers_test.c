/*
 * Kubeconfigs and service accounts, each with all that is read of it or what is wrong with it, and
 * job files as Jobs: word by word (tests/kept/kube-papers.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "kube.h"
#include "leaks.h"
#include "myriad/kube/job.h"

static struct myr_buf story;
static char folder[] = "/tmp/myr-papers-XXXXXX";

static void put(const char *text)
{
    size_t length = strlen(folder);
    for (; *text; text++) {
        bool here = strncmp(text, folder, length) == 0;
        myr_buf_putc(&story, here ? '~' : *text == '\n' ? '/' : *text);
        text += here ? length - 1 : 0;
    }
}

static void put_named(const char *name, const char *text)
{
    if (text) {
        put(name);
        put(text);
    }
}

static void put_access(int rc, struct myr_kube_access *a, const struct myr_err *err)
{
    if (rc < 0) {
        myr_buf_printf(&story, "  %s: ", myr_err_name(rc));
        put(err->message);
        put_named(" hint: ", err->hint[0] ? err->hint : NULL);
        myr_buf_puts(&story, "\n");
        return;
    }
    struct myr_buf token = {};
    struct myr_err why = {};
    myr_buf_printf(&story, "  %s%s port %u", a->url, a->plain ? " plain" : "", a->port);
    put_named(" host ", a->host);
    put_named(" path ", a->path);
    put_named(" named ", a->named);
    put_named(" ca ", a->ca);
    put_named(" certificate ", a->certificate);
    put_named(" key ", a->key);
    put_named(" token ", a->token);
    put_named(" token file ", a->token_file);
    put_named(" from ", a->from);
    put_named(" space ", a->space);
    int shown = kube_token(a, &token, &why);
    put_named(" shows ", shown == MYR_OK ? token.data ? token.data : "" : why.message);
    myr_buf_puts(&story, "\n");
    myr_buf_done(&token);
    myr_kube_access_done(a);
}

static void read_config(const char *cluster, const char *user, const char *context)
{
    struct myr_buf text = {};
    struct myr_kube_access a;
    struct myr_err err = {};
    char path[64];
    snprintf(path, sizeof(path), "%s/config", folder);
    myr_buf_printf(&text,
                   "current-context: c\nclusters: [{name: k, cluster: {%s}}]\nusers: [{name: u, "
                   "user: {%s}}, {name: none, user: null}, {name: odd}, {name: list, user: []}]\n"
                   "contexts: [{name: c, context: {cluster: k, user: u}}, {name: d, context: {"
                   "cluster: k%s}}]\n",
                   cluster, user, context ? context : "");
    myr_buf_printf(&story, "{%s} {%s} %s\n", cluster, user, context ? context : "");
    int rc = myr_kube_access_read(path, (struct myr_str){text.data, text.len}, context ? "d" : NULL,
                                  &a, &err);
    put_access(rc, &a, &err);
    myr_buf_done(&text);
}

static void write_file(const char *name, const char *bytes, size_t size)
{
    char path[100];
    struct myr_buf text = {};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    myr_buf_put(&text, bytes, size);
    assert_int_equal(myr_file_write(path, &text, NULL), MYR_OK);
    myr_buf_done(&text);
}

static void remove_file(const char *name)
{
    char path[100];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    unlink(path);
}

#define GOOD "server: 'https://a'"

static void servers_have_addresses(void **state)
{
    static const char *const servers[] = {
        "https://a",
        "https://a/",
        "https://a//",
        "https://a/b/c/",
        "https://a:1",
        "https://a:65535",
        "https://a:65536",
        "https://a:0",
        "https://a:",
        "https://a:x",
        "https://a:1/b",
        "https://a:1x/b",
        "https://",
        "https:///b",
        "https://:80",
        "https://[::1]",
        "https://[::1]:5/b",
        "https://[::1]b",
        "https://[::1",
        "https://[]",
        "https://a?b",
        "https://a#b",
        "https://a/b?c",
        "https://b@a",
        "https://a/b@c",
        "https://a b",
        "https://a\tb",
        "https://a\x7f",
        "http://127.0.0.1",
        "http://127.9.9.9:8001/x",
        "http://localhost",
        "http://localhost.x",
        "http://[::1]:8001",
        "http://[::2]",
        "http://128.0.0.1",
        "HTTPS://a",
        "ftp://a",
        "a",
        "",
        "/",
    };
    char longest[300] = "server: 'https://";
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(servers); i++) {
        char text[80];
        snprintf(text, sizeof(text), "server: \"%s\"", servers[i]);
        read_config(text, "token: t", NULL);
    }
    for (size_t length = 253; length < 255; length++) {
        memset(longest + 17, 'h', length);
        longest[17 + length] = '\'';
        longest[18 + length] = '\0';
        read_config(longest, "", NULL);
    }
}

static const char *const clusters[] = {
    GOOD ", tls-server-name: other",
    GOOD ", tls-server-name: null",
    GOOD ", tls-server-name: []",
    GOOD ", insecure-skip-tls-verify: true",
    GOOD ", insecure-skip-tls-verify: false",
    GOOD ", insecure-skip-tls-verify: maybe",
    GOOD ", certificate-authority: ca.pem",
    GOOD ", certificate-authority: null, certificate-authority-data: null",
    GOOD ", certificate-authority: empty.pem",
    GOOD ", certificate-authority: nul.pem",
    GOOD ", certificate-authority: gone.pem",
    GOOD ", certificate-authority: [a]",
    GOOD ", certificate-authority: ca.pem, certificate-authority-data: QUJD",
    GOOD ", certificate-authority-data: [QUJD]",
    GOOD ", certificate-authority-data: QUJDRA==",
    GOOD ", certificate-authority-data: QUJDREU=",
    GOOD ", certificate-authority-data: \"QU\\nJD\\r REU\"",
    GOOD ", certificate-authority-data: QUJDR",
    GOOD ", certificate-authority-data: QUJD===",
    GOOD ", certificate-authority-data: QUJ=D",
    GOOD ", certificate-authority-data: \"QUJD\\t\"",
    GOOD ", certificate-authority-data: YWJ6MDE5Ky8+Pz56QVo=",
    GOOD ", certificate-authority-data: Pz8/Pj4+",
    "x: y",
};
static const char *const users[] = {
    "",
    "token: abc",
    "token: null",
    "token: ''",
    "token: 'a b'",
    "token: \"a\\u007fb\"",
    "token: \"a\\u0021b\"",
    "token: [a]",
    "tokenFile: token",
    "tokenFile: null, token: abc",
    "tokenFile: empty.pem",
    "tokenFile: spaced",
    "tokenFile: gone",
    "exec: {command: aws}",
    "auth-provider: {name: gcp}",
    "username: me",
    "client-certificate-data: QUJD, client-key-data: REVG",
    "client-certificate-data: QUJD",
    "client-key-data: QUJD",
    "client-certificate: ca.pem, client-key: ca.pem",
    "client-certificate: gone.pem, client-key: ca.pem",
    "client-certificate: ca.pem, client-key: gone.pem",
};
static const char *const contexts[] = {
    "",
    ", user: none",
    ", user: odd",
    ", user: list",
    ", user: nobody",
    ", user: []",
    ", user: u, namespace: research",
    ", namespace: null",
    ", namespace: 'Re search'",
    ", namespace: []",
};

static const char *const whole_files[] = {
    ("{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\"}}]"
     ","
     "\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https://a\"}}]}"),
    "",
    "{",
    "[]",
    "current-context: []\n",
    "current-context: c\n",
    "current-context: c\ncontexts: {}\n",
    "current-context: c\ncontexts: [{name: [c]}, 7]\n",
    "current-context: c\ncontexts: [{name: c}]\n",
    "current-context: c\ncontexts: [{name: c, context: {}}]\n",
    "current-context: c\ncontexts: [{name: c, context: null}]\n",
    "current-context: c\ncontexts: [{name: c, context: {cluster: []}}]\n",
    "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n",
    "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: []\n"};

static void clusters_users_and_contexts_are_read(void **state)
{
    (void)state;
    write_file("ca.pem", "PEM\n", 4);
    write_file("empty.pem", "", 0);
    write_file("nul.pem", "P\0M", 3);
    write_file("token", "secret \n\t\n", 10);
    write_file("spaced", "se cret", 7);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(clusters); i++) {
        read_config(clusters[i], "", NULL);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(users); i++) {
        read_config(GOOD, users[i], NULL);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(contexts); i++) {
        read_config(GOOD, "token: t", contexts[i]);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(whole_files); i++) {
        struct myr_kube_access a;
        struct myr_err err = {};
        put(whole_files[i]);
        myr_buf_puts(&story, "\n");
        int rc = myr_kube_access_read("config", myr_str_from(whole_files[i]), NULL, &a, &err);
        put_access(rc, &a, &err);
    }
}

/* --- where they are looked for */

static const char *named, *home, *host, *port;

static const char *lookup(const char *name)
{
    return strcmp(name, "KUBECONFIG") == 0                ? named
           : strcmp(name, "HOME") == 0                    ? home
           : strcmp(name, "KUBERNETES_SERVICE_HOST") == 0 ? host
           : strcmp(name, "KUBERNETES_SERVICE_PORT") == 0 ? port
                                                          : NULL;
}

static void find(const char *kubeconfig)
{
    struct myr_kube_access a;
    struct myr_err err = {};
    const struct myr_kube_where where = {
        .kubeconfig = kubeconfig, .account = folder, .lookup_env = lookup};
    put_named("given ", kubeconfig ? kubeconfig : "-");
    put_named(" KUBECONFIG ", named ? named : "-");
    put_named(" HOME ", home ? home : "-");
    put_named(" host ", host ? host : "-");
    put_named(" port ", port ? port : "-");
    myr_buf_puts(&story, "\n");
    int rc = myr_kube_access_find(&where, &a, &err);
    put_access(rc, &a, &err);
}

static void they_are_looked_for_in_order(void **state)
{
    static char first[64], second[64], long_home[5000];
    static const char *const ports[] = {"443", "0", "65535", "65536", "x", "", NULL};
    static const char *const spaces[] = {"research", "Not One", ""};
    char path[64];
    (void)state;
    snprintf(first, sizeof(first), "%s/first", folder);
    snprintf(second, sizeof(second), "%s/second", folder);
    snprintf(path, sizeof(path), "%s/.kube", folder);
    assert_int_equal(myr_make_dirs(path, NULL), MYR_OK);
#define CONFIG(server)                                                                        \
    "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, " \
    "cluster: {server: 'https://" server "'}}]\n"
    write_file("first", CONFIG("first"), sizeof(CONFIG("first")) - 1);
    write_file("second", CONFIG("second"), sizeof(CONFIG("second")) - 1);
    write_file(".kube/config", CONFIG("home"), sizeof(CONFIG("home")) - 1);
    write_file("ca.crt", "CA", 2);
    write_file("namespace", "research", 8);
    named = second;
    home = folder;
    host = "10.0.0.1";
    port = "443";
    find(first);
    find(NULL);
    find(folder);
    named = "";
    find(NULL);
    find("");
    memset(long_home, '/', sizeof(long_home) - 1);
    home = long_home;
    find(NULL);
    home = "/nowhere";
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ports); i++) {
        port = ports[i];
        find(NULL);
    }
    home = NULL;
    port = "6443";
    host = "fd00::1";
    for (size_t i = 0; i < MYR_ARRAY_COUNT(spaces); i++) {
        write_file("namespace", spaces[i], strlen(spaces[i]));
        find(NULL);
    }
    remove_file("namespace");
    find(NULL);
    remove_file("ca.crt");
    find(NULL);
    host = "";
    find(NULL);
    host = named = NULL;
    find(NULL);
}

/* --- job files */

static const struct {
    const char *text, *name, *suffix, *image;
    uint32_t gpus, per_node, port, retries;
    int32_t priority;
    int64_t limit_s;
} jobs[] = {
    {.text = "command: x\nimage: y\ncheckpoint: /c\ndirectory: /d\nrestart: strict\n"
             "layout: tp8 pp2\n",
     .name = "Train It!-",
     .suffix = "ab",
     .gpus = 16,
     .per_node = 8,
     .port = 4000,
     .retries = 7,
     .priority = -3,
     .limit_s = 90},
    {.text = "command: x\nlayout: {tp: 8, pp: 2}\nenv: {A: '$B', C: ''}\n",
     .name = "--",
     .image = "z",
     .gpus = 8,
     .per_node = 8},
    {.text = "{\"command\":[\"a\",\"$b\"],\"image\":\"y\"}",
     .name = "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij1-3",
     .gpus = 24,
     .per_node = 16},
    {.text = "command: x\nimage: y\n", .name = "9", .gpus = 65536, .per_node = 1},
    {.text = "command: x\nimage: y\n", .name = "9", .gpus = 65537, .per_node = 1},
    {.text = "command: x\nimage: y\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\nimage: y\nepilog: z\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\nimage: y\nafter: 1\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\nimage: y\nservice: true\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\nimage: []\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\nimage: y\ndirectory: []\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\nimage: y\ncheckpoint: []\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\nimage: y\nrestart: []\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "command: x\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "image: y\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "[]\n", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "{", .name = "a", .gpus = 1, .per_node = 8},
    {.text = "", .name = "a", .gpus = 1, .per_node = 8},
};

static void jobs_are_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(jobs); i++) {
        struct myr_buf text = {};
        struct myr_err err = {};
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        struct myr_jobfile file;
        int rc = myr_jobfile_read(&arena, MYR_JOBFILE_TAKEN("job.yaml"), myr_str_from(jobs[i].text),
                                  &file, &err);
        snprintf(file.name, sizeof(file.name), "%s", jobs[i].name);
        snprintf(file.tenant, sizeof(file.tenant), "%s", i ? "Team A" : "team");
        file.gpus = jobs[i].gpus;
        file.retries = jobs[i].retries;
        file.priority = jobs[i].priority;
        file.time_limit = jobs[i].limit_s;
        const struct myr_kube_job job = {.job = &file,
                                         .gpus_per_node = jobs[i].per_node,
                                         .port = jobs[i].port,
                                         .image = jobs[i].image,
                                         .space = "s",
                                         .scheduler = "myriad",
                                         .resource = "gpu"};
        rc = rc < 0 ? rc : myr_kube_job_write(&job, jobs[i].suffix, &text, &err);
        put(jobs[i].text);
        myr_buf_printf(&story, "\n%s%s%s\n", rc < 0 ? err.message : text.data,
                       err.hint[0] ? " hint: " : "", err.hint);
        myr_buf_done(&text);
    }
}

static void all_of_it_is_as_it_was(void **state)
{
    static const char *const files[] = {"ca.pem", "empty.pem", "nul.pem", "token",       "spaced",
                                        "first",  "second",    "ca.crt",  ".kube/config"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        remove_file(files[i]);
    }
    char path[64];
    snprintf(path, sizeof(path), "%s/.kube", folder);
    rmdir(path);
    rmdir(folder);
    assert_kept("kube-papers.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_have_addresses),
        cmocka_unit_test(clusters_users_and_contexts_are_read),
        cmocka_unit_test(they_are_looked_for_in_order),
        cmocka_unit_test(jobs_are_written),
        cmocka_unit_test(all_of_it_is_as_it_was),
    };
    return mkdtemp(folder) ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
