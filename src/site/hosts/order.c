#include <stdlib.h>

#include "hosts/namer.h"

/* Names as systems count them, and the ports that follow from their order. */

enum { KEY_NUMBER_BYTES = 4 };

struct myr_str naming_key(uint32_t number, struct myr_str name, char ret[NAMING_KEY_MAX])
{
    size_t len = KEY_NUMBER_BYTES;
    for (uint32_t i = 0; i < KEY_NUMBER_BYTES; i++) {
        ret[i] = (char)(number >> (8 * i));
    }
    for (size_t i = 0; i < name.len && len < NAMING_KEY_MAX; i++) {
        if (name.data[i] != ' ') {
            ret[len++] = naming_small(name.data[i]);
        }
    }
    return (struct myr_str){ret, len};
}

/* "eth0" is a port of the service network in the design, and perhaps a NIC of another one here. */
bool naming_is_judged(const struct namer *n, uint32_t type, uint32_t index)
{
    const struct myr_devtype *devtype = &n->identify->design->devtypes[type];
    for (uint32_t g = 0; g < devtype->group_count; g++) {
        if (index - devtype->groups[g].first < devtype->groups[g].count) {
            return n->identify->nets >> devtype->groups[g].net & 1;
        }
    }
    return false;
}

uint32_t naming_judged_ports(const struct namer *n, uint32_t type)
{
    const struct myr_devtype *devtype = &n->identify->design->devtypes[type];
    uint32_t ports = 0;
    for (uint32_t g = 0; g < devtype->group_count; g++) {
        ports += n->identify->nets >> devtype->groups[g].net & 1 ? devtype->groups[g].count : 0;
    }
    return ports;
}

struct myr_str naming_device_word(struct myr_str name, char ret[NAMING_WORD_MAX])
{
    uint64_t number;
    bool hca = name.len > 4 && myr_str_eq_nocase((struct myr_str){name.data, 4}, MYR_STR("HCA-"));
    if (!hca || !myr_str_to_u64((struct myr_str){name.data + 4, name.len - 4}, &number) ||
        number == 0 || number > 64) {
        return name;
    }
    struct myr_buf text MYR_CLEANUP(myr_buf_done) = {};
    myr_buf_printf(&text, "mlx5_%u", (uint32_t)number - 1);
    MYR_ASSERT(text.len < NAMING_WORD_MAX);
    memcpy(ret, text.data, text.len);
    return (struct myr_str){ret, text.len};
}

static uint32_t digit_of(char c, bool hex)
{
    c = naming_small(c);
    return c >= '0' && c <= '9'          ? (uint32_t)(c - '0')
           : hex && c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                                         : 16;
}

/* The "4f" of "rocep4fs0f0", a PCI bus: between 'p' and 's' and a number. 0: there is none. */
static size_t bus_length(struct myr_str name, size_t at)
{
    size_t end = at;
    while (end < name.len && digit_of(name.data[end], true) < 16) {
        end++;
    }
    bool bus = at && naming_small(name.data[at - 1]) == 'p' && end + 1 < name.len &&
               naming_small(name.data[end]) == 's' && digit_of(name.data[end + 1], false) < 16;
    return bus ? end - at : 0;
}

/* A number at this place, which it ends behind; 0 and the same place: there is none. */
static uint64_t take_number(struct myr_str name, size_t *at)
{
    size_t bus = bus_length(name, *at), first = *at;
    uint64_t value = 0;
    /* Some write the bus in tens, some in sixteens: read in sixteens both stay in their order. */
    for (; *at < name.len && value < UINT32_MAX && (bus == 0 || *at < first + bus) &&
           digit_of(name.data[*at], bus > 0) < 16;
         ++*at) {
        value = value * (bus ? 16 : 10) + digit_of(name.data[*at], bus > 0);
    }
    return value;
}

/* "ibp26s0" stands before "IBP156s0": numbers count, whatever is between them. */
static int compare_counted(struct myr_str a, struct myr_str b)
{
    size_t i = 0, j = 0;
    while (i < a.len && j < b.len) {
        size_t first = i, other = j;
        uint64_t x = take_number(a, &i), y = take_number(b, &j);
        if (i == first || j == other) {
            i = first;
            j = other;
            char left = naming_small(a.data[i++]), right = naming_small(b.data[j++]);
            if (left != right) {
                return left < right ? -1 : 1;
            }
        } else if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return (i < a.len) - (j < b.len);
}

static int compare_meanings(const void *left, const void *right)
{
    const struct meaning *a = *(struct meaning *const *)left, *b = *(struct meaning *const *)right;
    return compare_counted(a->text, b->text);
}

/* The names of most hosts of a type, as systems count them. */
static uint32_t list_in_order(const struct namer *n, uint32_t habit, struct meaning **ret)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n->meanings.count; i++) {
        struct meaning *one = &n->meanings.items[i];
        bool other_card = one->known && one->index == MYR_NONE;
        if (one->habit == habit && !other_card && (uint64_t)one->hosts * 2 >= n->hosts[habit]) {
            ret[count++] = one;
        }
    }
    if (count > 1) {
        qsort(ret, count, sizeof(struct meaning *), compare_meanings);
    }
    return count;
}

/*
 * How hosts count the ports of cards with several: card by card, while the design has the first
 * ports of all cards, then the second ones. With one port a card both are the same.
 */
struct card_order {
    uint32_t first, ports, per_card;
};

static uint32_t rank_of(struct card_order order, uint32_t index)
{
    uint32_t cards = order.ports / order.per_card, at = index - order.first;
    return at % cards * order.per_card + at / cards;
}

static uint32_t index_of(struct card_order order, uint32_t rank)
{
    uint32_t cards = order.ports / order.per_card;
    return order.first + rank % order.per_card * cards + rank / order.per_card;
}

/* Whether more than half of the names are decided, and their ports rise as the names do. */
static bool rises(struct meaning *const *names, uint32_t count, struct card_order order)
{
    uint32_t decided = 0, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (names[i]->index == MYR_NONE) {
            continue;
        }
        bool outside = names[i]->index - order.first >= order.ports;
        uint32_t rank = rank_of(order, names[i]->index);
        if (outside || (decided && rank <= last)) {
            return false;
        }
        last = rank;
        decided++;
    }
    return decided * 2 > count;
}

static void fill_gaps(struct meaning *const *names, uint32_t count, struct card_order order)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i;
        while (end < count && names[end]->index == MYR_NONE) {
            end++;
        }
        uint32_t first = i == 0 ? 0 : rank_of(order, names[i - 1]->index) + 1;
        uint32_t next = end == count ? order.ports : rank_of(order, names[end]->index);
        for (uint32_t k = i; k < end && next - first == end - i; k++) {
            names[k]->index = index_of(order, first + k - i);
        }
        i = end + 1;
    }
}

/* The first of these orders in which the ports rise as the names do; ports 0: none. */
static struct card_order rising_order(struct meaning *const *names, uint32_t count, uint32_t first,
                                      uint32_t ports)
{
    static const uint32_t per_card[] = {1, 2, 4};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(per_card); i++) {
        struct card_order order = {first, ports, per_card[i]};
        if (ports % per_card[i] == 0 && rises(names, count, order)) {
            return order;
        }
    }
    return (struct card_order){0, 0, 1};
}

void naming_decide_by_order(struct namer *n, uint32_t habit)
{
    uint32_t ports = n->identify->design->devtypes[n->types[habit]].groups[0].count;
    struct meaning **names = MYR_ARENA_NEW(n->identify->arena, struct meaning *, n->meanings.count);
    uint32_t count = list_in_order(n, habit, names);
    struct card_order order = rising_order(names, count, 0, ports);
    if (order.ports) {
        fill_gaps(names, count, order);
    }
}

/* Whether the number at the end of each decided name is that of its port, counted from 'first'. */
static bool has_own_numbers(struct meaning *const *names, uint32_t count, uint32_t first)
{
    char word[NAMING_WORD_MAX];
    for (uint32_t i = 0; i < count; i++) {
        struct myr_str name = naming_device_word(names[i]->text, word);
        size_t at = name.len;
        while (at && name.data[at - 1] >= '0' && name.data[at - 1] <= '9') {
            at--;
        }
        uint64_t number;
        bool counts = myr_str_to_u64((struct myr_str){name.data + at, name.len - at}, &number);
        if (names[i]->index != MYR_NONE &&
            (!counts || names[i]->index < first || number != names[i]->index - first)) {
            return false;
        }
    }
    return true;
}

/* Whether two names are one word with other numbers in it: only such have an order. */
static bool is_one_word(struct myr_str a, struct myr_str b)
{
    size_t i = 0, j = 0;
    while (i < a.len && j < b.len) {
        size_t first = i, other = j;
        (void)take_number(a, &i);
        (void)take_number(b, &j);
        if ((i == first) != (j == other)) {
            return false;
        }
        if (i == first && naming_small(a.data[i++]) != naming_small(b.data[j++])) {
            return false;
        }
    }
    return i == a.len && j == b.len;
}

bool naming_is_against_order(const struct namer *n, uint32_t habit)
{
    const struct myr_devtype *devtype = &n->identify->design->devtypes[n->types[habit]];
    struct meaning **names = MYR_ARENA_NEW(n->identify->arena, struct meaning *, n->meanings.count);
    uint32_t count = list_in_order(n, habit, names), decided = 0;
    struct meaning **told = MYR_ARENA_NEW(n->identify->arena, struct meaning *, count);
    for (uint32_t i = 0; i < count; i++) {
        told[decided] = names[i];
        decided += names[i]->index != MYR_NONE;
        if (!is_one_word(names[0]->text, names[i]->text)) {
            return false;
        }
    }
    for (uint32_t g = 0; g < devtype->group_count && decided; g++) {
        if (told[0]->index - devtype->groups[g].first < devtype->groups[g].count) {
            return !rising_order(told, decided, devtype->groups[g].first, devtype->groups[g].count)
                        .ports &&
                   !has_own_numbers(told, decided, devtype->groups[g].first);
        }
    }
    return false;
}

/* Two plugs that changed places break the order; where names are too few for that, nothing does. */
bool naming_is_natural(const struct namer *n, uint32_t habit)
{
    uint32_t type = n->types[habit];
    const struct myr_devtype *devtype = &n->identify->design->devtypes[type];
    struct meaning **names = MYR_ARENA_NEW(n->identify->arena, struct meaning *, n->meanings.count);
    uint32_t count = list_in_order(n, habit, names), ports = 0, first = MYR_NONE, end = 0;
    for (uint32_t g = 0; g < devtype->group_count; g++) {
        const struct myr_port_group *group = &devtype->groups[g];
        if (naming_is_judged(n, type, group->first)) {
            first = group->first < first ? group->first : first;
            end = group->first + group->count > end ? group->first + group->count : end;
            ports += group->count;
        }
    }
    bool whole = ports && count == ports && end - first == ports;
    return (whole && rising_order(names, count, first, ports).ports) ||
           has_own_numbers(names, count, first);
}
