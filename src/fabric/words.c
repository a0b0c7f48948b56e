#include "myriad/fabric/words.h"

/* Words come from a command line: one piece names at most every node once. */
#define NODES_MAX (UINT32_C(1) << 24)

/* Stops at the first piece that is refused. A comma at the end is no piece of its own. */
int myr_words_each(const char *text, myr_piece_fn *each, void *context, struct myr_err *err)
{
    while (*text) {
        size_t len = strcspn(text, ",");
        MYR_TRY(each(context, (struct myr_str){text, len}, err));
        text += len + (text[len] == ',');
    }
    return MYR_OK;
}

/* How much of a word a message quotes. */
static int shown(struct myr_str text)
{
    return text.len > 40 ? 40 : (int)text.len;
}

static bool starts_with(struct myr_str text, const char *start)
{
    size_t len = strlen(start);
    return text.len >= len && memcmp(text.data, start, len) == 0;
}

/* The rest of a text after its first 'len' bytes. */
static struct myr_str behind(struct myr_str text, size_t len)
{
    MYR_ASSERT(text.len >= len);
    return (struct myr_str){text.data + len, text.len - len};
}

const char *myr_name_device(struct myr_arena *arena, const struct myr_design *design,
                            uint32_t device)
{
    MYR_ASSERT(device < design->device_count);
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_design_name(design, device, &buf);
    return myr_arena_strndup(arena, buf.data, buf.len);
}

const char *myr_name_port(struct myr_arena *arena, const struct myr_design *design, uint32_t port)
{
    MYR_ASSERT(port < design->port_count);
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_design_name(design, design->port_device[port], &buf);
    myr_buf_putc(&buf, ':');
    myr_design_port_name(design, port, &buf);
    return myr_arena_strndup(arena, buf.data, buf.len);
}

const char *myr_name_link(struct myr_arena *arena, const struct myr_design *design, uint32_t link)
{
    return myr_arena_printf(arena, "link/%08u", myr_design_link_id(design, link));
}

/* It exists, but not on the network that was asked for: its death would be no news there. */
static int not_here(const struct myr_graph *graph, struct myr_str name, struct myr_err *err)
{
    return myr_err_set(err, MYR_ENOENT, "'%.*s' is not on the %s network", shown(name), name.data,
                       myr_net_names[graph->net_id]);
}

/* "link/00000123", by the number that stays when the design grows. */
int myr_words_link(const struct myr_graph *graph, struct myr_str name, uint32_t *ret,
                   struct myr_err *err)
{
    static const char prefix[] = "link/";
    uint64_t id;
    uint32_t link = MYR_NONE;
    if (starts_with(name, prefix) && myr_str_to_u64(behind(name, sizeof(prefix) - 1), &id) &&
        id < MYR_NONE) {
        link = myr_design_link_at(graph->design, (uint32_t)id);
    }
    if (link == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT,
                           "'%.*s' is no link of this design; link/00000123 is expected",
                           shown(name), name.data);
    }
    if (!myr_graph_has_link(graph, link)) {
        return not_here(graph, name, err);
    }
    *ret = link;
    return MYR_OK;
}

int myr_words_device(const struct myr_graph *graph, struct myr_str name, uint32_t *ret,
                     struct myr_err *err)
{
    uint32_t device = myr_design_find(graph->design, name);
    if (device == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "'%.*s' is no device of this design", shown(name),
                           name.data);
    }
    if (!myr_graph_has_device(graph, device)) {
        return not_here(graph, name, err);
    }
    *ret = device;
    return MYR_OK;
}

/* A link is told by its prefix; any other word must name a device. */
static int kill_one(void *context, struct myr_str name, struct myr_err *err)
{
    struct myr_graph *graph = context;
    uint32_t id = MYR_NONE;
    /* A device of any kind, or a link by its number. */
    bool link = starts_with(name, "link/");
    MYR_TRY(link ? myr_words_link(graph, name, &id, err) : myr_words_device(graph, name, &id, err));
    if (link) {
        myr_graph_set_link(graph, id, true);
    } else {
        myr_graph_set_device(graph, id, true);
    }
    return MYR_OK;
}

/* Counts links that died by this list: those dead before, or named twice, count once. */
int myr_words_kill(struct myr_graph *graph, const char *list, uint32_t *ret_count,
                   struct myr_err *err)
{
    /* Links may be dead before. */
    uint32_t before = graph->dead_count;
    int rc = myr_words_each(list, kill_one, graph, err);
    MYR_ASSERT(graph->dead_count >= before);
    if (rc == MYR_OK) {
        *ret_count = graph->dead_count - before;
    }
    return rc;
}

/* The list is walked twice, to count and to fill: what a user may repeat has no small limit. */
struct node_walk {
    const struct myr_design *design;
    uint32_t *nodes; /* NULL: only counted */
    uint32_t count;  /* nodes so far */
};

/* "42", "node/00042", or "40-47". */
static int add_nodes(void *context, struct myr_str name, struct myr_err *err)
{
    struct node_walk *walk = context;
    const struct myr_design *design = walk->design;
    uint64_t first = 0, last, nodes = design->head->nodes;
    const char *dash = name.len ? memchr(name.data, '-', name.len) : NULL;
    /* Names come first: the dash of "40-47" may also be one in a device's name. */
    uint32_t device = myr_design_find(design, name);
    size_t left = dash ? (size_t)(dash - name.data) : name.len;
    bool numbers = myr_str_to_u64((struct myr_str){name.data, left}, &first);
    last = first;
    if (numbers && dash) {
        numbers = myr_str_to_u64(behind(name, left + 1), &last);
    }
    if (device != MYR_NONE && design->place[device].kind == MYR_DEVICE_NODE) {
        first = last = device - design->head->first_node;
    } else if (!numbers || first > last || last >= nodes) {
        return myr_err_set(err, MYR_ENOENT,
                           "'%.*s' is no node; node/00042, 42 or 40-47 is expected, below %llu",
                           shown(name), name.data, (unsigned long long)nodes);
    }
    /* The count stays far from overflow whatever is repeated. */
    if (last - first >= NODES_MAX - walk->count) {
        return myr_err_set(err, MYR_ERANGE, "more than %u nodes in the list", NODES_MAX);
    }
    for (uint64_t node = first; walk->nodes && node <= last; node++) {
        walk->nodes[walk->count + (node - first)] = (uint32_t)node;
    }
    walk->count += (uint32_t)(last - first + 1);
    return MYR_OK;
}

/* A node twice would have two ranks on each of its GPUs. */
static int check_once(const struct myr_design *design, const uint32_t *nodes, uint32_t count,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at) uint8_t *seen = myr_xcalloc(design->head->nodes, sizeof(*seen));
    for (uint32_t i = 0; i < count; i++) {
        if (seen[nodes[i]]++) {
            return myr_err_set(err, MYR_EINVAL, "node %u is twice in the list", nodes[i]);
        }
    }
    return MYR_OK;
}

/* The second walk cannot fail: it reads the same words again. */
int myr_words_nodes(struct myr_arena *arena, const struct myr_design *design, const char *list,
                    uint32_t **ret, uint32_t *ret_count, struct myr_err *err)
{
    struct node_walk walk = {.design = design};
    MYR_TRY(myr_words_each(list, add_nodes, &walk, err));
    struct node_walk fill = {design, MYR_ARENA_NEW(arena, uint32_t, walk.count), 0};
    int rc = myr_words_each(list, add_nodes, &fill, err);
    MYR_ASSERT(rc == MYR_OK && fill.count == walk.count);
    MYR_TRY(check_once(design, fill.nodes, fill.count, err));
    *ret = fill.nodes;
    *ret_count = fill.count;
    return MYR_OK;
}

/* By kind of domain, in the order of the enum. */
static const char *const domain_names[] = {"scale-up", "rail-group", "pod", "rack"};

void myr_words_domain_name(const struct myr_domain *domain, struct myr_buf *buf)
{
    MYR_ASSERT(domain->kind < MYR_ARRAY_COUNT(domain_names));
    myr_buf_printf(buf, "%s/%u", domain_names[domain->kind], domain->index);
}

/* "pod/3"; NULL where it is no domain, which is no error yet. */
const struct myr_domain *myr_words_domain(const struct myr_design *design, struct myr_str name)
{
    const char *slash = name.len ? memchr(name.data, '/', name.len) : NULL;
    uint64_t index;
    if (!slash) {
        return NULL;
    }
    struct myr_str kind = {name.data, (size_t)(slash - name.data)};
    if (!myr_str_to_u64(behind(name, kind.len + 1), &index)) {
        return NULL;
    }
    for (uint32_t i = 0; i < design->domain_count; i++) {
        const struct myr_domain *domain = &design->domains[i];
        if (domain->kind < MYR_ARRAY_COUNT(domain_names) && index == domain->index &&
            myr_str_eq(kind, myr_str_from(domain_names[domain->kind]))) {
            return domain;
        }
    }
    return NULL;
}
