/* The look at a file's kind: a known kind, words that are one line, and one clear complaint. */
#include "fuzz.h"
#include "myriad/text/kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_str text = {(const char *)data, size};
    char words[MYR_KIND_WORDS_MAX];
    struct myr_err err;
    enum myr_kind kind = myr_kind_of(text);
    MYR_ASSERT(kind < MYR_KIND_COUNT);
    myr_kind_words(text, words);
    fuzz_note("%d %s", (int)kind, words);
    MYR_ASSERT(words[0] && strlen(words) < sizeof(words));
    MYR_ASSERT(myr_kind_check("fuzz", text, 1U << kind, "it", &err) == MYR_OK);
    int rc = myr_kind_check("fuzz", text, 0, "it", &err);
    MYR_ASSERT((rc == MYR_OK) == (kind == MYR_KIND_TEXT));
    if (rc < 0) {
        fuzz_check_error(&err, rc, "fuzz");
    }
    return 0;
}
