#include "grow/grow_internal.h"

/*
 * What is to be grown. A design is what it says. A spec is planned; where it is the larger one and
 * has groups, it is planned in the order in which its servers come: what stands keeps its place in
 * the order of nodes, and with it its leaves; what a group gets more stands behind, as another
 * stretch of the same group. Those on the compute network come before those that are not, as ever.
 */

/* By its name alone: whether it is one shows when it is opened. */
bool myr_grow_is_design(const char *path)
{
    size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".myr") == 0;
}

static bool on_compute(const struct myr_spec_group *group)
{
    return group->networks & 1U << MYR_NET_COMPUTE;
}

/* The groups of the spec in the order of their nodes. */
struct stretches {
    struct myr_spec_group items[MYR_GROUPS_MAX];
    uint32_t count;
    uint32_t left[MYR_GROUPS_MAX]; /* servers of the spec's groups that have no stretch yet */
    bool many;                     /* more stretches than there is room for */
};

/* Neighbouring stretches of one group are joined. */
static void add_stretch(struct stretches *all, const struct myr_spec *spec, uint32_t group,
                        uint32_t servers)
{
    struct myr_spec_group *last = all->count ? &all->items[all->count - 1] : NULL;
    if (servers == 0) {
        return;
    }
    all->left[group] -= servers;
    if (last && strcmp(last->name, spec->groups[group].name) == 0) {
        last->servers += servers;
        return;
    }
    all->many = all->many || all->count == MYR_GROUPS_MAX;
    if (!all->many) {
        all->items[all->count] = spec->groups[group];
        all->items[all->count++].servers = servers;
    }
}

/* Which group of the spec an installed one is; without groups it is the first of its kind. */
static uint32_t group_like(const struct myr_spec *spec, const struct myr_catalog *catalog,
                           const struct myr_design *installed, uint32_t old)
{
    bool named = installed->group_count > 0;
    uint32_t part = named ? installed->groups[old].server_part : installed->head->server_part;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const char *id = catalog->parts.items[spec->groups[i].server_part].id;
        bool same = strcmp(myr_design_str(installed, part), id) == 0;
        if (same && (!named || strcmp(myr_design_str(installed, installed->groups[old].name),
                                      spec->groups[i].name) == 0)) {
            return i;
        }
    }
    return MYR_NONE;
}

/*
 * First what stands, in its order; then what each group has more. The design then lists a group
 * once for each stretch of its nodes.
 */
static int put_in_order(struct myr_spec *spec, const struct myr_catalog *catalog,
                        const struct myr_design *installed, struct myr_err *err)
{
    struct stretches all = {.count = 0};
    uint32_t stand = installed->group_count ? installed->group_count : 1;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        all.left[i] = spec->groups[i].servers;
    }
    for (uint32_t pass = 0; pass < 2; pass++) { /* those on the compute network first */
        for (uint32_t i = 0; i < stand; i++) {
            uint32_t group = group_like(spec, catalog, installed, i);
            uint32_t servers =
                installed->group_count ? installed->groups[i].servers : installed->head->servers;
            if (group != MYR_NONE && on_compute(&spec->groups[group]) == (pass == 0)) {
                /*
                 * A group that has shrunk is refused later, with both numbers: here it only must
                 * not underflow.
                 */
                add_stretch(&all, spec, group,
                            servers < all.left[group] ? servers : all.left[group]);
            }
        }
        for (uint32_t i = 0; i < spec->group_count; i++) {
            if (on_compute(&spec->groups[i]) == (pass == 0)) {
                add_stretch(&all, spec, i, all.left[i]);
            }
        }
    }
    if (all.many) {
        return myr_doc_error(err, spec->root, MYR_ERANGE,
                             "the groups have grown into more than %d stretches of servers, which "
                             "is the most that one design may have",
                             MYR_GROUPS_MAX);
    }
    /*
     * Names and networks are those of the spec's groups; a group may now be listed several times.
     */
    memcpy(spec->groups, all.items, sizeof(spec->groups));
    spec->group_count = all.count;
    spec->server_part = spec->groups[0].server_part;
    return MYR_OK;
}

int myr_grow_read(struct myr_arena *arena, const struct myr_catalog *catalog, const char *path,
                  struct myr_price_file *prices, const struct myr_plan_listener *listener,
                  struct myr_design *ret, struct myr_err *err)
{
    if (myr_grow_is_design(path)) {
        return myr_design_open(ret, path, err);
    }
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_TRY(myr_spec_load(arena, catalog, path, prices, &spec, err));
    return myr_plan_heard(arena, catalog, &spec, listener, ret, err);
}

int myr_grow_read_larger(struct myr_arena *arena, const struct myr_catalog *catalog,
                         const struct myr_design *installed, const char *path,
                         struct myr_price_file *prices, const struct myr_plan_listener *listener,
                         struct myr_design *ret, struct myr_err *err)
{
    if (myr_grow_is_design(path)) {
        return myr_design_open(ret, path, err);
    }
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_TRY(myr_spec_load(arena, catalog, path, prices, &spec, err));
    if (spec.group_count) {
        MYR_TRY(put_in_order(&spec, catalog, installed, err));
    }
    return myr_plan_heard(arena, catalog, &spec, listener, ret, err);
}
