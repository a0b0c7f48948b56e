/* Kubeconfigs as people have them, and as they should not; job files as Jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "kept.h"
#include "kube.h"
#include "leaks.h"
#include "myriad/kube/job.h"

#define CONFIG(cluster, user)                                                       \
    "current-context: c\nclusters: [{name: c, cluster: {" cluster "}}]\n"           \
    "users: [{name: u, user: {" user "}}]\n"                                        \
    "contexts:\n- {name: c, context: {cluster: c, user: u, namespace: research}}\n" \
    "- {name: d, context: {cluster: nowhere, user: u}}\n"

static void kubeconfigs_are_read(void **state)
{
    static const struct {
        const char *text, *host, *path, *url;
        uint16_t port;
        bool plain;
    } good[] = {
        {CONFIG("server: 'https://10.0.0.1:6443'", "token: abc"), "10.0.0.1", "",
         "https://10.0.0.1:6443", 6443, false},
        {CONFIG("server: 'https://k8s.example/clusters/c-1/'", "token: abc"), "k8s.example",
         "/clusters/c-1", "https://k8s.example", 443, false},
        {CONFIG("server: 'https://[fd00::1]:6443'", "token: abc"), "fd00::1", "",
         "https://[fd00::1]:6443", 6443, false},
        {CONFIG("server: 'http://127.0.0.1:8001'", "token: abc"), "127.0.0.1", "",
         "http://127.0.0.1:8001", 8001, true},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        struct myr_kube_access a;
        struct myr_err err = {};
        if (myr_kube_access_read("k", myr_str_from(good[i].text), NULL, &a, &err) != MYR_OK) {
            fail_msg("%s", err.message);
        }
        assert_string_equal(a.host, good[i].host);
        assert_string_equal(a.path, good[i].path);
        assert_string_equal(a.url, good[i].url);
        assert_int_equal(a.port, good[i].port);
        assert_int_equal(a.plain, good[i].plain);
        assert_string_equal(a.space, "research");
        assert_string_equal(a.token, "abc");
        MYR_CLEANUP(myr_buf_done) struct myr_buf shown = {};
        myr_buf_put_lit(&shown, "an older one");
        assert_int_equal(kube_token(&a, &shown, &err), MYR_OK);
        assert_string_equal(shown.data, "abc");
        myr_kube_access_done(&a);
    }
}

static void bad_kubeconfigs_are_one_line_with_a_place(void **state)
{
    static const char *const bad[][2] = {
        {CONFIG("server: 10.0.0.1", "token: abc"), "no address"},
        {CONFIG("server: 'https://a@b'", "token: abc"), "no address"},
        {CONFIG("server: 'http://10.0.0.1:8001'", "token: abc"), "in the open"},
        {CONFIG("server: 'https://a:99999'", "token: abc"), "no address"},
        {CONFIG("server: 'https://a', insecure-skip-tls-verify: true", "token: abc"),
         "certificate-authority"},
        {CONFIG("server: 'https://a', certificate-authority-data: '%%'", "token: abc"), "base64"},
        {CONFIG("server: 'https://a', certificate-authority-data: 'QUJD%%'", "token: abc"),
         "base64"}, /* good up to there */
        {CONFIG("server: 'https://a', certificate-authority-data: ''", "token: abc"), "base64"},
        {CONFIG("server: 'https://a', certificate-authority-data: 'QQBC'", "token: abc"),
         "base64"}, /* a NUL in it */
        {CONFIG("server: 'https://a', certificate-authority: gone.pem", "token: abc"),
         "dir/gone.pem"},
        {CONFIG("server: 'https://a'", "exec: {command: aws}"), "'exec'"},
        {CONFIG("server: 'https://a'", "token: 'a b'"), "one word"},
        {CONFIG("server: 'https://a'", "client-key-data: QQ=="), "'client-certificate'"},
        {"current-context: x\ncontexts: []\n", "no 'x'"},
        {"contexts: []\n", "current-context"},
        {"[]", "map"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_kube_access a;
        struct myr_err err = {};
        int rc = myr_kube_access_read("dir/config", myr_str_from(bad[i][0]), NULL, &a, &err);
        assert_true(rc < 0);
        if (!strstr(err.message, bad[i][1]) || !strstr(err.message, "dir/")) {
            fail_msg("'%s' has no '%s'", err.message, bad[i][1]);
        }
    }
    struct myr_kube_access a;
    struct myr_err err = {};
    assert_int_equal(myr_kube_access_read("k", MYR_STR(CONFIG("server: 'https://a'", "token: t")),
                                          "d", &a, &err),
                     MYR_ENOENT);
}

static const char *folder;

static const char *in_a_pod(const char *name)
{
    return strcmp(name, "KUBERNETES_SERVICE_HOST") == 0   ? "10.96.0.1"
           : strcmp(name, "KUBERNETES_SERVICE_PORT") == 0 ? "443"
                                                          : NULL;
}

static const char *nowhere(const char *name)
{
    (void)name;
    return NULL;
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    struct myr_err err = {};
    struct myr_buf buf = {};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
    myr_buf_done(&buf);
}

/* A pod's token is changed under it: it is read when it is used. */
static void a_pod_uses_its_service_account(void **state)
{
    char at[] = "/tmp/myriad-kube-XXXXXX", path[64];
    struct myr_kube_access a;
    struct myr_err err = {};
    struct myr_buf token = {};
    (void)state;
    folder = mkdtemp(at);
    assert_non_null(folder);
    write_file("ca.crt", "-----BEGIN CERTIFICATE-----\n");
    write_file("namespace", "myriad");
    write_file("token", "first\n");
    struct myr_kube_where where = {.account = at, .lookup_env = in_a_pod};
    assert_int_equal(myr_kube_access_find(&where, &a, &err), MYR_OK);
    assert_string_equal(a.url, "https://10.96.0.1:443");
    assert_string_equal(a.space, "myriad");
    assert_int_equal(kube_token(&a, &token, &err), MYR_OK);
    assert_string_equal(token.data, "first");
    write_file("token", "second");
    assert_int_equal(kube_token(&a, &token, &err), MYR_OK);
    assert_string_equal(token.data, "second");
    myr_kube_access_done(&a);
    where.lookup_env = nowhere;
    assert_int_equal(myr_kube_access_find(&where, &a, &err), MYR_ENOENT);
    myr_buf_done(&token);
    static const char *const files[] = {"ca.crt", "namespace", "token"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", at, files[i]);
        unlink(path);
    }
    rmdir(at);
}

/* As it was checked before, for so many GPUs. */
static int read_job(struct myr_arena *arena, const char *text, uint32_t gpus,
                    struct myr_jobfile *ret, struct myr_err *err)
{
    MYR_TRY(myr_jobfile_read(arena, MYR_JOBFILE_TAKEN("job.yaml"), myr_str_from(text), ret, err));
    ret->gpus = gpus;
    return MYR_OK;
}

static json_t *job_of(const char *text, uint32_t gpus, uint32_t per_node)
{
    struct myr_buf buf = {};
    struct myr_err err = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_jobfile file;
    assert_int_equal(read_job(&arena, text, gpus, &file, &err), MYR_OK);
    snprintf(file.name, sizeof(file.name), "My Job_1");
    snprintf(file.tenant, sizeof(file.tenant), "research");
    const struct myr_kube_job job = {.job = &file,
                                     .gpus_per_node = per_node,
                                     .space = "default",
                                     .scheduler = "myriad",
                                     .resource = "nvidia.com/gpu"};
    if (myr_kube_job_write(&job, "ab12", &buf, &err) != MYR_OK) {
        fail_msg("%s", err.message);
    }
    json_t *top = json_loadb(buf.data, buf.len, 0, NULL);
    assert_non_null(top);
    myr_buf_done(&buf);
    return top;
}

static const char *note(const json_t *top, const char *key)
{
    const json_t *notes = json_object_get(
        json_object_get(json_object_get(json_object_get(top, "spec"), "template"), "metadata"),
        "annotations");
    return json_string_value(json_object_get(notes, key));
}

/* Whole nodes where it can be; where it cannot, pods of the size that fits both. */
static void a_job_file_is_a_gang_of_pods(void **state)
{
    static const struct {
        uint32_t gpus, per_node;
        const char *pods, *each;
    } sizes[] = {{64, 8, "8", "8"}, {4, 8, "1", "4"}, {12, 8, "3", "4"}, {9, 8, "9", "1"}};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        json_t *top = job_of("command: python3 train.py\nimage: lab/x:1\nenv: {A: b}\n",
                             sizes[i].gpus, sizes[i].per_node);
        assert_string_equal(note(top, "myriad/gang-size"), sizes[i].pods);
        assert_string_equal(note(top, "myriad/gang"), "my-job-1-ab12");
        json_t *spec =
            json_object_get(json_object_get(json_object_get(top, "spec"), "template"), "spec");
        json_t *container = json_array_get(json_object_get(spec, "containers"), 0);
        assert_string_equal(json_string_value(json_object_get(container, "image")), "lab/x:1");
        json_t *limits = json_object_get(json_object_get(container, "resources"), "limits");
        assert_string_equal(json_string_value(json_object_get(limits, "nvidia.com/gpu")),
                            sizes[i].each);
        json_decref(top);
    }
    static const char *const bad[][2] = {
        {"command: x\n", "job.yaml:1:1: 'image' is missing"},
        {"command: x\nimage: y\narray: 0-3\n", "job.yaml:3:8: 'array'"},
        {"command: x\nimage: y\nprolog: p\n", "job.yaml:3:9: 'prolog'"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_buf buf = {};
        struct myr_err err = {};
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        struct myr_jobfile file;
        assert_int_equal(read_job(&arena, bad[i][0], 8, &file, &err), MYR_OK);
        const struct myr_kube_job job = {.job = &file,
                                         .gpus_per_node = 8,
                                         .space = "default",
                                         .scheduler = "myriad",
                                         .resource = "nvidia.com/gpu"};
        assert_int_equal(myr_kube_job_write(&job, NULL, &buf, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, bad[i][1]));
        assert_int_equal(buf.len, 0);
    }
}

/* What is given to a cluster, whole: people read it before they apply it. */
static void a_job_is_as_it_was(void **state)
{
    static const char *const files[] = {
        "command: python3 train.py --lr 1\nimage: lab/x:1\nenv: {A: b, B: '$(RANK) $$'}\n"
        "directory: /data/run\npriority: 3\n",
        "command: [python3, 'a b.py', '$HOME']\nimage: lab/x:1\n",
    };
    (void)state;
    struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        struct myr_err err = {};
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        struct myr_jobfile file;
        assert_int_equal(read_job(&arena, files[i], i ? 4 : 16, &file, &err), MYR_OK);
        snprintf(file.name, sizeof(file.name), "my job_1");
        snprintf(file.tenant, sizeof(file.tenant), "team");
        file.priority = file.retries = 0;
        const struct myr_kube_job job = {.job = &file,
                                         .gpus_per_node = 8,
                                         .space = "research",
                                         .scheduler = "myriad",
                                         .resource = "nvidia.com/gpu"};
        if (myr_kube_job_write(&job, i ? NULL : "ab12", &text, &err) < 0) {
            fail_msg("%s", err.message);
        }
        myr_buf_puts(&text, "\n");
    }
    assert_kept("kube-jobs.json", &text);
    myr_buf_done(&text);
}

/* A file of a token is named from the kubeconfig's own folder, and wins over a token. */
static void tokens_come_from_a_file(void **state)
{
    (void)state;
    struct myr_kube_access a;
    struct myr_err err = {};
    const char *text = CONFIG("server: 'https://a'", "tokenFile: t/token, token: abc");
    assert_int_equal(myr_kube_access_read("dir/config", myr_str_from(text), NULL, &a, &err),
                     MYR_OK);
    assert_string_equal(a.token_file, "dir/t/token");
    assert_null(a.token);
    myr_kube_access_done(&a);
    text = CONFIG("server: 'https://a'", "tokenFile: /t/token");
    assert_int_equal(myr_kube_access_read("dir/config", myr_str_from(text), NULL, &a, &err),
                     MYR_OK);
    assert_string_equal(a.token_file, "/t/token");
    myr_kube_access_done(&a);
    text = CONFIG("server: 'https://a'", "tokenFile: [t]");
    assert_true(myr_kube_access_read("dir/config", myr_str_from(text), NULL, &a, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kubeconfigs_are_read),
        cmocka_unit_test(tokens_come_from_a_file),
        cmocka_unit_test(a_job_is_as_it_was),
        cmocka_unit_test(bad_kubeconfigs_are_one_line_with_a_place),
        cmocka_unit_test(a_pod_uses_its_service_account),
        cmocka_unit_test(a_job_file_is_a_gang_of_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
