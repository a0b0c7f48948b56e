#include "verify/spelling.h"

/*
 * All readings of a name are kept, each with the systems that read it so; which of them counts is
 * decided when the systems of a type are known.
 */

/*
 * A name of up to eight bytes as a number, with its type and length, and its place in 'spelled'.
 * Ports of a fabric have some hundred names, nearly all as short, and each end is asked for several
 * times: a look here saves a hash, a search and a comparison of texts.
 */
enum { RECENT_BITS = 9, SHORT_BYTES = sizeof(uint64_t) };
struct spelling_recent {
    uint64_t name;
    uint32_t type_length;
    uint32_t spelled; /* its place + 1; 0: nothing is here yet */
};

void spelling_init(struct spelling *spelling, struct myr_arena *arena,
                   const struct myr_design *design, const struct myr_port_names *names,
                   const struct myr_catalog *catalog)
{
    size_t types = (size_t)design->devtype_count + 1;
    *spelling = (struct spelling){.arena = arena, .design = design, .names = names};
    spelling->boxes = MYR_ARENA_NEW(arena, struct myr_box, types);
    spelling->words = MYR_ARENA_NEW(arena, struct myr_strmap, types);
    spelling->recent = MYR_ARENA_NEW(arena, struct spelling_recent, 1U << RECENT_BITS);
    spelling->systems = MYR_ARENA_NEW(arena, uint32_t, types);
    spelling->assumed = MYR_ARENA_NEW(arena, uint8_t, types);
    for (uint32_t s = 0; s < names->systems.count; s++) {
        bool management = myr_str_eq(names->systems.items[s], MYR_STR("management"));
        spelling->management |= management ? UINT32_C(1) << s : 0;
    }
    for (uint32_t t = 0; t < design->devtype_count; t++) {
        myr_box_of(design, t, catalog, &spelling->boxes[t]);
        /* Any system, until identify_learn() has looked. */
        spelling->systems[t] = UINT32_MAX;
    }
}

void spelling_done(struct spelling *spelling)
{
    for (uint32_t t = 0; spelling->words && t < spelling->design->devtype_count; t++) {
        myr_strmap_done(&spelling->words[t]);
    }
    myr_vec_done(&spelling->spelled);
}

/* Systems that read a name alike are one reading. */
static void read_all(const struct spelling *spelling, uint32_t type, struct myr_str name,
                     struct spelled *ret)
{
    uint32_t readings[MYR_PORT_SYSTEMS_MAX];
    uint32_t mask = myr_port_names_read(spelling->names, &spelling->boxes[type], name, readings);
    *ret = (struct spelled){};
    for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
        uint32_t at = 0;
        if (!(mask >> s & 1)) {
            continue;
        }
        while (at < ret->count && ret->index[at] != readings[s]) {
            at++;
        }
        if (at < SPELLING_READINGS) {
            ret->count = at == ret->count ? at + 1 : ret->count;
            ret->index[at] = readings[s];
            ret->systems[at] |= UINT32_C(1) << s;
        }
    }
}

/* Names repeat on every box of a type: each is read once, and kept. */
static uint32_t place_of(struct spelling *spelling, uint32_t type, struct myr_str name)
{
    struct myr_strmap *words = &spelling->words[type];
    uint32_t at = myr_strmap_get(words, name);
    if (at == MYR_MAP_NONE) {
        struct spelled fresh;
        struct myr_str kept = {myr_arena_strndup(spelling->arena, name.data, name.len), name.len};
        read_all(spelling, type, name, &fresh);
        at = (uint32_t)spelling->spelled.count;
        myr_vec_push(&spelling->spelled, fresh);
        (void)myr_strmap_add(words, kept, at);
    }
    return at;
}

struct spelled *spelling_of(struct spelling *spelling, uint32_t type, struct myr_str name)
{
    /* An odd number that spreads neighbours: the upper bits of the product are taken. */
    const uint64_t spread = UINT64_C(0x9E3779B97F4A7C15);
    if (name.len > SHORT_BYTES) {
        uint32_t at = place_of(spelling, type, name); /* which may move the others */
        return &spelling->spelled.items[at];
    }
    struct spelling_recent asked = {.type_length = type << 4 | (uint32_t)name.len};
    for (size_t i = 0; i < name.len; i++) {
        asked.name = asked.name << 8 | (unsigned char)name.data[i];
    }
    uint64_t product = (asked.name ^ (uint64_t)asked.type_length << 56) * spread;
    struct spelling_recent *recent = &spelling->recent[product >> (64 - RECENT_BITS)];
    if (!recent->spelled || recent->name != asked.name ||
        recent->type_length != asked.type_length) {
        asked.spelled = place_of(spelling, type, name) + 1;
        *recent = asked;
    }
    return &spelling->spelled.items[recent->spelled - 1];
}

/* Two different readings are none: the name stays unread. */
uint32_t spelling_read_by(const struct spelled *spelled, uint32_t systems)
{
    uint32_t found = MYR_NONE;
    for (uint32_t i = 0; i < spelled->count; i++) {
        if (spelled->systems[i] & systems) {
            if (found != MYR_NONE) {
                return MYR_NONE;
            }
            found = spelled->index[i];
        }
    }
    return found;
}

uint32_t spelling_read(struct spelling *spelling, uint32_t type, struct myr_str name)
{
    const struct spelled *spelled = spelling_of(spelling, type, name);
    uint32_t all = 0, systems = spelling->systems[type];
    for (uint32_t i = 0; i < spelled->count; i++) {
        all |= spelled->systems[i];
    }
    /* Sites mix spellings: a name that only another system knows has that one's meaning. */
    return spelling_read_by(spelled, all & systems ? systems : UINT32_MAX);
}

bool spelling_is_management(struct spelling *spelling, uint32_t type, struct myr_str name)
{
    const struct spelled *spelled = spelling_of(spelling, type, name);
    return spelling_read_by(spelled, spelling->management) == MYR_PORT_SPARE;
}

/*
 * The number of ports in the header tells how the box is divided: 65 on a QM9700 is 64 and one for
 * SHARP, 129 is every cage in four. A netlist of the design itself has only the cages that are
 * used.
 */
static uint32_t numbers_told(const struct myr_box *box, uint32_t port_count)
{
    const uint32_t ways[] = {1, 2, 4, 8};
    if (port_count == 0 || port_count == box->numbers * box->type->cages) {
        return box->numbers;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ways); i++) {
        uint32_t ports = ways[i] * box->cages;
        if (port_count >= ports && port_count <= ports + 2) {
            return ways[i];
        }
    }
    return box->numbers;
}

uint32_t spelling_number(const struct spelling *spelling, uint32_t type, uint64_t number,
                         uint32_t port_count)
{
    const struct myr_box *box = &spelling->boxes[type];
    uint32_t numbers = numbers_told(box, port_count);
    if (myr_site_counts_on(box->type)) { /* only our own exports are known to count so */
        bool own = port_count == 0 || port_count == box->type->port_count;
        return own && number > 0 && number <= box->type->port_count ? (uint32_t)number - 1
                                                                    : MYR_NONE;
    }
    if (number == 0 || (number - 1) / numbers >= box->cages) {
        return number ? MYR_PORT_SPARE : MYR_NONE;
    }
    /* As the box counts, not as the design does. */
    uint32_t cage = (uint32_t)((number - 1) / numbers), at = (uint32_t)((number - 1) % numbers);
    for (uint32_t g = 0; g < box->type->group_count; g++) {
        const struct myr_port_group *group = &box->type->groups[g];
        uint32_t cages = (group->count + group->per_cage - 1) / group->per_cage;
        if (group->role == MYR_PORT_NIC || cage < group->first_cage ||
            cage >= group->first_cage + cages) {
            continue; /* management ports are no cages */
        }
        uint32_t step = numbers / group->per_cage;
        if (step == 0 || at % step) {
            return MYR_NONE; /* the box is divided otherwise than the plan */
        }
        uint32_t index = (cage - group->first_cage) * group->per_cage + at / step;
        return index < group->count ? group->first + index : MYR_PORT_SPARE;
    }
    return MYR_PORT_SPARE;
}
