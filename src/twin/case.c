#include "myriad/twin/case.h"

#include "myriad/text/doc.h"

void myr_twin_case_write(const struct myr_scenario *scenario, const struct myr_twin_result *result,
                         struct myr_buf *ret)
{
    myr_buf_printf(ret, "# myriad twin replay runs this again.\nseed: %llu\nhash: %016llx\n",
                   (unsigned long long)result->seed, (unsigned long long)result->hash);
    if (result->planted != MYR_PLANTED_NONE) {
        myr_buf_printf(ret, "planted: %d\n", result->planted);
    }
    if (result->violations) { /* then the run ended there */
        myr_buf_printf(ret, "broken: %s\n# after %lld ms: %s\n", result->first_rule,
                       (long long)result->first_violation_ms, result->first_violation);
    }
    myr_buf_puts(ret, "scenario: |\n");
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    myr_scenario_write(scenario, &text);
    bool begins = true;
    for (size_t i = 0; i < text.len; i++) { /* indented: a text in a text */
        myr_buf_puts(ret, begins ? "  " : "");
        myr_buf_putc(ret, text.data[i]);
        begins = text.data[i] == '\n';
    }
}

static bool read_hash(struct myr_str text, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                                : 16;
        if (digit > 15) {
            return false;
        }
        *ret = *ret << 4 | digit;
    }
    return text.len == 16;
}

int myr_twin_case_parse(struct myr_twin_case *ret, struct myr_arena *arena, const char *file,
                        struct myr_str text, struct myr_err *err)
{
    static const char *const keys[] = {"seed", "hash", "planted", "broken", "scenario"};
    const struct myr_doc *doc, *seed, *hash, *scenario, *planted;
    struct myr_str words;
    uint64_t number = 0;
    *ret = (struct myr_twin_case){0};
    int rc = myr_doc_read_yaml(arena, file, text, &doc, err);
    if (rc < 0 || (rc = myr_doc_expect(doc, MYR_DOC_MAP, "case", err)) < 0 ||
        (rc = myr_doc_check_keys(doc, NULL, keys, MYR_ARRAY_COUNT(keys), err)) < 0 ||
        (rc = myr_doc_need(doc, "case", "seed", &seed, err)) < 0 ||
        (rc = myr_doc_need(doc, "case", "hash", &hash, err)) < 0 ||
        (rc = myr_doc_need(doc, "case", "scenario", &scenario, err)) < 0 ||
        (rc = myr_doc_u64(seed, "seed", 0, UINT64_MAX, &ret->seed, err)) < 0) {
        return rc;
    }
    ret->broken = myr_doc_get(doc, "broken") != NULL;
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
    words = scenario->text;
    return myr_scenario_parse(&ret->scenario, arena, file, words, err);
}

int myr_twin_case_read(struct myr_twin_case *ret, struct myr_arena *arena, const char *path,
                       struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {0};
    *ret = (struct myr_twin_case){0};
    int rc = myr_file_read(path, MYR_DOC_BYTES_MAX, &text, err);
    if (rc < 0) {
        return rc;
    }
    struct myr_str kept = {myr_arena_strndup(arena, text.data ? text.data : "", text.len),
                           text.len};
    return myr_twin_case_parse(ret, arena, path, kept, err);
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
                                       .stop_at_violation = it->broken,
                                       .progress = progress,
                                       .context = context};
    return myr_twin_run(&it->scenario, &options, ret, err);
}
