/*
 * config: myriad.yaml, and nothing else: every key is known or refused, every number has bounds.
 * Defaults are in one place, and the reader writes over them what the file says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/server.h"
#include "myriad/text/kind.h"
#include "server.h"

/* In the order in which errors name them; docs/server.md says what each means. */
static const char *const keys[] = {
    "cluster", "world",  "nodes",   "gpus_per_node",   "nodes_per_leaf", "http",  "agents",
    "policy",  "spares", "pretend", "beat_ms",         "speed",          "fence", "power",
    "faults",  "slurm",  "etcd",    "fence_timeout_s", "starve_h",
};
static const char *const etcd_keys[] = {"endpoints", "prefix", "ca", "certificate", "key", "ttl_s"};
static const char *const slurm_keys[] = {"partition", "conf",      "bin",      "spool",
                                         "poll_s",    "timeout_s", "accounts", "options"};
static const char *const power_keys[] = {"kw_per_gpu", "price_kwh", "currency"};
const char *const world_names[WORLD_COUNT] = {"agents", "twin", "slurm"};
static const char *const policies[] = {"fifo", "first-fit", "fair",
                                       "preempt"}; /* by enum myr_queue_preset */

/* "127.0.0.1:4680", "[::1]:4680" */
static int read_address(const struct myr_doc *node, const char *what, char *ret, size_t size,
                        uint16_t *ret_port, struct myr_err *err)
{
    struct myr_str text;
    uint64_t port;
    MYR_TRY(myr_doc_text(node, what, &text, err));
    /* Behind the last colon is the port: an IPv6 address has others. */
    size_t colon = text.len;
    while (colon > 0 && text.data[colon - 1] != ':') {
        colon--;
    }
    /* Brackets are part of the writing, not of the address. */
    bool six = text.len > 0 && text.data[0] == '[';
    struct myr_str host = {text.data + six, colon > 1 + 2U * six ? colon - 1 - 2U * six : 0};
    if (colon == 0 || host.len == 0 || host.len >= size || (six && text.data[colon - 2] != ']') ||
        !myr_str_to_u64((struct myr_str){text.data + colon, text.len - colon}, &port) ||
        port > UINT16_MAX) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'%s' is no address; such as 127.0.0.1:4680 or [::1]:4680 is expected",
                             what);
    }
    myr_str_put(host, ret);
    *ret_port = (uint16_t)port;
    return MYR_OK;
}

/* 'ret' keeps its default where the key is missing; so do the readers below. */
static int read_count(const struct myr_doc *top, const char *key, uint64_t min, uint64_t max,
                      uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    uint64_t value;
    if (node) {
        MYR_TRY(myr_doc_u64(node, key, min, max, &value, err));
        *ret = (uint32_t)value;
    }
    return MYR_OK;
}

/* Too long is an error: a path that was cut would name something else. */
static int read_text(const struct myr_doc *top, const char *key, char *ret, size_t size,
                     struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    struct myr_str text;
    if (!node) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_text(node, key, &text, err));
    if (text.len >= size) {
        return myr_doc_error(err, node, MYR_ERANGE, "'%s' has %zu bytes, at most %zu are expected",
                             key, text.len, size - 1);
    }
    myr_str_put(text, ret);
    return MYR_OK;
}

static int read_choice(const struct myr_doc *top, const char *key, const char *const *names,
                       size_t count, uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    return node ? myr_doc_choice(node, key, names, count, ret, err) : MYR_OK;
}

/* Their order is that of ids and leaves. */
static int read_nodes(const struct myr_doc *top, struct config *ret, struct myr_err *err)
{
    const struct myr_doc *node;
    struct myr_str text;
    MYR_TRY(myr_doc_need(top, "the configuration", "nodes", &node, err));
    MYR_TRY(myr_doc_text(node, "nodes", &text, err));
    uint64_t count;
    if (myr_str_to_u64(text, &count)) { /* one node of that name is never meant */
        return myr_doc_error(err, node, MYR_EINVAL,
                             "nodes: host names are expected, as in gpu-[1-%llu], not a number",
                             (unsigned long long)count);
    }
    /* The reader of lists wants a NUL behind it. */
    MYR_CLEANUP(myr_free_at) char *list = myr_xcalloc(1, text.len + 1);
    myr_str_put(text, list);
    /* Told again with the line of the file. */
    struct myr_err why = {};
    int rc = names_expand(list, &ret->names, &ret->node_count, &why);
    return rc < 0 ? myr_doc_error(err, node, rc, "%s", why.message) : MYR_OK;
}

/* What a GPU-hour costs, for usage alone: no decision depends on it. */
static int read_power(const struct myr_doc *top, struct config *ret, struct myr_err *err)
{
    const struct myr_doc *map = myr_doc_get(top, "power");
    if (!map) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "power", err));
    MYR_TRY(myr_doc_check_keys(map, "power", power_keys, MYR_ARRAY_COUNT(power_keys), err));
    const struct myr_doc *kw = myr_doc_get(map, "kw_per_gpu"),
                         *price = myr_doc_get(map, "price_kwh");
    if (kw) {
        MYR_TRY(myr_doc_double(kw, "power.kw_per_gpu", 0, 100, &ret->kw_per_gpu, err));
    }
    if (price) {
        MYR_TRY(myr_doc_double(price, "power.price_kwh", 0, 1000, &ret->price_kwh, err));
    }
    return read_text(map, "currency", ret->currency, sizeof(ret->currency), err);
}

/* Read in every world, so that a mistake is found before it is switched on. */
static int read_slurm(const struct myr_doc *top, struct slurm_config *ret, struct myr_err *err)
{
    const struct myr_doc *map = myr_doc_get(top, "slurm");
    if (!map) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "slurm", err));
    MYR_TRY(myr_doc_check_keys(map, "slurm", slurm_keys, MYR_ARRAY_COUNT(slurm_keys), err));
    MYR_TRY(read_text(map, "partition", ret->partition, sizeof(ret->partition), err));
    MYR_TRY(read_text(map, "conf", ret->conf, sizeof(ret->conf), err));
    MYR_TRY(read_text(map, "bin", ret->bin, sizeof(ret->bin), err));
    MYR_TRY(read_text(map, "spool", ret->spool, sizeof(ret->spool), err));
    MYR_TRY(read_text(map, "options", ret->options, sizeof(ret->options), err));
    MYR_TRY(read_count(map, "poll_s", 1, 3600, &ret->poll_s, err));
    MYR_TRY(read_count(map, "timeout_s", 1, 600, &ret->timeout_s, err));
    const struct myr_doc *accounts = myr_doc_get(map, "accounts");
    return accounts ? myr_doc_bool(accounts, "slurm.accounts", &ret->accounts, err) : MYR_OK;
}

/* 'count' is set last: where it is 0 the store is a file. */
static int read_endpoints(const struct myr_doc *map, struct etcd_config *ret, struct myr_err *err)
{
    const struct myr_doc *list;
    MYR_TRY(myr_doc_need(map, "etcd", "endpoints", &list, err));
    MYR_TRY(myr_doc_expect(list, MYR_DOC_LIST, "etcd.endpoints", err));
    if (list->count < 1 || list->count > ETCD_MEMBERS) {
        return myr_doc_error(err, list, MYR_ERANGE, "'etcd.endpoints' has %u, 1 to %d are expected",
                             list->count, ETCD_MEMBERS);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        struct myr_str text;
        MYR_TRY(myr_doc_text(list->items[i], "etcd.endpoints", &text, err));
        /* Paths are put behind it, and begin with a slash themselves. */
        while (text.len > 0 && text.data[text.len - 1] == '/') {
            text.len--;
        }
        if (text.len >= sizeof(ret->endpoints[i]) || text.len < 8 ||
            (memcmp(text.data, "http://", 7) != 0 && memcmp(text.data, "https://", 8) != 0)) {
            return myr_doc_error(err, list->items[i], MYR_EINVAL,
                                 "'etcd.endpoints': such as http://127.0.0.1:2379 is expected");
        }
        snprintf(ret->endpoints[i], sizeof(ret->endpoints[i]), "%.*s", (int)text.len, text.data);
    }
    ret->count = list->count;
    return MYR_OK;
}

static int read_etcd(const struct myr_doc *top, const char *cluster, struct etcd_config *ret,
                     struct myr_err *err)
{
    const struct myr_doc *map = myr_doc_get(top, "etcd");
    if (!map) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "etcd", err));
    MYR_TRY(myr_doc_check_keys(map, "etcd", etcd_keys, MYR_ARRAY_COUNT(etcd_keys), err));
    /* By the cluster's name, so that several can share one etcd. */
    snprintf(ret->prefix, sizeof(ret->prefix), "/myriad/%s/", cluster);
    /* One byte is left for the slash behind it. */
    MYR_TRY(read_text(map, "prefix", ret->prefix, sizeof(ret->prefix) - 1, err));
    size_t len = strlen(ret->prefix);
    snprintf(ret->prefix + len, 2, "%s", ret->prefix[len - 1] == '/' ? "" : "/");
    MYR_TRY(read_text(map, "ca", ret->ca, sizeof(ret->ca), err));
    MYR_TRY(read_text(map, "certificate", ret->certificate, sizeof(ret->certificate), err));
    MYR_TRY(read_text(map, "key", ret->key, sizeof(ret->key), err));
    MYR_TRY(read_count(map, "ttl_s", 2, 60, &ret->ttl_s, err));
    /* One without the other would be noticed only when etcd is asked. */
    if ((ret->certificate[0] != 0) != (ret->key[0] != 0)) {
        return myr_doc_error(err, map, MYR_EINVAL,
                             "'etcd': 'certificate' and 'key' are expected together");
    }
    return read_endpoints(map, ret, err);
}

static int read_fence(const struct myr_doc *top, struct config *ret, struct myr_err *err)
{
    MYR_TRY(read_text(top, "fence", ret->fence, sizeof(ret->fence), err));
    if (ret->fence[0] && ret->fence[0] != '/') {
        /* Whoever starts the server must not decide which program of that name it is. */
        return myr_doc_error(err, myr_doc_get(top, "fence"), MYR_EINVAL,
                             "'fence' is '%.100s', a path from '/' on is expected", ret->fence);
    }
    return read_count(top, "fence_timeout_s", 1, 3600, &ret->fence_timeout_s, err);
}

/* The name and the nodes first: what follows is checked against them. */
static int read_top(const struct myr_doc *top, struct config *ret, struct myr_err *err)
{
    const struct myr_doc *http = myr_doc_get(top, "http"), *agents = myr_doc_get(top, "agents");
    const struct myr_doc *pretend = myr_doc_get(top, "pretend"), *speed = myr_doc_get(top, "speed");
    uint32_t world = 0, policy = MYR_QUEUE_FAIR;
    MYR_TRY(myr_doc_expect(top, MYR_DOC_MAP, "the configuration", err));
    /* A slip in a key must not leave a default in force in silence. */
    MYR_TRY(myr_doc_check_keys(top, NULL, keys, MYR_ARRAY_COUNT(keys), err));
    MYR_TRY(read_text(top, "cluster", ret->cluster, sizeof(ret->cluster), err));
    MYR_TRY(read_nodes(top, ret, err));
    MYR_TRY(read_count(top, "gpus_per_node", 1, 64, &ret->gpus_per_node, err));
    MYR_TRY(read_count(top, "nodes_per_leaf", 1, 1024, &ret->nodes_per_leaf, err));
    /* Behind the nodes: one of them at least must be left for jobs. */
    MYR_TRY(read_count(top, "spares", 0, ret->node_count - 1, &ret->spares, err));
    MYR_TRY(read_count(top, "starve_h", 0, 8760, &ret->starve_h, err));
    MYR_TRY(read_count(top, "beat_ms", 50, 60000, &ret->beat_ms, err));
    MYR_TRY(read_choice(top, "world", world_names, WORLD_COUNT, &world, err));
    MYR_TRY(read_choice(top, "policy", policies, MYR_ARRAY_COUNT(policies), &policy, err));
    MYR_TRY(read_fence(top, ret, err));
    MYR_TRY(read_text(top, "faults", ret->faults, sizeof(ret->faults), err));
    ret->world = (enum world_kind)world;
    ret->twin = world == WORLD_TWIN;
    ret->policy = (enum myr_queue_preset)policy;
    if (http) {
        MYR_TRY(read_address(http, "http", ret->http_address, sizeof(ret->http_address),
                             &ret->http_port, err));
    }
    if (agents) {
        MYR_TRY(read_address(agents, "agents", ret->agents_address, sizeof(ret->agents_address),
                             &ret->agents_port, err));
    }
    if (pretend) {
        MYR_TRY(myr_doc_bool(pretend, "pretend", &ret->pretend, err));
    }
    if (speed) {
        MYR_TRY(myr_doc_double(speed, "speed", 0.01, 10000, &ret->speed, err));
    }
    MYR_TRY(read_slurm(top, &ret->slurm, err));
    MYR_TRY(read_etcd(top, ret->cluster, &ret->etcd, err));
    return read_power(top, ret, err);
}

/* Both doors open on this machine alone, until somebody decides otherwise. */
static struct config defaults(void)
{
    return (struct config){
        .cluster = "myriad",
        .http_address = "127.0.0.1",
        .agents_address = "127.0.0.1",
        .http_port = 4680,
        .agents_port = 4681,
        .speed = 1,
        .gpus_per_node = 8,
        .nodes_per_leaf = 16,
        .beat_ms = 1000,
        .starve_h = 24,
        .kw_per_gpu = 1.3,
        .price_kwh = 0.6,
        .currency = "CNY",
        .faults = "rsc-1",
        .fence_timeout_s = 60,
        .slurm = {.poll_s = 5, .timeout_s = 30},
        .etcd = {.ttl_s = 3},
    };
}

/* What is half read is freed. */
static int take(const struct myr_doc *top, struct config *ret, struct myr_err *err)
{
    *ret = defaults();
    int rc = read_top(top, ret, err);
    if (rc < 0) {
        config_done(ret);
        return rc;
    }
    MYR_ASSERT(ret->node_count > 0 && ret->names && ret->world < WORLD_COUNT);
    return MYR_OK;
}

int config_read(const char *path, struct config *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    static const struct myr_doc_want want = {MYR_KINDS_DOC(CONFIG), "a server's configuration"};
    MYR_TRY(myr_doc_read_file_of(&arena, path, &want, &top, err));
    return take(top, ret, err);
}

/* For fuzzers: what is taken holds what the rest of the server relies upon. */
int myr_server_check(const char *file, struct myr_str text, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    struct config config;
    MYR_TRY(myr_doc_read_yaml(&arena, file, text, &top, err));
    MYR_TRY(take(top, &config, err));
    MYR_ASSERT(config.node_count > 0 && config.spares < config.node_count);
    MYR_ASSERT(config.http_address[0] && config.agents_address[0] && config.speed > 0);
    config_done(&config);
    return MYR_OK;
}

/* Twice is harmless, and so is one that was not read to its end. */
void config_done(struct config *config)
{
    names_free(config->names, config->node_count);
    config->names = NULL;
    config->node_count = 0;
}
