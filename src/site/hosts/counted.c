#include "hosts/hosts.h"

#include <stdlib.h>

/*
 * "node-00001" to "node-00064" where the plan has 0 to 63. Each host whose name is the plan's word
 * and a number says by how much it is off; what most of them say is taken when it leaves fewer
 * names without a place than the plan's own count does. So hosts with one NIC, of which each cable
 * alone could as well be in the wrong port, are told too.
 */

/* The plan's word for its hosts, without the number: "node-". */
static struct myr_str word_of_plan(const struct myr_design *design, struct myr_buf *buf)
{
    myr_site_name(design, design->head->first_node, buf);
    while (buf->len && buf->data[buf->len - 1] >= '0' && buf->data[buf->len - 1] <= '9') {
        buf->len--;
    }
    return (struct myr_str){buf->data, buf->len};
}

static struct myr_str name_of(const struct identify *identify, const struct host *host)
{
    struct myr_str name = identify->cabling->devices.items[host->found].name, part, nic;
    return hosts_split(name, &part, &nic) ? part : name;
}

/* The number behind the plan's word; false: the host is called otherwise. */
static bool number_of(struct myr_str name, struct myr_str word, uint64_t *ret)
{
    return name.len > word.len &&
           myr_str_eq_nocase((struct myr_str){name.data, word.len - 1},
                             (struct myr_str){word.data, word.len - 1}) &&
           (name.data[word.len - 1] == '-' || name.data[word.len - 1] == '/') &&
           myr_str_to_u64((struct myr_str){name.data + word.len, name.len - word.len}, ret) &&
           *ret < INT32_MAX;
}

/* The node where more than half of its cables belong; MYR_NONE: none. */
static uint32_t node_by_cables(const struct identify *identify, const struct host *host,
                               const struct unit_list *units)
{
    const struct unit *own = units->items + host->first_unit;
    for (uint32_t i = 0; i < host->unit_count; i++) {
        uint32_t node =
            own[i].planned == MYR_NONE ? MYR_NONE : identify->design->port_device[own[i].planned];
        uint32_t agree = 0, all = 0;
        for (uint32_t j = 0; j < host->unit_count; j++) {
            all += own[j].planned != MYR_NONE;
            agree +=
                own[j].planned != MYR_NONE && identify->design->port_device[own[j].planned] == node;
        }
        if (node != MYR_NONE && agree * 2 > all) {
            return node;
        }
    }
    return MYR_NONE;
}

static int compare_shifts(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* What more than half of those say that can tell; 0: they count as the plan does, or disagree. */
static int64_t common_shift(int64_t *shifts, size_t count, bool *ret_all)
{
    enum { LEAST = 3 };
    if (count < LEAST) {
        return 0;
    }
    qsort(shifts, count, sizeof(*shifts), compare_shifts);
    int64_t middle = shifts[count / 2];
    size_t agree = 0;
    for (size_t i = 0; i < count; i++) {
        agree += shifts[i] == middle;
    }
    *ret_all = agree == count;
    return agree * 2 > count && agree >= LEAST ? middle : 0;
}

struct counter {
    struct hosts *hosts;
    const struct identify *identify;
    struct myr_str word;
    MYR_VEC(int64_t) shifts;
    uint32_t beyond; /* hosts whose number the plan has not */
};

static void counter_done(struct counter *c)
{
    myr_vec_done(&c->shifts);
}

/* Whether a host is called as the plan calls its own; what was bound under a name is not counted.
 */
static bool is_counted(const struct counter *c, const struct host *host, uint64_t *ret)
{
    return !host->doubled && number_of(name_of(c->identify, host), c->word, ret) &&
           (host->called == MYR_NONE ||
            host->called == c->identify->design->head->first_node + *ret);
}

static void count_hosts(struct counter *c, const struct unit_list *units)
{
    const struct myr_design_head *head = c->identify->design->head;
    uint64_t number;
    for (uint32_t h = 0; h < c->hosts->count; h++) {
        struct host *host = &c->hosts->items[h];
        if (!is_counted(c, host, &number)) {
            continue;
        }
        host->beyond = host->called == MYR_NONE;
        c->beyond += host->beyond;
        uint32_t node = node_by_cables(c->identify, host, units);
        if (node != MYR_NONE && node - head->first_node < head->nodes) {
            myr_vec_push(&c->shifts, (int64_t)(node - head->first_node) - (int64_t)number);
        }
    }
}

/* The place of a number that is off by so much; MYR_NONE: beyond the plan. */
static uint32_t place_at(const struct counter *c, uint64_t number, int64_t shift)
{
    const struct myr_design_head *head = c->identify->design->head;
    int64_t at = (int64_t)number + shift;
    return at >= 0 && at < head->nodes ? head->first_node + (uint32_t)at : MYR_NONE;
}

void hosts_count_anew(struct hosts *hosts, const struct identify *identify,
                      const struct unit_list *units)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(counter_done) struct counter c = {.hosts = hosts, .identify = identify};
    uint32_t left = 0;
    uint64_t number;
    bool all = false;
    if (identify->design->head->nodes == 0) {
        return;
    }
    c.word = word_of_plan(identify->design, &text);
    count_hosts(&c, units);
    int64_t shift = common_shift(c.shifts.items, c.shifts.count, &all);
    for (uint32_t h = 0; h < hosts->count && shift; h++) {
        left +=
            is_counted(&c, &hosts->items[h], &number) && place_at(&c, number, shift) == MYR_NONE;
    }
    /* Cables all one port too far are off by one as well, but lead beyond the plan themselves. */
    bool better = left < c.beyond || (left == c.beyond && all);
    for (uint32_t h = 0; h < hosts->count && shift && better; h++) {
        if (is_counted(&c, &hosts->items[h], &number)) {
            hosts->items[h].claim = place_at(&c, number, shift);
        }
    }
}
