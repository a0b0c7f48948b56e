#include <stdlib.h>

#include "hosts/namer.h"

/*
 * Hosts that call their ports alike. The set of names of a host's ports is its habit; hosts with
 * some of their ports dark have a part of it. Sets that have a name in common and together no more
 * names than a host has ports are one habit: "mlx5_0, 1, 2, 3" and "mlx5_0, 3"; two crates of
 * servers that count in two ways, "mlx5_0 to 7" and "mlx5_0, 3, 4, 5, 6, 9, 10, 11", are two.
 */

enum { SET_MAX = 64, HABITS_MAX = 64 };

/* The names of some hosts' ports, in small letters, by number. */
struct name_set {
    uint32_t type, hosts;
    uint32_t count;
    uint32_t names[SET_MAX]; /* rising */
    uint32_t habit;
};

struct sorter {
    const struct identify *identify;
    struct myr_strmap names; /* type and name, to a number */
    struct myr_strmap known; /* a set as bytes, to its place */
    MYR_VEC(struct name_set) sets;
    MYR_VEC(struct name_set) habits;
};

static void sorter_done(struct sorter *s)
{
    myr_strmap_done(&s->names);
    myr_strmap_done(&s->known);
    myr_vec_done(&s->sets);
    myr_vec_done(&s->habits);
}

static void add_name(struct name_set *set, uint32_t name)
{
    uint32_t at = 0;
    while (at < set->count && set->names[at] < name) {
        at++;
    }
    if ((at < set->count && set->names[at] == name) || set->count == SET_MAX) {
        return;
    }
    memmove(set->names + at + 1, set->names + at, (set->count - at) * sizeof(uint32_t));
    set->names[at] = name;
    set->count++;
}

static struct name_set set_of(struct sorter *s, const struct unit *units, uint32_t count)
{
    char key[NAMING_KEY_MAX];
    struct name_set set = {.type = s->identify->design->device_type[units[0].device], .hosts = 1};
    for (uint32_t i = 0; i < count; i++) {
        if (naming_is_open(&units[i])) {
            struct myr_str text = naming_key(set.type, units[i].name, key);
            uint32_t name = myr_strmap_get(&s->names, text);
            if (name == MYR_MAP_NONE) {
                name = s->names.count;
                text.data = myr_arena_strndup(s->identify->arena, text.data, text.len);
                (void)myr_strmap_add(&s->names, text, name);
            }
            add_name(&set, name);
        }
    }
    return set;
}

/* The place of an equal set. */
static uint32_t place_of(struct sorter *s, const struct name_set *set)
{
    struct myr_str key = {(const char *)set->names, set->count * sizeof(uint32_t)};
    uint32_t at = myr_strmap_get(&s->known, key);
    if (at == MYR_MAP_NONE) {
        at = (uint32_t)s->sets.count;
        key.data = myr_arena_strndup(s->identify->arena, key.data, key.len);
        (void)myr_strmap_add(&s->known, key, at);
        myr_vec_push(&s->sets, *set);
        return at;
    }
    s->sets.items[at].hosts++;
    return at;
}

/* Sets of most hosts first, then of most names. */
static int compare_sets(const void *left, const void *right)
{
    const struct name_set *a = *(struct name_set *const *)left;
    const struct name_set *b = *(struct name_set *const *)right;
    if (a->hosts != b->hosts) {
        return a->hosts > b->hosts ? -1 : 1;
    }
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static uint32_t shared(const struct name_set *a, const struct name_set *b)
{
    uint32_t both = 0;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        both += a->names[i] == b->names[j];
        uint32_t next = a->names[i];
        i += next <= b->names[j];
        j += b->names[j] <= next;
    }
    return both;
}

/* The habit that a set is part of: of those that have room for it, the one that shares the most. */
static void sort_in(struct sorter *s, struct name_set *set, uint32_t ports)
{
    uint32_t best = MYR_NONE, most = 0;
    for (uint32_t h = 0; h < s->habits.count; h++) {
        const struct name_set *habit = &s->habits.items[h];
        uint32_t both = habit->type == set->type ? shared(habit, set) : 0;
        uint32_t room = habit->count > ports ? habit->count : ports;
        bool fits = habit->count + set->count - both <= room;
        if (fits && both > most) {
            best = h;
            most = both;
        }
    }
    if (best == MYR_NONE && s->habits.count < HABITS_MAX) {
        best = (uint32_t)s->habits.count;
        myr_vec_push(&s->habits, *set);
        s->habits.items[best].hosts = 0;
    }
    set->habit = best;
    if (best != MYR_NONE) {
        for (uint32_t i = 0; i < set->count; i++) {
            add_name(&s->habits.items[best], set->names[i]);
        }
        s->habits.items[best].hosts += set->hosts;
    }
}

static void sort_all(struct sorter *s, const struct namer *n)
{
    size_t count = s->sets.count;
    struct name_set **order = MYR_ARENA_NEW(s->identify->arena, struct name_set *, count);
    for (size_t i = 0; i < count; i++) {
        order[i] = &s->sets.items[i];
    }
    if (count > 1) {
        qsort(order, count, sizeof(*order), compare_sets);
    }
    for (size_t i = 0; i < count; i++) {
        sort_in(s, order[i], naming_judged_ports(n, order[i]->type));
    }
}

void naming_find_habits(struct namer *n, const struct unit_list *units, uint32_t hosts)
{
    struct myr_arena *arena = n->identify->arena;
    MYR_CLEANUP(sorter_done) struct sorter s = {.identify = n->identify};
    n->habit_of = MYR_ARENA_NEW(arena, uint32_t, hosts);
    memset(n->habit_of, 0xFF, hosts * sizeof(uint32_t));
    for (size_t i = 0; i < units->count;) {
        size_t end = i;
        while (end < units->count && units->items[end].host == units->items[i].host) {
            end++;
        }
        if (units->items[i].device != MYR_NONE) {
            struct name_set set = set_of(&s, units->items + i, (uint32_t)(end - i));
            n->habit_of[units->items[i].host] = set.count ? place_of(&s, &set) : MYR_NONE;
        }
        i = end;
    }
    sort_all(&s, n);
    n->habit_count = (uint32_t)s.habits.count;
    n->types = MYR_ARENA_NEW(arena, uint32_t, s.habits.count);
    n->hosts = MYR_ARENA_NEW(arena, uint32_t, s.habits.count);
    for (uint32_t h = 0; h < s.habits.count; h++) {
        n->types[h] = s.habits.items[h].type;
        n->hosts[h] = s.habits.items[h].hosts;
    }
    for (uint32_t h = 0; h < hosts; h++) {
        uint32_t set = n->habit_of[h];
        n->habit_of[h] = set == MYR_NONE ? MYR_NONE : s.sets.items[set].habit;
    }
}
