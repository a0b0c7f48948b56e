/*
 * Words about a training run, and a user's own profile: --recipe, the layouts of 'fit why', and
 * the lists of --profile. Any text gives one printable line, or what was read is sound: a recipe
 * reads back from its own words, a layout that the rules let pass has a price, a profile's stacks
 * still answer. The first byte chooses the reader.
 */
#include "fuzz_fit.h"

static void check_line(const struct myr_err *err, int rc)
{
    fuzz_note_error(err);
    MYR_ASSERT(rc < 0 && err->message[0]);
    MYR_ASSERT(!strchr(err->message, '\n'));
}

static void try_recipe(const char *text)
{
    struct myr_stated stated = {};
    struct myr_err err = {};
    int rc = myr_recipe_words("--recipe", text, &stated, &err);
    if (rc < 0) {
        check_line(&err, rc);
        return;
    }
    for (int i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        char word[64];
        uint8_t value = 0;
        if (!(stated.set >> i & 1)) {
            continue;
        }
        enum myr_capability capability = (enum myr_capability)i;
        const char *said = myr_capability_word(capability, stated.recipe.of[i], word);
        fuzz_note("%s", said);
        MYR_ASSERT(myr_capability_read(capability, myr_str_from(said), &value));
        MYR_ASSERT(value == stated.recipe.of[i]);
    }
}

static void try_why(const char *text)
{
    struct myr_arena arena;
    struct myr_case_question q = myr_case_question_default();
    struct myr_case *it;
    struct myr_fit_why why;
    struct myr_err err = {};
    const char *const texts[2] = {"tp=2,pp=2", text};
    if (!strchr(text, '=') || strchr(text, '/')) {
        return; /* a file's name: read by another fuzzer */
    }
    myr_arena_init(&arena);
    it = MYR_ARENA_ONE(&arena, struct myr_case);
    q.model = "llama3-8b";
    q.device = "h100";
    q.gpus = 16;
    q.batch = 32;
    MYR_ASSERT(myr_case_init(it, &arena, &q, &err) == MYR_OK);
    int rc = myr_fit_why_of(it, texts, &arena, &why, &err);
    if (rc < 0) {
        check_line(&err, rc);
    } else {
        fuzz_note("%.6g s, %.6g to %.6g", why.prices[1].cost.step_s, why.prices[1].low_s,
                  why.prices[1].high_s);
        MYR_ASSERT(why.prices[1].cost.step_s > 0);
        MYR_ASSERT(why.prices[1].low_s < why.prices[1].high_s);
    }
    myr_case_done(it);
    myr_arena_done(&arena);
}

static void try_profile(struct myr_str text)
{
    struct myr_arena arena;
    const struct myr_doc *doc;
    const struct myr_stack *stack;
    struct myr_profiles own = *fuzz_profiles();
    struct myr_err err = {};
    bool exact;
    myr_arena_init(&arena);
    int rc = myr_doc_read_yaml(&arena, "own.yaml", text, &doc, &err);
    rc = rc < 0 ? rc : myr_profiles_parse(&own, doc, &err);
    rc = rc < 0 ? rc : myr_profiles_extend(&own, &arena, doc, &err);
    if (rc < 0) {
        check_line(&err, rc);
    } else {
        MYR_ASSERT(own.stack_count >= fuzz_profiles()->stack_count);
        MYR_ASSERT(myr_profiles_stack(&own, MYR_STR("NeMo 25.05"), &stack, &exact, &err) == MYR_OK);
    }
    myr_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[513];
    if (size < 1 || size > sizeof(text)) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 3) {
    case 0:
        try_recipe(text);
        break;
    case 1:
        try_why(text);
        break;
    default:
        try_profile((struct myr_str){text, size - 1});
        break;
    }
    return 0;
}
