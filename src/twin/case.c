/*
 * case: a scenario with its seed and the hash of its run, in one file that a person can read. The
 * scenario is a text in the text, so the same reader serves both.
 */
#include "myriad/twin/case.h"

#include "myriad/text/doc.h"
#include "myriad/text/kind.h"

void myr_twin_case_write(const struct myr_scenario *scenario, const struct myr_twin_result *result,
                         struct myr_buf *ret)
{
    myr_buf_printf(ret, "# myriad twin replay runs this again.\nseed: %llu\nhash: %016llx\n",
                   (unsigned long long)result->seed, (unsigned long long)result->hash);
    /* Only where somebody put a fault in. */
    if (result->planted != MYR_PLANTED_NONE) {
        myr_buf_printf(ret, "planted: %d\n", result->planted);
    }
    if (result->violations) { /* a search ends there, a run goes on */
        myr_buf_printf(ret, "broken: %s\n# after %lld ms: %s\n%s", result->first_rule,
                       (long long)result->first_violation_ms, result->first_violation,
                       result->stopped ? "" : "goes_on: true\n");
    }
    myr_buf_puts(ret, "scenario: |\n");
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_scenario_write(scenario, &text);
    bool begins = true;
    for (size_t i = 0; i < text.len; i++) { /* indented: a text in a text */
        myr_buf_puts(ret, begins ? "  " : "");
        myr_buf_putc(ret, text.data[i]);
        begins = text.data[i] == '\n';
    }
}

/* Sixteen digits, small letters, as they are written. */
static bool read_hash(struct myr_str text, uint64_t *ret)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                                : 16;
        if (digit > 15) {
            return false;
        }
        hash = hash << 4 | digit;
    }
    *ret = hash;
    /* All digits, leading zeros too: it is compared as it was printed. */
    return text.len == 16;
}

/* Where the line begins, counted from 1; the end where there is no such line. */
static size_t line_start(struct myr_str text, uint32_t line)
{
    size_t at = 0;
    for (; line > 1 && at < text.len; line--) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        at = end ? (size_t)(end - text.data) + 1 : text.len;
    }
    return at;
}

/*
 * The text in the text, at the place where it stands: with as many lines before it and as many
 * spaces in front, so that what is wrong in it is told with its line and column in the file. As it
 * is where it is no block, or holds what means something else behind spaces.
 */
static struct myr_str at_its_place(struct myr_arena *arena, struct myr_str file,
                                   const struct myr_doc *block)
{
    /* The bar that begins the block; what comes behind it is indented. */
    size_t bar = line_start(file, block->line) + block->column - 1;
    size_t at = line_start(file, block->line + 1), indent = 0;
    while (at + indent < file.len && file.data[at + indent] == ' ') {
        indent++;
    }
    if (bar >= file.len || file.data[bar] != '|') {
        return block->text;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf placed = {};
    /* As many lines as stand before it in the file. */
    for (uint32_t i = 0; i < block->line; i++) {
        myr_buf_putc(&placed, '\n');
    }
    bool begins = true;
    for (size_t i = 0; i < block->text.len; i++) {
        char c = block->text.data[i];
        if (begins && (c == '%' || c == '-' || c == '.' || c == '\t')) { /* may mark a document */
            return block->text;
        }
        for (size_t k = 0; begins && c != '\n' && k < indent; k++) {
            myr_buf_putc(&placed, ' ');
        }
        myr_buf_putc(&placed, c);
        begins = c == '\n';
    }
    return (struct myr_str){myr_arena_strndup(arena, placed.data, placed.len), placed.len};
}

int myr_twin_case_parse(struct myr_twin_case *ret, struct myr_arena *arena, const char *file,
                        struct myr_str text, struct myr_err *err)
{
    static const char *const keys[] = {"seed", "hash", "planted", "broken", "goes_on", "scenario"};
    const struct myr_doc *doc, *seed, *hash, *scenario, *planted;
    struct myr_str words;
    uint64_t number = 0;
    *ret = (struct myr_twin_case){};
    int rc = myr_doc_read_yaml(arena, file, text, &doc, err);
    if (rc < 0 || (rc = myr_doc_expect(doc, MYR_DOC_MAP, "case", err)) < 0 ||
        (rc = myr_doc_check_keys(doc, NULL, keys, MYR_ARRAY_COUNT(keys), err)) < 0 ||
        (rc = myr_doc_need(doc, "case", "seed", &seed, err)) < 0 ||
        (rc = myr_doc_need(doc, "case", "hash", &hash, err)) < 0 ||
        (rc = myr_doc_need(doc, "case", "scenario", &scenario, err)) < 0 ||
        (rc = myr_doc_u64(seed, "seed", 0, UINT64_MAX, &ret->seed, err)) < 0) {
        return rc;
    }
    bool goes_on = false;
    /* Written only where the run went on. */
    const struct myr_doc *word = myr_doc_get(doc, "goes_on");
    if (word && (rc = myr_doc_bool(word, "goes_on", &goes_on, err)) < 0) {
        return rc;
    }
    /* A case that broke a rule stopped there, unless it says otherwise. */
    ret->stops = myr_doc_get(doc, "broken") && !goes_on;
    planted = myr_doc_get(doc, "planted");
    if (planted) {
        rc = myr_doc_u64(planted, "planted", 0, MYR_PLANTED_COUNT - 1, &number, err);
        ret->planted = (enum myr_planted)number;
    }
    if (rc < 0) {
        return rc;
    }
    if (hash->kind != MYR_DOC_SCALAR || !read_hash(hash->text, &ret->hash)) {
        return myr_doc_error(err, hash, MYR_EINVAL, "'hash' has no 16 digits from 0 to f");
    }
    if (scenario->kind != MYR_DOC_SCALAR) {
        return myr_doc_error(err, scenario, MYR_EINVAL, "'scenario' is no text");
    }
    words = at_its_place(arena, text, scenario);
    return myr_scenario_parse(&ret->scenario, arena, file, words, err);
}

int myr_twin_case_read(struct myr_twin_case *ret, struct myr_arena *arena, const char *path,
                       struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    *ret = (struct myr_twin_case){};
    int rc = myr_kind_read(path, MYR_DOC_BYTES_MAX, MYR_KINDS_DOC(CASE), "a case of the twin",
                           &text, err);
    if (rc < 0) {
        return rc;
    }
    /* The scenario points into the text, so it lives in the arena. */
    struct myr_str kept = {myr_arena_strndup(arena, text.data ? text.data : "", text.len),
                           text.len};
    return myr_twin_case_parse(ret, arena, myr_file_name(path), kept, err);
}

void myr_twin_case_done(struct myr_twin_case *it)
{
    myr_scenario_done(&it->scenario);
}

int myr_twin_replay(const struct myr_twin_case *it,
                    void (*progress)(void *context, int64_t now_ms, int64_t length_ms),
                    void *context, struct myr_twin_result *ret, struct myr_err *err)
{
    struct myr_twin_options options = {.seed = it->seed,
                                       .planted = it->planted,
                                       .stop_at_violation = it->stops,
                                       .progress = progress,
                                       .context = context};
    return myr_twin_run(&it->scenario, &options, ret, err);
}
