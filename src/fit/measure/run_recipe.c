/*
 * run_recipe: what a row says of its recipe, in the words of tables; capabilities that it does not
 * name are left to the rules of the profile.
 */
#include "measure/run_recipe.h"

#include "measure/words.h"

#define LIST_MAX 128 /* of a list's text; the longest that means something is half of it */

/* Those whose words are yes and no, in all their spellings. */
static bool is_flag(enum myr_capability one)
{
    return one == MYR_CAPABILITY_TENSOR_OVERLAP || one == MYR_CAPABILITY_EXPERT_OVERLAP ||
           one == MYR_CAPABILITY_TOKEN_DROP || one == MYR_CAPABILITY_COMPILE;
}

/* "layernorm; moe_act", "layernorm,moe_act" and "layernorm+moe_act" name the same parts. */
static struct myr_str as_list(struct myr_str text, char ret[LIST_MAX])
{
    size_t len = 0;
    bool parted = true;
    for (size_t i = 0; i < text.len && len + 1 < LIST_MAX; i++) {
        char c = text.data[i];
        bool between = c == ';' || c == ',' || c == '+' || c == '|' || c == ' ' || c == '\t';
        if (!between || !parted) {
            ret[len++] = between ? ';' : c;
        }
        parted = between;
    }
    len -= len > 0 && ret[len - 1] == ';';
    return (struct myr_str){ret, len};
}

/* Other names that trainers and papers have for the same. */
static struct myr_str usual_word(enum myr_capability one, struct myr_str word)
{
    static const struct {
        enum myr_capability capability;
        const char *other, *usual;
    } rows[] = {{MYR_CAPABILITY_DISPATCHER, "all-to-all", "alltoall"},
                {MYR_CAPABILITY_DISPATCHER, "deepep", "flex-deepep"},
                {MYR_CAPABILITY_DISPATCHER, "hybridep", "flex-hybridep"},
                {MYR_CAPABILITY_GRAPHS, "full_iteration", "full"},
                {MYR_CAPABILITY_SCALES, "tensorwise", "current"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (rows[i].capability == one && fit_word_is(word, rows[i].other)) {
            return myr_str_from(rows[i].usual);
        }
    }
    return word;
}

/* Dense models have no dispatcher and bf16 no scales: "none" says no more than nothing does. */
static bool says_nothing(enum myr_capability one, struct myr_str word)
{
    bool none = one == MYR_CAPABILITY_DISPATCHER || one == MYR_CAPABILITY_SCALES;
    return fit_word_open(word) || (none && fit_word_is(word, "none"));
}

/* False: the word means nothing here, and the row is refused by it. */
static bool read_word(enum myr_capability one, struct myr_str word, uint8_t *ret)
{
    char list[LIST_MAX];
    if (is_flag(one)) {
        *ret = fit_word_yes(word);
        return *ret || fit_word_no(word);
    }
    /* Whole layers are the layout's, which reads them; here it is only whether it can. */
    if (one == MYR_CAPABILITY_PARTS && fit_word_has(word, "full")) {
        return fit_word_is(word, "full") || fit_word_behind(word, "full:") > 0;
    }
    if (one == MYR_CAPABILITY_PARTS || one == MYR_CAPABILITY_GRAPHS) {
        word = as_list(word, list);
    }
    return myr_capability_read(one, usual_word(one, word), ret);
}

/* What tables have no column for stands in their notes; a column that is there counts more. */
static void read_note(struct myr_str note, struct myr_stated *ret)
{
    static const struct {
        const char *words;
        enum myr_capability capability;
        uint8_t value;
    } rows[] = {{"rowwise", MYR_CAPABILITY_SCALES, MYR_SCALES_ROWS},
                {"tokendrop", MYR_CAPABILITY_TOKEN_DROP, 1},
                {"token drop", MYR_CAPABILITY_TOKEN_DROP, 1},
                {"dropless", MYR_CAPABILITY_TOKEN_DROP, 0},
                {"asynctp", MYR_CAPABILITY_TENSOR_OVERLAP, 1},
                {"plain tp", MYR_CAPABILITY_TENSOR_OVERLAP, 0},
                {"no torch.compile", MYR_CAPABILITY_COMPILE, 0},
                {"torch.compile", MYR_CAPABILITY_COMPILE, 1}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint32_t bit = 1U << rows[i].capability;
        if (!(ret->set & bit) && fit_word_has(note, rows[i].words)) {
            ret->set |= bit;
            ret->recipe.of[rows[i].capability] = rows[i].value;
        }
    }
}

/* "layers:40", "40"; single modules ("fine:moe_act") have no term, and the answer says so. */
static bool read_offload(struct myr_str word, struct myr_run *run)
{
    uint64_t layers = 0;
    bool fine = fit_word_has(word, "fine:");
    if (fit_word_open(word) || fit_word_no(word)) {
        return true;
    }
    run->guessed |= fine ? MYR_RUN_GUESSED_OFFLOAD : 0;
    if (!fine && !fit_word_whole(word, &layers)) {
        layers = fit_word_behind(word, "layers:");
    }
    run->offload_layers = layers <= MYR_MODEL_LAYERS_MAX ? (uint32_t)layers : 0;
    return fine || run->offload_layers > 0;
}

/* NULL, or why the row is refused. */
const char *fit_run_recipe(struct myr_arena *arena, const struct fit_recipe_fields *fields,
                           struct myr_run *run)
{
    char excerpt[MYR_EXCERPT_MAX];
    for (uint32_t i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        enum myr_capability one = (enum myr_capability)i;
        struct myr_str word = fields->of[i];
        uint8_t value = 0;
        if (says_nothing(one, word)) {
            continue;
        }
        if (!read_word(one, word, &value)) {
            return myr_arena_printf(arena, "%s '%s' is no word for it", myr_capability_name(one),
                                    myr_text_excerpt(word, excerpt));
        }
        if (one == MYR_CAPABILITY_PARTS && fit_word_has(word, "full")) {
            continue; /* the rules may still name parts for the layers that are kept */
        }
        run->stated.set |= 1U << i;
        run->stated.recipe.of[i] = value;
    }
    read_note(fields->note, &run->stated);
    if (!read_offload(fields->offload, run)) {
        return myr_arena_printf(arena, "cpu_offload '%s' is no word for it",
                                myr_text_excerpt(fields->offload, excerpt));
    }
    return NULL;
}
