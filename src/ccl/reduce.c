#include "reduce.h"

#include <string.h>

#include "kernels.h"

#define BLOCK_BYTES 2048 /* of one partial result; with those of all levels well within a cache */
#define LEVELS      9    /* of a tree over MYR_CCL_PLACES_MAX, and one */

typedef void join_fn(void *out, const void *a, const void *b, size_t count);

struct type_row {
    size_t bytes, wide_bytes; /* of a value, and of one while it is reduced */
    void (*widen)(float *out, const uint16_t *in, size_t count);
    void (*narrow)(uint16_t *out, const float *in, size_t count);
    join_fn *joins[MYR_CCL_OPS];
};

#define FLOATS(t)                               \
    {                                           \
        sum_##t, prod_##t, min_##t, max_##t, 0, \
    }
#define INTEGERS(t)                                           \
    {                                                         \
        sum_##t, prod_##t, min_##t, max_##t, and_##t, or_##t, \
    }

static const struct type_row types[MYR_CCL_TYPES] = {
    [MYR_CCL_F32] = {4, 4, NULL, NULL, FLOATS(f32)},
    [MYR_CCL_F64] = {8, 8, NULL, NULL, FLOATS(f64)},
    [MYR_CCL_F16] = {2, 4, widen_f16, narrow_f16, FLOATS(f32)},
    [MYR_CCL_BF16] = {2, 4, widen_bf16, narrow_bf16, FLOATS(f32)},
    [MYR_CCL_I8] = {1, 1, NULL, NULL, INTEGERS(i8)},
    [MYR_CCL_U8] = {1, 1, NULL, NULL, INTEGERS(u8)},
    [MYR_CCL_I32] = {4, 4, NULL, NULL, INTEGERS(i32)},
    [MYR_CCL_U32] = {4, 4, NULL, NULL, INTEGERS(u32)},
    [MYR_CCL_I64] = {8, 8, NULL, NULL, INTEGERS(i64)},
    [MYR_CCL_U64] = {8, 8, NULL, NULL, INTEGERS(u64)},
};

size_t ccl_type_bytes(enum myr_ccl_type type)
{
    return (unsigned)type < MYR_CCL_TYPES ? types[type].bytes : 0;
}

bool ccl_op_fits(enum myr_ccl_type type, enum myr_ccl_op op)
{
    return (unsigned)type < MYR_CCL_TYPES && (unsigned)op < MYR_CCL_OPS && types[type].joins[op];
}

/* One block of all inputs. */
struct block {
    const struct ccl_reduction *of;
    const struct type_row *row;
    size_t begin, count;
    _Alignas(64) uint8_t partial[LEVELS][BLOCK_BYTES];
};

/* The reduction of inputs 'from' on: where it lies, which is partial 'level' or the input itself.
 */
static const void *reduce_some(struct block *block, uint32_t from, uint32_t n, uint32_t level)
{
    void *partial = block->partial[level];
    if (n == 1) {
        const uint8_t *in = block->of->inputs[from];
        in += block->begin * block->row->bytes;
        if (!block->row->widen) {
            return in;
        }
        block->row->widen(partial, (const uint16_t *)in, block->count);
        return partial;
    }
    uint32_t half = 1;
    while (half * 2 < n) {
        half *= 2;
    }
    const void *a = reduce_some(block, from, half, level);
    const void *b = reduce_some(block, from + half, n - half, level + 1);
    block->row->joins[block->of->op](partial, a, b, block->count);
    return partial;
}

void ccl_reduce(const struct ccl_reduction *reduction, void *out)
{
    struct block block; /* partial results are written before they are read: none is cleared */
    block.of = reduction;
    block.row = &types[reduction->type];
    size_t most = BLOCK_BYTES / block.row->wide_bytes;
    uint8_t *to = out;
    for (size_t done = 0; done < reduction->count; done += block.count) {
        size_t left = reduction->count - done;
        block.begin = reduction->offset + done;
        block.count = left < most ? left : most;
        const void *result = reduce_some(&block, 0, reduction->input_count, 0);
        if (block.row->narrow) {
            block.row->narrow((uint16_t *)to, result, block.count);
        } else {
            memcpy(to, result, block.count * block.row->bytes);
        }
        to += block.count * block.row->bytes;
    }
}
