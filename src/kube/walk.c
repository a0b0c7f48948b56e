/*
 * walk: JSON gone through once from left to right, without a tree: what is wanted is taken where it
 * lies, all else is passed over. It takes less than the reader of text/ does: whatever is unusual
 * (escapes where a text is wanted, a mistake) makes it give up, and that reader says what is wrong.
 */
#include "kube.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Open brackets are bits of one number of 64; a block is what a register of SSE2 holds. */
enum { DEPTH_MAX = 60, BLOCK = 16 };

/* At the end and bad: every later call finds nothing more to take. */
static bool give_up(struct kube_walk *w)
{
    w->bad = true;
    w->at = w->end;
    return false;
}

static void pass_blanks(struct kube_walk *w)
{
    while (w->at < w->end &&
           (*w->at == ' ' || *w->at == '\n' || *w->at == '\t' || *w->at == '\r')) {
        w->at++;
    }
}

char kube_walk_next(struct kube_walk *w)
{
    pass_blanks(w);
    MYR_SLOW_ASSERT(w->at <= w->end);
    return (char)(w->at < w->end ? *w->at : '\0');
}

bool kube_walk_open(struct kube_walk *w, char bracket)
{
    if (kube_walk_next(w) != bracket) {
        return give_up(w);
    }
    w->at++;
    MYR_ASSERT(w->at <= w->end);
    w->first = true;
    return true;
}

/* True: one more stands before the bracket that closes it; that one is passed. */
static bool one_more(struct kube_walk *w, char bracket)
{
    char c = kube_walk_next(w);
    if (w->bad) {
        return false;
    }
    if (c == bracket) {
        w->at++;
        w->first = false; /* of what is around it something was there */
        return false;
    }
    /* Before all but the first stands a comma. */
    if (!w->first) {
        if (c != ',') {
            return give_up(w);
        }
        w->at++;
    }
    w->first = false;
    return true;
}

bool kube_walk_item(struct kube_walk *w)
{
    return one_more(w, ']');
}

/* Printable ASCII without what ends or escapes a text: it means what it says. */
static bool is_plain(char c)
{
    return (unsigned char)(c - 0x20) <= 0x7e - 0x20 && c != '\\' && c != '"';
}

/* The first byte that is no plain ASCII, a quote or an escape; the end: there is none. */
static const char *pass_plain(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
    const __m128i low = _mm_set1_epi8(0x20), high = _mm_set1_epi8(0x7f);
    for (; end - at >= BLOCK; at += BLOCK) {
        __m128i block = _mm_loadu_si128((const __m128i *)at);
        /* As signed numbers those from 0x80 on are below all others. */
        __m128i odd = _mm_or_si128(_mm_cmplt_epi8(block, low), _mm_cmpeq_epi8(block, high));
        odd = _mm_or_si128(
            odd, _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, escape)));
        uint32_t marks = (uint32_t)_mm_movemask_epi8(odd);
        if (marks) {
            return at + __builtin_ctz(marks);
        }
    }
#endif
    while (at < end && is_plain(*at)) {
        at++;
    }
    return at;
}

/* 'at' is on the quote. What is not plain ASCII, or escaped, is left to others. */
static bool take_text(struct kube_walk *w, struct myr_str *ret)
{
    MYR_ASSERT(w->at < w->end && *w->at == '"');
    const char *text = w->at + 1, *quote = pass_plain(text, w->end);
    if (quote == w->end || *quote != '"') {
        return give_up(w);
    }
    *ret = (struct myr_str){text, (size_t)(quote - text)};
    w->at = quote + 1;
    return true;
}

/* Keys with escapes are none of those that are looked for, but might be: they end it, too. */
bool kube_walk_key(struct kube_walk *w, struct myr_str *ret)
{
    if (!one_more(w, '}')) {
        return false;
    }
    if (kube_walk_next(w) != '"') {
        return give_up(w);
    }
    if (!take_text(w, ret)) {
        return false;
    }
    if (kube_walk_next(w) != ':') {
        return give_up(w);
    }
    w->at++;
    return true;
}

/* 'at' is on the quote. Whatever is behind an escape is passed with it, a quote too. */
static bool pass_text(struct kube_walk *w)
{
    MYR_ASSERT(w->at < w->end && *w->at == '"');
    for (w->at++; w->at < w->end; w->at++) {
        if (*w->at == '"') {
            w->at++;
            return true;
        }
        w->at += *w->at == '\\';
    }
    return give_up(w);
}

/* A number, or a word like "null", up to what ends it; what it is is not judged here. */
static bool pass_word(struct kube_walk *w)
{
    static const bool ends[256] = {
        [','] = true,  [']'] = true, ['}'] = true, [' '] = true, ['\n'] = true, ['\t'] = true,
        ['\r'] = true, ['"'] = true, ['['] = true, ['{'] = true, [':'] = true,  ['\0'] = true};
    const char *from = w->at;
    while (w->at < w->end && !ends[(unsigned char)*w->at]) {
        w->at++;
    }
    return w->at > from ? true : give_up(w);
}

/* What is open while a value is passed. */
struct nest {
    uint64_t lists; /* the innermost open bracket is the lowest bit: 1 for a list */
    uint32_t depth;
};

/* A bracket outside of texts; false: it does not fit. */
static bool take_bracket(struct nest *nest, char c)
{
    bool list = c == '[' || c == ']', opens = c == '[' || c == '{';
    if (opens ? nest->depth == DEPTH_MAX : nest->depth == 0 || (nest->lists & 1) != list) {
        return false;
    }
    nest->lists = opens ? nest->lists << 1 | list : nest->lists >> 1;
    nest->depth = opens ? nest->depth + 1 : nest->depth - 1;
    MYR_ASSERT(nest->depth <= DEPTH_MAX);
    return true;
}

#ifdef __SSE2__
/* Bits from each quote that opens a text up to the one that closes it, without that. */
static uint32_t in_texts(uint32_t quotes, bool inside)
{
    uint32_t bits = quotes;
    /*
     * Each quote turns over all bits from it on: the XOR of all below, doubled in reach at each
     * step.
     */
    for (uint32_t shift = 1; shift < BLOCK; shift *= 2) {
        bits ^= bits << shift;
    }
    return (inside ? ~bits : bits) & 0xffff;
}

/*
 * Sixteen bytes at a time, as long as no text begins or ends with escapes in them. 'at' is behind
 * the last bracket that was taken, or where a byte at a time is needed, outside of texts.
 */
static bool pass_blocks(struct kube_walk *w, struct nest *nest)
{
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
    const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}'), low = _mm_set1_epi8(0x20);
    const char *outside = w->at; /* the last place that is in no text */
    bool inside = false;
    while (w->end - w->at >= BLOCK) {
        __m128i block = _mm_loadu_si128((const __m128i *)w->at);
        __m128i folded = _mm_or_si128(block, low); /* '[' is '{' without it */
        uint32_t quotes = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(block, quote));
        uint32_t marks = (uint32_t)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close)));
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(block, escape))) {
            break;
        }
        for (marks &= ~in_texts(quotes, inside); marks; marks &= marks - 1) {
            const char *at = w->at + __builtin_ctz(marks);
            if (!take_bracket(nest, *at)) {
                return give_up(w);
            }
            if (nest->depth == 0) {
                w->at = at + 1;
                return true;
            }
        }
        if (quotes) {
            inside = inside != (__builtin_popcount(quotes) % 2 != 0);
            outside = w->at + 31 - __builtin_clz(quotes); /* where the last text began, or ended */
        }
        w->at += BLOCK;
        outside = inside ? outside : w->at;
    }
    w->at = outside;
    return true;
}
#else
static bool pass_blocks(struct kube_walk *w, struct nest *nest)
{
    (void)w;
    (void)nest;
    return true;
}
#endif

/* The same a byte at a time, texts with escapes too; two blocks of it, or a little more. */
static void pass_bytes(struct kube_walk *w, struct nest *nest)
{
    static const bool marks[256] = {
        ['"'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true};
    const char *from = w->at;
    MYR_ASSERT(w->at <= w->end);
    while (nest->depth > 0 && w->at - from < 2 * BLOCK && !w->bad) {
        while (w->at < w->end && !marks[(unsigned char)*w->at]) {
            w->at++;
        }
        if (w->at < w->end && *w->at == '"') {
            pass_text(w);
        } else if (w->at < w->end && take_bracket(nest, *w->at)) {
            w->at++;
        } else {
            give_up(w);
        }
    }
}

struct myr_str kube_walk_pass(struct kube_walk *w)
{
    char c = kube_walk_next(w);
    const char *from = w->at;
    if (c == '"') {
        pass_text(w);
    } else if (c == '[' || c == '{') {
        struct nest nest = {};
        (void)take_bracket(&nest, c);
        w->at++;
        /* Blocks as far as they go; then a few bytes, behind which blocks may go on. */
        while (nest.depth > 0 && !w->bad) {
            if (pass_blocks(w, &nest)) {
                pass_bytes(w, &nest);
            }
        }
    } else {
        pass_word(w);
    }
    MYR_ASSERT(w->at >= from && w->at <= w->end);
    return (struct myr_str){from, (size_t)(w->at - from)};
}

/* "true", "null", "-12": what else JSON has is seldom, and not looked at here. */
static bool is_plain_word(struct myr_str text)
{
    size_t sign = text.len > 0 && text.data[0] == '-', at = sign;
    if (myr_str_eq(text, MYR_STR("true")) || myr_str_eq(text, MYR_STR("false")) ||
        myr_str_eq(text, MYR_STR("null"))) {
        return true;
    }
    while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9') {
        at++;
    }
    return at == text.len && at > sign && (text.data[sign] != '0' || at == sign + 1);
}

bool kube_walk_text(struct kube_walk *w, struct myr_str *ret)
{
    char c = kube_walk_next(w);
    if (ret->data || c == '{' || c == '[') { /* there twice, or no text */
        return give_up(w);
    }
    if (c == '"') {
        return take_text(w, ret);
    }
    *ret = kube_walk_pass(w);
    if (!is_plain_word(*ret)) {
        return give_up(w);
    }
    /* As empty as what is not there, but taken: it must not come once more. */
    if (myr_str_eq(*ret, MYR_STR("null"))) {
        ret->len = 0;
    }
    return !w->bad;
}
