#include "myriad/text/qr.h"

/*
 * A code is made in four steps: the bytes in their frame; check bytes over blocks of them, all
 * interleaved; the modules in their zigzag around the fixed patterns; the mask that looks least
 * like those patterns. Numbers of blocks are tables of the standard; places follow by arithmetic.
 */

enum {
    QUIET = 4,           /* light modules around the code */
    CODEWORDS_MAX = 655, /* of version 15, the largest */
    CHECKS_MAX = 30,     /* of a block, in checks_of */
    FREE = 2,            /* a module that no pattern holds; the mask applies to it */
};

/* Level M, by version from 1: check bytes of a block, and blocks. */
static const uint8_t checks_of[] = {10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24};
static const uint8_t blocks_of[] = {1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10};

struct drawing {
    struct myr_qr *qr;
    uint32_t version, side;                           /* side is 17 + 4 * version */
    uint8_t fixed[MYR_QR_SIDE_MAX * MYR_QR_SIDE_MAX]; /* modules of a pattern */
};

/* Codewords of data and checks: what the patterns of that version leave. */
static uint32_t codewords(uint32_t version)
{
    uint32_t modules = (16 * version + 128) * version + 64;
    if (version >= 2) {
        uint32_t marks = version / 7 + 2;
        modules -= (25 * marks - 10) * marks - 55;
    }
    return (version >= 7 ? modules - 36 : modules) / 8;
}

/* What is left of the codewords for text and its frame. */
static uint32_t data_bytes(uint32_t version)
{
    return codewords(version) - (uint32_t)checks_of[version - 1] * blocks_of[version - 1];
}

/* The count of bytes has eight bits in small codes and sixteen in others; four say the mode. */
static uint32_t frame_bits(uint32_t version)
{
    return version < 10 ? 12 : 20;
}

/* Bits written from the highest of each byte down; the bytes must be zero before. */
struct bits {
    uint8_t *bytes;
    uint32_t count;
};

static void put_bits(struct bits *bits, uint32_t value, uint32_t count)
{
    while (count-- > 0) {
        bits->bytes[bits->count / 8] |= (uint8_t)((value >> count & 1) << (7 - bits->count % 8));
        bits->count++;
    }
}

/* Mode, count and bytes; whatever is left is filled up. */
static void put_data(uint8_t *data, uint32_t version, struct myr_str text)
{
    enum { BYTES_MODE = 4 };
    struct bits bits = {data, 0};
    uint32_t room = data_bytes(version) * 8;
    memset(data, 0, CODEWORDS_MAX);
    put_bits(&bits, BYTES_MODE, 4);
    put_bits(&bits, (uint32_t)text.len, frame_bits(version) - 4);
    for (size_t i = 0; i < text.len; i++) {
        put_bits(&bits, (uint8_t)text.data[i], 8);
    }
    MYR_ASSERT(bits.count <= room);
    /* Four zeros end it where there is room, then whole bytes; then the standard's two fillers. */
    bits.count += room - bits.count < 4 ? room - bits.count : 4;
    bits.count = (bits.count + 7) / 8 * 8;
    for (uint32_t filler = 0xEC; bits.count < room; filler ^= 0xEC ^ 0x11) {
        put_bits(&bits, filler, 8);
    }
}

/* The product in the field of 256 elements with the polynomial x^8 + x^4 + x^3 + x^2 + 1. */
static uint8_t product(uint8_t a, uint8_t b)
{
    uint32_t sum = 0;
    for (uint32_t bit = 8; bit-- > 0;) {
        /* Times x, and less the polynomial where it overflows. */
        sum = sum << 1 ^ (sum >> 7) * 0x11D;
        sum ^= (b >> bit & 1) * a;
    }
    return (uint8_t)sum;
}

/* The coefficients of (x - 1)(x - 2)(x - 4)..., without the leading one. */
static void generator(uint8_t *ret, uint32_t degree)
{
    uint8_t root = 1;
    memset(ret, 0, CHECKS_MAX);
    ret[degree - 1] = 1;
    for (uint32_t i = 0; i < degree; i++) {
        for (uint32_t j = 0; j < degree; j++) {
            ret[j] = product(ret[j], root);
            ret[j] ^= j + 1 < degree ? ret[j + 1] : 0;
        }
        root = product(root, 2);
    }
}

/* The remainder of the data divided by the generator: a shift register of 'degree' bytes. */
static void put_checks(const uint8_t *data, uint32_t count, const uint8_t *divisor, uint32_t degree,
                       uint8_t *ret)
{
    memset(ret, 0, degree);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t factor = data[i] ^ ret[0];
        memmove(ret, ret + 1, degree - 1);
        ret[degree - 1] = 0;
        for (uint32_t j = 0; j < degree; j++) {
            ret[j] ^= product(divisor[j], factor);
        }
    }
}

/* First bytes of all blocks, then the second ones, and so on; the checks behind in the same way. */
static void interleave(const uint8_t *data, uint32_t version, uint8_t *ret)
{
    uint32_t blocks = blocks_of[version - 1], degree = checks_of[version - 1];
    uint32_t total = codewords(version), length = total / blocks - degree;
    uint32_t longer = total % blocks; /* the last ones have a byte more */
    uint8_t divisor[CHECKS_MAX], checks[CHECKS_MAX];
    uint32_t start = 0, all = data_bytes(version);
    generator(divisor, degree);
    for (uint32_t b = 0; b < blocks; b++) {
        bool is_longer = b >= blocks - longer;
        uint32_t count = length + is_longer;
        for (uint32_t i = 0; i < length; i++) {
            ret[i * blocks + b] = data[start + i];
        }
        if (is_longer) {
            ret[length * blocks + b - (blocks - longer)] = data[start + length];
        }
        put_checks(data + start, count, divisor, degree, checks);
        for (uint32_t i = 0; i < degree; i++) {
            ret[all + i * blocks + b] = checks[i];
        }
        start += count;
    }
    MYR_ASSERT(start == all);
}

/* A module of a pattern: data goes around it and the mask leaves it alone. */
static void set(struct drawing *drawing, uint32_t x, uint32_t y, bool dark)
{
    MYR_ASSERT(x < drawing->side && y < drawing->side);
    drawing->qr->dark[y * drawing->side + x] = dark;
    drawing->fixed[y * drawing->side + x] = 1;
}

/* The distance of two unsigned numbers. */
static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Rings around a centre, of which every second one is light; cut at the edge of the code. */
static void put_rings(struct drawing *drawing, uint32_t x, uint32_t y, uint32_t reach,
                      uint32_t light)
{
    for (uint32_t dy = 0; dy <= 2 * reach; dy++) {
        for (uint32_t dx = 0; dx <= 2 * reach; dx++) {
            uint32_t px = x + dx, py = y + dy; /* all of it moved by 'reach', to stay unsigned */
            uint32_t ring =
                apart(dx, reach) > apart(dy, reach) ? apart(dx, reach) : apart(dy, reach);
            if (px >= reach && py >= reach && px - reach < drawing->side &&
                py - reach < drawing->side) {
                set(drawing, px - reach, py - reach, ring != light && ring != 4);
            }
        }
    }
}

/*
 * Where alignment marks stand, in both directions: the first at 6, the others evenly apart from the
 * far end, by the even step that the standard's table has.
 */
static uint32_t mark_at(uint32_t version, uint32_t index)
{
    uint32_t marks = version / 7 + 2;
    uint32_t step = (version * 4 + marks * 2 + 1) / (marks * 2 - 2) * 2;
    return index == 0 ? 6 : 17 + 4 * version - 7 - (marks - 1 - index) * step;
}

/* The remainder of a division of polynomials over two elements. */
static uint32_t remainder_of(uint32_t value, uint32_t shift, uint32_t divisor)
{
    uint32_t rest = value;
    for (uint32_t i = 0; i < shift; i++) {
        rest = rest << 1 ^ (rest >> (shift - 1)) * divisor;
    }
    return value << shift | (rest & ((1U << shift) - 1));
}

/*
 * Level and mask, twice, each time beside a finder: one copy may be dirty. The last module is
 * always dark.
 */
static void put_format(struct drawing *drawing, uint32_t mask)
{
    uint32_t side = drawing->side;
    uint32_t format = remainder_of(mask, 10, 0x537) ^ 0x5412; /* level M is 00 */
    for (uint32_t i = 0; i < 15; i++) {
        bool dark = format >> i & 1;
        if (i < 8) {
            set(drawing, 8, i < 6 ? i : i + 1, dark);
            set(drawing, side - 1 - i, 8, dark);
        } else {
            set(drawing, i == 8 ? 7 : 14 - i, 8, dark);
            set(drawing, 8, side - 15 + i, dark);
        }
    }
    set(drawing, 8, side - 8, true);
}

/* Timing lines first: finders and marks are drawn over them where they meet. */
static void put_patterns(struct drawing *drawing)
{
    uint32_t side = drawing->side, marks = drawing->version < 2 ? 0 : drawing->version / 7 + 2;
    for (uint32_t i = 0; i < side; i++) {
        set(drawing, 6, i, i % 2 == 0);
        set(drawing, i, 6, i % 2 == 0);
    }
    put_rings(drawing, 3, 3, 4, 2);
    put_rings(drawing, side - 4, 3, 4, 2);
    put_rings(drawing, 3, side - 4, 4, 2);
    for (uint32_t i = 0; i < marks; i++) {
        for (uint32_t j = 0; j < marks; j++) {
            /* The three corners with a finder have no mark; the fourth has one. */
            bool corner =
                (i == 0 && j == 0) || (i == 0 && j == marks - 1) || (i == marks - 1 && j == 0);
            if (!corner) {
                put_rings(drawing, mark_at(drawing->version, i), mark_at(drawing->version, j), 2,
                          1);
            }
        }
    }
    /* Six bits of version with twelve to check them, as the standard has it from version 7 on. */
    uint32_t version = remainder_of(drawing->version, 12, 0x1F25);
    for (uint32_t i = 0; drawing->version >= 7 && i < 18; i++) {
        set(drawing, side - 11 + i % 3, i / 3, version >> i & 1);
        set(drawing, i / 3, side - 11 + i % 3, version >> i & 1);
    }
    put_format(drawing, 0); /* keeps its place; the mask comes last */
}

/* Two columns at a time from the right, up and down, past the column of the timing pattern. */
static void put_codewords(struct drawing *drawing, const uint8_t *bytes, uint32_t count)
{
    uint32_t side = drawing->side, bit = 0;
    for (uint32_t pair = 0; pair < side / 2; pair++) {
        uint32_t right = side - 1 - 2 * pair;
        /* The timing column holds no data: pairs to its left begin one further on. */
        right -= right <= 6;
        for (uint32_t step = 0; step < 2 * side; step++) {
            uint32_t x = right - step % 2;
            uint32_t y = pair % 2 ? step / 2 : side - 1 - step / 2;
            if (drawing->fixed[y * side + x]) {
                continue;
            }
            bool dark = bit < count * 8 && (bytes[bit / 8] >> (7 - bit % 8) & 1) != 0;
            drawing->qr->dark[y * side + x] = dark;
            bit++;
        }
    }
    MYR_ASSERT(bit >= count * 8);
}

/* The eight masks of the standard, by their numbers. */
static bool flips(uint32_t mask, uint32_t x, uint32_t y)
{
    switch (mask) {
    case 0:
        return (x + y) % 2 == 0;
    case 1:
        return y % 2 == 0;
    case 2:
        return x % 3 == 0;
    case 3:
        return (x + y) % 3 == 0;
    case 4:
        return (x / 3 + y / 2) % 2 == 0;
    case 5:
        return x * y % 2 + x * y % 3 == 0;
    case 6:
        return (x * y % 2 + x * y % 3) % 2 == 0;
    default:
        return ((x + y) % 2 + x * y % 3) % 2 == 0;
    }
}

/* Twice gives the code back as it was. */
static void put_mask(struct drawing *drawing, uint32_t mask)
{
    for (uint32_t y = 0; y < drawing->side; y++) {
        for (uint32_t x = 0; x < drawing->side; x++) {
            uint32_t at = y * drawing->side + x;
            drawing->qr->dark[at] ^= !drawing->fixed[at] && flips(mask, x, y);
        }
    }
}

/* Of one row or column: runs of five and more, and what looks like a finder pattern. */
static uint32_t line_penalty(const uint8_t *dark, uint32_t side, uint32_t step)
{
    enum { FINDER_LEFT = 0x05D, FINDER_RIGHT = 0x5D0, ELEVEN = 0x7FF };
    uint32_t penalty = 0, run = 0, last = FREE, window = 0;
    for (uint32_t i = 0; i < side; i++) {
        uint32_t now = dark[i * step];
        run = now == last ? run + 1 : 1;
        /* Three for five alike, and one for each more. */
        penalty += run == 5 ? 3 : run > 5;
        last = now;
        window = (window << 1 | now) & ELEVEN;
        if (i >= 10 && (window == FINDER_LEFT || window == FINDER_RIGHT)) {
            penalty += 40;
        }
    }
    return penalty;
}

/*
 * The standard's four rules: runs, squares of two by two, false finders, and too dark or too light.
 */
static uint32_t penalty_of(const struct myr_qr *qr)
{
    uint32_t side = qr->side, penalty = 0, dark = 0;
    MYR_ASSERT(side > 0);
    for (uint32_t i = 0; i < side; i++) {
        penalty += line_penalty(qr->dark + i * side, side, 1);
        penalty += line_penalty(qr->dark + i, side, side);
    }
    for (uint32_t y = 0; y < side; y++) {
        for (uint32_t x = 0; x < side; x++) {
            const uint8_t *at = &qr->dark[y * side + x];
            dark += *at;
            bool square = x + 1 < side && y + 1 < side && at[0] == at[1] && at[0] == at[side] &&
                          at[0] == at[side + 1];
            penalty += square ? 3 : 0;
        }
    }
    /* Ten for each twentieth of the code away from half dark. */
    return penalty + apart(dark * 20, side * side * 10) / (side * side) * 10;
}

bool myr_qr_make(struct myr_qr *ret, struct myr_str text)
{
    uint8_t data[CODEWORDS_MAX], bytes[CODEWORDS_MAX];
    uint32_t version = 1, best = 0, least = UINT32_MAX;
    /* The smallest that holds the text: its modules are the largest on a label of a given size. */
    while (version <= MYR_QR_VERSION_MAX &&
           frame_bits(version) + text.len * 8 > (uint64_t)data_bytes(version) * 8) {
        version++;
    }
    if (version > MYR_QR_VERSION_MAX) {
        return false;
    }
    MYR_ASSERT(codewords(version) <= CODEWORDS_MAX);
    *ret = (struct myr_qr){.side = 17 + 4 * version};
    struct drawing drawing = {.qr = ret, .version = version, .side = ret->side};
    put_data(data, version, text);
    interleave(data, version, bytes);
    /* Patterns before data: what they hold is not available to it. */
    put_patterns(&drawing);
    put_codewords(&drawing, bytes, codewords(version));
    for (uint32_t mask = 0; mask < 8; mask++) {
        put_mask(&drawing, mask);
        /* The format counts too: it depends on the mask, and is part of what is judged. */
        put_format(&drawing, mask);
        uint32_t penalty = penalty_of(ret);
        if (penalty < least) {
            least = penalty;
            best = mask;
        }
        put_mask(&drawing, mask);
    }
    put_mask(&drawing, best);
    put_format(&drawing, best);
    return true;
}

void myr_qr_svg(struct myr_buf *buf, const struct myr_qr *qr, uint32_t side_mm)
{
    /* One unit a module; the viewer scales it to millimetres. */
    uint32_t side = qr->side + 2 * QUIET;
    myr_buf_printf(buf,
                   "<svg class=\"qr\" width=\"%umm\" height=\"%umm\" viewBox=\"0 0 %u %u\" "
                   "shape-rendering=\"crispEdges\"><rect width=\"%u\" height=\"%u\" "
                   "fill=\"#fff\"/><path d=\"",
                   side_mm, side_mm, side, side, side, side);
    for (uint32_t y = 0; y < qr->side; y++) {
        for (uint32_t x = 0; x < qr->side; x++) {
            uint32_t run = 0;
            /* A run of dark modules is one piece of the path, which keeps the picture small. */
            while (x + run < qr->side && qr->dark[y * qr->side + x + run]) {
                run++;
            }
            if (run) {
                myr_buf_printf(buf, "M%u %uh%uv1h-%uz", x + QUIET, y + QUIET, run, run);
                x += run;
            }
        }
    }
    myr_buf_put_lit(buf, "\" fill=\"#000\"/></svg>");
}
