#include "myriad/plan/start.h"

#include <stdarg.h>
#include <stdio.h>

#include "myriad/text.h"

/*
 * A first spec from a few words: how many GPUs, perhaps which server and fabric. It is written as a
 * person would, with the keys that come next as comments; all that was not asked is listed beside
 * it.
 */

/* That of a spec without 'server' (resolve.c). */
static const char *const default_server = "h100-8gpu";

/* A server by its id, or by the id of its GPU. An unknown name is told with the nearest one. */
static int find_server(const struct myr_catalog *catalog, const char *name,
                       const struct myr_part **ret, struct myr_err *err)
{
    uint32_t part = myr_catalog_find(catalog, myr_str_from(name));
    /* Only a server can be ordered; a name may be that of another part. */
    bool server = part != MYR_PART_NONE && catalog->parts.items[part].kind == MYR_PART_SERVER;
    /* "h100" may be the GPU: the first server that carries it is meant. */
    const char *gpu = part != MYR_PART_NONE && catalog->parts.items[part].kind == MYR_PART_GPU
                          ? catalog->parts.items[part].id
                          : NULL;
    for (uint32_t i = 0; !server && gpu && i < catalog->parts.count; i++) {
        const struct myr_part *at = &catalog->parts.items[i];
        if (at->kind == MYR_PART_SERVER && at->server.gpu && strcmp(at->server.gpu, gpu) == 0) {
            part = i;
            server = true;
        }
    }
    if (!server) {
        MYR_CLEANUP(myr_vec_free_at) MYR_VEC(const char *) names = {};
        /* What the user typed is cut short and made harmless before it is shown. */
        char near[128], shown[MYR_EXCERPT_MAX];
        /* Only servers are suggested: another part would be refused again. */
        for (uint32_t i = 0; i < catalog->parts.count; i++) {
            if (catalog->parts.items[i].kind == MYR_PART_SERVER) {
                myr_vec_push(&names, catalog->parts.items[i].id);
            }
        }
        myr_str_nearest(myr_str_from(name), names.items, names.count, near, sizeof(near));
        return myr_err_set(err, MYR_ENOENT, "unknown server '%s'%s%s%s",
                           myr_text_excerpt(myr_str_from(name), shown),
                           near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    }
    *ret = &catalog->parts.items[part];
    return MYR_OK;
}

/* Notes what was not asked: shown beside the spec, so that no default goes unseen. */
MYR_PRINTF(3, 4)
static void assume(struct myr_arena *arena, struct myr_start_text *text, const char *fmt, ...)
{
    char words[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    myr_vec_push(&text->assumed, myr_arena_strndup(arena, words, strlen(words)));
}

/* Networks for which the server has a card; other keys as comments, for whoever reads on. Storage
 * waits as a comment too: without 'storage' in the spec it has no servers to join. */
static void put_networks(struct myr_buf *buf, const struct myr_part *server, uint32_t fabric)
{
    /* Without a fabric the planner chooses by the card: no key is better than a wrong one. */
    const char *word = fabric == MYR_FABRIC_ANY ? "" : myr_fabric_names[fabric];
    myr_buf_puts(buf, "networks:\n");
    if (*word) {
        myr_buf_printf(buf, "  compute: {fabric: %s}\n", word);
    } else {
        myr_buf_puts(buf, "  compute:\n");
    }
    myr_buf_puts(buf, "  #   other keys: switch, topology, oversubscription: 2, planes, length_m,\n"
                      "  #   extra_nodes, fabric_manager_ports, pin\n");
    if (server->server.nics[MYR_NET_STORAGE].nic) {
        myr_buf_printf(buf, "  # storage: {%s%s%sextra_nodes: 16}   # with 'storage' below\n",
                       *word ? "fabric: " : "", word, *word ? ", " : "");
    }
    /* Service and out-of-band networks as far as the server has cards for them. */
    for (uint32_t net = MYR_NET_SERVICE; net < MYR_NET_COUNT; net++) {
        if (server->server.nics[net].nic) {
            myr_buf_printf(buf, "  %s:\n", myr_net_names[net]);
        }
    }
}

/* What most specs get sooner or later, commented out. */
static void put_rest(struct myr_buf *buf)
{
    myr_buf_puts(
        buf,
        "\n# The storage system: by capacity and by rate, whichever asks for more.\n"
        "# storage: {capacity: 3P, copies: 2, rate: best}\n"
        "\n# Prices: a book of the catalogue, or a list of your own (part,price,currency,date)\n"
        "# prices: {file: prices.csv}\n"
        "\n# What is bought along, what others deliver, findings that are known.\n"
        "# items: [{part: firewall, quantity: 2, system: security}]\n"
        "# supplied: [servers, ethernet_cabling]\n"
        "# accept: [unpriced]\n");
}

/* In the order in which the spec has the keys. */
static void list_assumed(struct myr_arena *arena, const struct myr_plan_start *start,
                         const struct myr_part *server, uint64_t servers,
                         struct myr_start_text *text)
{
    uint64_t each = (uint64_t)server->server.nodes * server->server.gpus_per_node;
    char grouped[32];
    if (!start->server) {
        assume(arena, text, "server %s: none was named", server->id);
    }
    if (servers * each != start->gpus) {
        assume(arena, text, "%s GPUs: whole servers of %llu",
               myr_u64_grouped(servers * each, grouped), (unsigned long long)each);
    }
    /*
     * What the planner will choose is said in words, since the spec does not show it. Whether one
     * switch holds all is known when it is planned.
     */
    text->network = text->assumed.count;
    assume(arena, text,
           "compute: one network with rails, 1:1, all NICs of a node on it; one switch alone where "
           "it holds all");
    if (start->fabric == MYR_FABRIC_ANY) {
        assume(arena, text,
               "the switch is the first of the catalogue that suits the NICs; give "
               "--fabric to choose InfiniBand or RoCE");
    }
    assume(arena, text, "cable runs of the default lengths; give length_m or a room");
    assume(arena, text, "no storage system and no management nodes; no prices");
}

/* A spec that can be planned as it stands, from a number of GPUs and perhaps a server. */
int myr_start_write(struct myr_arena *arena, const struct myr_catalog *catalog,
                    const struct myr_plan_start *start, struct myr_start_text *ret,
                    struct myr_err *err)
{
    const struct myr_part *server = NULL;
    const char *name = start->server ? start->server : default_server;
    char grouped[32];
    MYR_TRY(find_server(catalog, name, &server, err));
    MYR_ASSERT(server); /* one that is not found has ended above */
    uint64_t each = (uint64_t)server->server.nodes * server->server.gpus_per_node;
    MYR_ASSERT(each > 0);
    /* Whole servers: a started one is counted, and said to be assumed. */
    uint64_t servers = (start->gpus + each - 1) / each;
    /* Refused here already: the spec would not be read either. */
    if (servers < 1 || servers > MYR_SPEC_SERVERS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%llu GPUs are %llu servers, 1 to %d are expected",
                           (unsigned long long)start->gpus, (unsigned long long)servers,
                           MYR_SPEC_SERVERS_MAX);
    }
    unsigned long long gpus = servers * each;
    /* Each key with a word about it: the file is read by people first. */
    struct myr_buf *buf = &ret->spec;
    myr_buf_puts(buf,
                 "# A spec to start from; docs/spec.md has every key. Plan it: myriad plan FILE\n");
    myr_buf_printf(buf, "name: cluster-%llu\n", gpus);
    myr_buf_printf(buf, "servers: %llu   # of %llu GPUs each: %s\n", (unsigned long long)servers,
                   (unsigned long long)each, myr_u64_grouped(gpus, grouped));
    myr_buf_printf(buf, "server: %s   # myriad catalog --kind server lists them\n", server->id);
    put_networks(buf, server, start->fabric);
    put_rest(buf);
    list_assumed(arena, start, server, servers, ret);
    return MYR_OK;
}

void myr_start_built(const struct myr_design *design, struct myr_start_text *text)
{
    bool one = design->networks[MYR_NET_COMPUTE].tiers == 1;
    text->assumed.items[text->network] =
        one ? "compute: one switch that holds all NICs of the nodes, 1:1, so no rails"
            : "compute: one network with rails, 1:1, all NICs of a node on it";
}

/* The assumed lines themselves lie in the arena. */
void myr_start_done(struct myr_start_text *text)
{
    myr_buf_done(&text->spec);
    myr_vec_done(&text->assumed);
}
