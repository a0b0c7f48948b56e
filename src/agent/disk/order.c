/*
 * order: lines "key value" in front, then the job file as it came, its length in the line before.
 * And how an incarnation ended, in lines alone. Both are written by one process and read by
 * another, perhaps after a crash: what is missing or cut is an error, never a default.
 */
#include "disk/order.h"

static const char *const kinds[ENDING_KINDS] = {"exit", "start",
                                                "stopped"}; /* by enum ending_kind */

/* A value ends at its line's end: what came from outside is not believed to be one line. */
static void put_line(struct myr_buf *buf, const char *key, struct myr_str value)
{
    myr_buf_printf(buf, "%s ", key);
    for (size_t i = 0; i < value.len; i++) {
        myr_buf_putc(buf, (unsigned char)value.data[i] < 0x20 ? '?' : value.data[i]);
    }
    myr_buf_putc(buf, '\n');
}

/* "order 1" is the version of the format. */
void order_write(const struct order *order, struct myr_buf *buf)
{
    MYR_ASSERT(order->gpus != 0 && (order->spec.data || order->spec.len == 0));
    myr_buf_printf(buf, "order 1\njob %llu\nepoch %u\nfirst_rank %u\nworld %u\ngpus %llu\n",
                   (unsigned long long)order->job, order->epoch, order->first_rank, order->world,
                   (unsigned long long)order->gpus);
    myr_buf_printf(buf, "node_rank %u\nnode_count %u\nlease_s %u\narray_index %u\n",
                   order->node_rank, order->node_count, order->lease_s, order->array_index);
    put_line(buf, "master", order->master);
    put_line(buf, "user", order->user);
    put_line(buf, "boot", order->boot);
    put_line(buf, "tag", order->tag);
    put_line(buf, "socket", order->socket);
    put_line(buf, "state", order->state);
    /* Last: what follows is the user's, and is never searched for lines of ours. */
    myr_buf_printf(buf, "spec %zu\n", order->spec.len);
    myr_buf_put(buf, order->spec.len ? order->spec.data : "", order->spec.len);
}

/* All must be there and fit together: an order that makes no sense starts nothing. */
static bool read_numbers(struct myr_str text, struct order *ret)
{
    uint64_t epoch;
    uint64_t first;
    uint64_t world;
    uint64_t node_rank;
    uint64_t node_count;
    uint64_t array_index = 0; /* an older agent has written none */
    uint64_t lease;
    if (!line_u64(text, "job", UINT64_MAX, &ret->job) ||
        !line_u64(text, "gpus", UINT64_MAX, &ret->gpus) ||
        !line_u64(text, "epoch", UINT32_MAX, &epoch) ||
        !line_u64(text, "first_rank", UINT32_MAX, &first) ||
        !line_u64(text, "world", UINT32_MAX, &world) ||
        !line_u64(text, "node_rank", UINT32_MAX, &node_rank) ||
        !line_u64(text, "node_count", UINT32_MAX, &node_count) ||
        !line_u64(text, "lease_s", UINT32_MAX, &lease)) {
        return false;
    }
    ret->epoch = (uint32_t)epoch;
    ret->first_rank = (uint32_t)first;
    ret->world = (uint32_t)world;
    ret->node_rank = (uint32_t)node_rank;
    ret->node_count = (uint32_t)node_count;
    (void)line_u64(text, "array_index", UINT32_MAX, &array_index);
    ret->array_index = (uint32_t)array_index;
    ret->lease_s = (uint32_t)lease;
    return ret->gpus != 0 && first + order_ranks(ret) <= world;
}

/* The first line must be the version's, at the very front; length and end must agree. */
int order_read(const char *file, struct myr_str text, struct order *ret, struct myr_err *err)
{
    struct order order = {};
    struct myr_str version;
    struct myr_str size_text;
    uint64_t size;
    /* Everything before the line 'spec' is ours; behind it a user may have written anything. */
    if (!line_text(text, "order", &version) || version.data != text.data + 6 ||
        !line_text(text, "spec", &size_text) || !myr_str_to_u64(size_text, &size)) {
        return myr_err_set(err, MYR_ECORRUPT, "%s: no order", file);
    }
    /* Behind the line's end, which line_text() has seen. */
    const char *from = size_text.data + size_text.len + 1;
    struct myr_str head = {text.data, (size_t)(from - text.data)};
    /* The one sign of a file that a crash has cut within the user's part. */
    if (size != text.len - head.len) {
        return myr_err_set(err, MYR_ECORRUPT, "%s: cut off", file);
    }
    if (!read_numbers(head, &order) || !line_text(head, "master", &order.master) ||
        !line_text(head, "user", &order.user) || !line_text(head, "boot", &order.boot) ||
        !line_text(head, "tag", &order.tag) || !line_text(head, "socket", &order.socket) ||
        !line_text(head, "state", &order.state)) {
        return myr_err_set(err, MYR_ECORRUPT, "%s: something is missing in the order", file);
    }
    MYR_ASSERT(from + size == text.data + text.len); /* all of it is the order's */
    order.spec = (struct myr_str){from, (size_t)size};
    *ret = order;
    return MYR_OK;
}

/* One rank a GPU. */
uint32_t order_ranks(const struct order *order)
{
    return (uint32_t)__builtin_popcountll(order->gpus);
}

void ending_write(const struct ending *ending, struct myr_buf *buf)
{
    MYR_ASSERT(ending->kind < ENDING_KINDS);
    myr_buf_printf(buf, "kind %s\nrank %u\ncode %u\nsignal %u\n", kinds[ending->kind], ending->rank,
                   ending->code, ending->signal);
    put_line(buf, "line", ending->line);
}

/* The line may be missing; how it ended may not. */
int ending_read(const char *file, struct myr_str text, struct ending *ret, struct myr_err *err)
{
    struct myr_str kind;
    uint64_t rank;
    uint64_t code;
    uint64_t signal;
    if (!line_text(text, "kind", &kind) || !line_u64(text, "rank", UINT32_MAX, &rank) ||
        !line_u64(text, "code", UINT32_MAX, &code) ||
        !line_u64(text, "signal", UINT32_MAX, &signal)) {
        return myr_err_set(err, MYR_ECORRUPT, "%s: does not say how it ended", file);
    }
    for (uint32_t i = 0; i < ENDING_KINDS; i++) {
        if (myr_str_eq(kind, myr_str_from(kinds[i]))) {
            *ret = (struct ending){.kind = (enum ending_kind)i,
                                   .rank = (uint32_t)rank,
                                   .code = (uint32_t)code,
                                   .signal = (uint32_t)signal};
            if (!line_text(text, "line", &ret->line)) {
                ret->line = MYR_STR("");
            }
            return MYR_OK;
        }
    }
    return myr_err_set(err, MYR_ECORRUPT, "%s: ended in a way that is not known", file);
}
