/* words: spellings that tables have for one thing. What is in no list is told, never guessed. */
#include "measure/words.h"

#include "myriad/work.h"

struct myr_str fit_word_trim(struct myr_str text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

bool fit_word_is(struct myr_str text, const char *word)
{
    return myr_str_eq_nocase(text, myr_str_from(word));
}

bool fit_word_has(struct myr_str text, const char *word)
{
    struct myr_str wanted = myr_str_from(word);
    for (size_t i = 0; i + wanted.len <= text.len; i++) {
        if (myr_str_eq_nocase((struct myr_str){text.data + i, wanted.len}, wanted)) {
            return true;
        }
    }
    return false;
}

/* Case does not matter in any of these. */
static bool is_any(struct myr_str text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fit_word_is(text, words[i])) {
            return true;
        }
    }
    return false;
}

static bool has_any(struct myr_str text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fit_word_has(text, words[i])) {
            return true;
        }
    }
    return false;
}

/* Lists stand where they are used: is the text one of them, does it hold one of them? */
#define IS_ANY(text, ...)                            \
    is_any(text, (const char *const[]){__VA_ARGS__}, \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define HAS_ANY(text, ...)                            \
    has_any(text, (const char *const[]){__VA_ARGS__}, \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

bool fit_word_yes(struct myr_str text)
{
    return IS_ANY(text, "1", "1.0", "true", "yes", "on");
}

bool fit_word_no(struct myr_str text)
{
    return IS_ANY(text, "0", "0.0", "false", "no", "off", "none");
}

/* "recipe" is what publishers write for a value that stands in a file elsewhere. */
bool fit_word_open(struct myr_str text)
{
    return text.len == 0 ||
           IS_ANY(text, "?", "recipe", "nan", "n/a", "na", "null", "-", "auto", "unknown", "open");
}

/* Between groups of three digits; a point is the decimal one. */
static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '_';
}

bool fit_word_whole(struct myr_str text, uint64_t *ret)
{
    double value;
    char digits[32];
    size_t count = 0, since = 0;
    bool grouped = false;
    if (myr_str_to_u64(text, ret)) {
        return true;
    }
    /* "8.0" is whole, "8.5" is not; beyond 9e15 doubles cannot tell whole numbers apart. */
    if (myr_str_to_double(text, &value)) {
        *ret = value >= 0 && value < 9e15 ? (uint64_t)value : 0;
        return value >= 0 && value < 9e15 && (double)*ret == value;
    }
    /* Groups of three digits, the first one shorter: anything else is two numbers, not one. */
    for (size_t i = 0; i < text.len && count < sizeof(digits); i++) {
        if (is_separator(text.data[i])) {
            if (since == 0 || since > 3 || (grouped && since != 3)) {
                return false;
            }
            grouped = true;
            since = 0;
        } else {
            digits[count++] = text.data[i];
            since++;
        }
    }
    return grouped && since == 3 && count < sizeof(digits) &&
           myr_str_to_u64((struct myr_str){digits, count}, ret);
}

bool fit_word_precision(struct myr_str text, enum myr_precision *ret)
{
    *ret = MYR_PRECISION_BF16;
    /* From the special to the general: "mxfp8" holds "fp8". */
    if (fit_word_has(text, "fp4")) {
        *ret = MYR_PRECISION_NVFP4;
    } else if (fit_word_has(text, "mx")) {
        *ret = MYR_PRECISION_MXFP8;
    } else if (HAS_ANY(text, "fp8", "e4m3", "float8", "f8")) {
        *ret = MYR_PRECISION_FP8;
    } else if (HAS_ANY(text, "bf16", "bfloat")) {
        *ret = MYR_PRECISION_BF16;
    } else if (HAS_ANY(text, "fp16", "float16", "half")) {
        *ret = MYR_PRECISION_FP16;
    } else if (HAS_ANY(text, "fp32", "tf32", "float32")) {
        *ret = MYR_PRECISION_FP32;
    } else {
        return false;
    }
    return true;
}

bool fit_word_zero(struct myr_str text, uint32_t *ret, bool *ret_hybrid)
{
    /* The first row that matches counts: "fsdp zero2" is ZeRO-2. "dist": distributed optimizer. */
    static const struct {
        uint32_t stage;
        bool whole; /* the text is the word, else it holds it */
        const char *words[9];
    } rows[] = {
        {3, false, {"zero3", "zero-3", "zero 3", "stage3", "stage-3"}},
        {3, true, {"3"}},
        {2, false, {"zero2", "zero-2", "zero 2", "stage2", "stage-2", "shard_grad_op"}},
        {2, true, {"2"}},
        {1, false, {"zero1", "zero-1", "zero 1", "stage1", "stage-1", "dist"}},
        {1, true, {"1"}},
        {0, true, {"none", "no", "ddp", "dp", "0", "zero0", "zero-0", "no_shard"}},
        {3, false, {"fsdp", "full_shard", "hsdp", "hybrid_shard"}},
    };
    *ret = 1;
    *ret_hybrid = HAS_ANY(text, "hsdp", "hybrid");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        for (size_t w = 0; rows[i].words[w]; w++) {
            const char *word = rows[i].words[w];
            if (rows[i].whole ? fit_word_is(text, word) : fit_word_has(text, word)) {
                *ret = rows[i].stage;
                return true;
            }
        }
    }
    return false;
}

/* A text that holds both "none" and "full" says neither: it is left to the recipe. */
bool fit_word_recompute(struct myr_str text, enum myr_recompute *ret)
{
    *ret = MYR_RECOMPUTE_NONE;
    if (fit_word_is(text, "full") || (fit_word_has(text, "full") && !fit_word_has(text, "none")) ||
        fit_word_yes(text)) {
        *ret = MYR_RECOMPUTE_FULL;
    } else if (fit_word_is(text, "selective") || HAS_ANY(text, "mla_up", "core_attn")) {
        *ret = MYR_RECOMPUTE_SELECTIVE;
    } else {
        return fit_word_no(text);
    }
    return true;
}

/* A number behind a word: 40 of "layers:40"; 0 when there is none. */
uint32_t fit_word_behind(struct myr_str text, const char *word)
{
    size_t len = strlen(word);
    uint64_t value = 0;
    /* The word must open the text, and nothing but the number may follow. */
    bool there = text.len > len &&
                 myr_str_eq_nocase((struct myr_str){text.data, len}, (struct myr_str){word, len});
    bool whole = there && myr_str_to_u64((struct myr_str){text.data + len, text.len - len}, &value);
    return whole && value <= MYR_MODEL_LAYERS_MAX ? (uint32_t)value : 0;
}
