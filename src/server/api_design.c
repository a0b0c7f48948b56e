/*
 * api_design: a running cluster takes a grown design. Nodes are added behind those that are there;
 * whatever would remove, rename or renumber one is said, and nothing is done. The configuration is
 * written first, for a server that finds more names in it than nodes in its store grows by itself.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

enum { LIST_MAX = 40 << 10, FILE_MAX = 1 << 20, SHOWN = 3 };

/* What the request asks for; 'names' is its own, until add_rows() takes some over. */
struct wanted {
    char list[LIST_MAX]; /* names as they are written in the configuration */
    char **names;
    uint32_t count, gpus_per_node, nodes_per_leaf;
    bool only_ask; /* dry run: checked, and nothing is done */
};

/* 0 is refused: no cluster has none of these. */
static int take_number(const char *key, const char *text, uint32_t *ret, struct myr_err *err)
{
    uint64_t value;
    if (!myr_str_to_u64(myr_str_from(text), &value) || value == 0 || value > 1U << 20) {
        return myr_err_set(err, MYR_EINVAL, "'%s' is '%s', a number from 1 on is expected", key,
                           text);
    }
    *ret = (uint32_t)value;
    return MYR_OK;
}

/*
 * The number of nodes in the design is sent beside the names: a list that does not fit is a
 * mistake.
 */
static int read_wanted(const struct request *request, struct wanted *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct ask_design ask;
    uint32_t nodes = 0;
    MYR_TRY(api_take(request_body(request), &ask_design_record, &arena, &ask, err));
    if (strlen(ask.nodes) >= sizeof(ret->list)) {
        return myr_err_set(err, MYR_ERANGE, "'nodes' has %zu bytes, at most %zu are expected",
                           strlen(ask.nodes), sizeof(ret->list) - 1);
    }
    snprintf(ret->list, sizeof(ret->list), "%s", ask.nodes);
    MYR_TRY(take_number("gpus_per_node", ask.gpus_per_node, &ret->gpus_per_node, err));
    MYR_TRY(take_number("nodes_per_leaf", ask.nodes_per_leaf, &ret->nodes_per_leaf, err));
    ret->only_ask = strcmp(ask.dry_run, "true") == 0;
    MYR_TRY(names_expand(ret->list, &ret->names, &ret->count, err));
    MYR_TRY(take_number("design_nodes", ask.design_nodes, &nodes, err));
    return nodes == ret->count
               ? MYR_OK
               : myr_err_set(err, MYR_EINVAL, "%s for a design of %s",
                             MYR_COUNT(ret->count, "name"), MYR_COUNT(nodes, "node"));
}

/* What happens to nodes that are there; the first few of each kind are named. */
struct changes {
    struct myr_buf text;
    uint32_t removed, moved, renamed; /* how many of each */
};

/*
 * 'shown' is how many of its kind were counted before; behind the first few they are only counted.
 */
MYR_PRINTF(3, 4)
static void put_change(struct changes *changes, uint32_t shown, const char *fmt, ...)
{
    char text[256];
    va_list args;
    if (shown < SHOWN) {
        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        myr_buf_printf(&changes->text, "%s%s", changes->text.len ? "; " : "", text);
    }
}

/* Every node that is there must have its name and its place; new ones are not looked at. */
static void compare(const struct server *server, const struct wanted *wanted,
                    struct changes *changes)
{
    struct myr_strmap now = {};
    for (uint32_t i = 0; i < wanted->count; i++) {
        myr_strmap_add(&now, myr_str_from(wanted->names[i]), i);
    }
    for (uint32_t i = 0; i < server->rows.node_count; i++) {
        const char *name = server->rows.nodes[i].name;
        uint32_t at = myr_strmap_get(&now, myr_str_from(name));
        /* Where it was: nothing to say. */
        if (at == i) {
            continue;
        }
        /* The name is still there, in another place. */
        if (at != MYR_MAP_NONE) {
            put_change(changes, changes->moved++, "%s would move from id %u to %u", name, i, at);
        } else if (i < wanted->count && rows_node(server, wanted->names[i]) == MYR_NONE) {
            put_change(changes, changes->renamed++, "%s (id %u) would be called %s", name, i,
                       wanted->names[i]);
        } else {
            put_change(changes, changes->removed++, "%s (id %u) would be removed", name, i);
        }
    }
    myr_strmap_done(&now);
}

/* Ids and the shape of a node are in the core's state and in labels: they cannot change. */
static int check(const struct server *server, const struct wanted *wanted, struct myr_err *err)
{
    const struct config *config = &server->config;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct changes changes = {};
    compare(server, wanted, &changes);
    /* Freed with 'text'; 'changes' has no other memory. */
    text = changes.text;
    if (changes.removed || changes.moved || changes.renamed) {
        int rc = myr_err_set(err, MYR_EINFEASIBLE,
                             "this design is no growth of the running cluster: %s removed, %u "
                             "renamed, %u with another id: %s",
                             MYR_COUNT(changes.removed, "node"), changes.renamed, changes.moved,
                             text.data);
        myr_err_hint(err, "plan it with: myriad plan grow INSTALLED LARGER --out DIR; --nodes "
                          "gives the names that its nodes have here");
        return rc;
    }
    if (wanted->gpus_per_node != config->gpus_per_node ||
        wanted->nodes_per_leaf != config->nodes_per_leaf) {
        return myr_err_set(err, MYR_EINFEASIBLE,
                           "the design has %s a node and %s a leaf, the running cluster %u and %u; "
                           "these cannot change",
                           MYR_COUNT(wanted->gpus_per_node, "GPU"),
                           MYR_COUNT(wanted->nodes_per_leaf, "node"), config->gpus_per_node,
                           config->nodes_per_leaf);
    }
    return MYR_OK;
}

/* The line 'nodes:' of myriad.yaml; the rest of the file is a person's and stays as it is. */
static int write_config(const struct server *server, const struct wanted *wanted,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
    char path[SERVER_PATH];
    snprintf(path, sizeof(path), "%s/myriad.yaml", server->folder);
    MYR_TRY(myr_file_read(path, FILE_MAX, &text, err));
    const char *at = text.data, *line = NULL;
    while (at && !line) {
        line = strncmp(at, "nodes:", 6) == 0 ? at : NULL;
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    /* A value that goes on in the next line cannot be replaced by its first one. */
    const char *end = line ? strchr(line, '\n') : NULL;
    if (!end || end[1] == ' ' || end[1] == '\t' || end[1] == '-') {
        return myr_err_set(err, MYR_EINVAL, "%s: 'nodes' is expected on a line of its own", path);
    }
    myr_buf_put(&now, text.data, (size_t)(line - text.data));
    myr_buf_printf(&now, "nodes: \"%s\"\n", wanted->list);
    myr_buf_puts(&now, end + 1);
    /* Whole or not at all: the server reads this file at its next start. */
    struct myr_outfile file;
    MYR_TRY(myr_outfile_open(&file, path, err));
    myr_outfile_write(&file, now.data, now.len);
    return myr_outfile_commit(&file, err);
}

/* Sessions point to nodes by number, never by address: the array may move. */
static void add_rows(struct server *server, struct wanted *wanted)
{
    struct config *config = &server->config;
    struct rows *rows = &server->rows;
    uint32_t first = rows->node_count;
    config->names = myr_xrealloc(config->names, wanted->count, sizeof(*config->names));
    rows->nodes = myr_xrealloc(rows->nodes, wanted->count, sizeof(*rows->nodes));
    memset(&rows->nodes[first], 0, (wanted->count - first) * sizeof(*rows->nodes));
    for (uint32_t i = first; i < wanted->count; i++) {
        config->names[i] = wanted->names[i];
        wanted->names[i] = NULL; /* it is the configuration's now */
        rows->nodes[i].name = config->names[i];
        bool fresh = myr_strmap_add(&rows->node_ids, myr_str_from(config->names[i]), i);
        MYR_ASSERT(fresh); /* compare() has found those that are there in their places */
    }
    MYR_ASSERT(config->node_count == first && wanted->count > first);
    config->node_count = rows->node_count = wanted->count;
    server->node_changes++;
}

/* Everything that was posted is taken and committed before; then core, rows and world grow. */
static int apply(struct server *server, struct wanted *wanted, struct myr_err *err)
{
    uint32_t before = server->rows.node_count;
    char text[120];
    MYR_TRY(api_writable(server, err));
    /* What an engine knows of its nodes is as long as their list was at its start. */
    if (server->engine) {
        int rc = myr_err_set(err, MYR_EINFEASIBLE,
                             "above another scheduler a cluster does not grow while it runs");
        myr_err_hint(err, "'nodes' of myriad.yaml, then start the server anew");
        return rc;
    }
    MYR_TRY(desk_run(server, err));
    MYR_ASSERT(wanted->count > before);
    /*
     * The file first: a server that dies behind this finds more names than nodes, and grows at its
     * start.
     */
    MYR_TRY(write_config(server, wanted, err));
    MYR_TRY(myr_control_grow(server->control, wanted->count, err));
    add_rows(server, wanted);
    MYR_ASSERT(myr_control_nodes(server->control) == server->rows.node_count);
    MYR_TRY(desk_snapshot(server, err));
    if (server->simulated) {
        MYR_TRY(simulated_grow(server, err));
    } else {
        sessions_grow(server);
    }
    snprintf(text, sizeof(text), "the cluster has grown from %u to %u nodes", before,
             wanted->count);
    log_say("info", "%s", text);
    feed_notice(server, text);
    return desk_run(server, err);
}

static void free_wanted(struct wanted **wanted)
{
    if ((*wanted)->names) {
        names_free((*wanted)->names, (*wanted)->count);
    }
    free(*wanted);
}

/* Checked alike whether it is only asked for or carried out. */
int api_design(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    MYR_CLEANUP(free_wanted) struct wanted *wanted = myr_xcalloc(1, sizeof(*wanted));
    uint32_t before = server->rows.node_count;
    MYR_TRY(read_wanted(request, wanted, err));
    MYR_TRY(check(server, wanted, err));
    /* The same design again adds nothing, and is no error. */
    if (wanted->count > before && !wanted->only_ask) {
        MYR_TRY(apply(server, wanted, err));
    }
    const struct said_grown said = {before, wanted->count, wanted->count - before,
                                    !wanted->only_ask};
    api_give(&said_grown_record, &said, ret);
    return MYR_OK;
}
