/*
 * recipe: what a run switches on. A capability has a list of words; its value is the place of a
 * word in it. Rules of the profile are gone through in order, later ones override; what somebody
 * states comes last.
 */
#include "cost/recipe.h"

#define SHAPES_MAX 128 /* of built-in models that rules may name */

/* The words with commas between them; empty for the parts of a layer, which are bits. */
static const struct {
    const char *name, *words;
} capabilities[] = {
#define CAPABILITY_ROW(name, text, words) {text, words},
    MYR_CAPABILITIES(CAPABILITY_ROW)
#undef CAPABILITY_ROW
};

const char *myr_capability_name(enum myr_capability capability)
{
    MYR_ASSERT(capability < MYR_CAPABILITY_COUNT);
    return capabilities[capability].name;
}

/* The next of some words, up to a separator; an empty one at the end. */
static struct myr_str next_word(struct myr_str *rest, char separator)
{
    size_t len = 0;
    while (len < rest->len && rest->data[len] != separator) {
        len++;
    }
    struct myr_str word = {rest->data, len};
    len += len < rest->len;
    *rest = (struct myr_str){rest->data + len, rest->len - len};
    return word;
}

/* A value in words; of parts all names with ';' between them. 'ret' holds it where it is made. */
const char *myr_capability_word(enum myr_capability capability, uint32_t value, char ret[64])
{
    struct myr_str rest = myr_str_from(capabilities[capability].words), word = {"", 0};
    size_t at = 0;
    ret[0] = 0;
    if (capability == MYR_CAPABILITY_PARTS) {
        for (uint32_t i = 0; i < MYR_AGAIN_COUNT; i++) {
            if (value >> i & 1) {
                const char *name = myr_again_name((enum myr_again)i);
                at += (size_t)snprintf(ret + at, 64 - at, "%s%s", at ? ";" : "", name);
            }
        }
        return at ? ret : "none";
    }
    /* The word at the place of the value. */
    for (uint32_t i = 0; i <= value; i++) {
        word = next_word(&rest, ',');
    }
    (void)snprintf(ret, 64, "%.*s", (int)word.len, word.data);
    return ret;
}

/* What is expected, where a word is none of them. */
static const char *words_of(uint32_t capability)
{
    return capabilities[capability].words[0]
               ? capabilities[capability].words
               : "core_attn, mlp, moe_act, mla_up_proj, layernorm, act or none";
}

/* "none" is no bit; '*ret' changes only if every word is known. */
static bool read_parts(struct myr_str word, uint8_t *ret)
{
    uint8_t bits = 0;
    bool known = true;
    while (known && word.len > 0) {
        struct myr_str part = next_word(&word, ';');
        known = myr_str_eq_nocase(part, MYR_STR("none"));
        for (uint32_t i = 0; i < MYR_AGAIN_COUNT; i++) {
            if (myr_str_eq_nocase(part, myr_str_from(myr_again_name((enum myr_again)i)))) {
                bits |= (uint8_t)(1U << i);
                known = true;
            }
        }
    }
    *ret = known ? bits : *ret;
    return known;
}

/* False for a word that means nothing; '*ret' stays then. */
bool myr_capability_read(enum myr_capability capability, struct myr_str word, uint8_t *ret)
{
    struct myr_str rest = myr_str_from(capabilities[capability].words);
    if (capability == MYR_CAPABILITY_PARTS) {
        return read_parts(word, ret);
    }
    for (uint8_t i = 0; rest.len > 0; i++) {
        if (myr_str_eq_nocase(next_word(&rest, ','), word)) {
            *ret = i;
            return true;
        }
    }
    /* Trainers name the parts that they capture. */
    static const char *const captured[] = {"attn", "moe_router", "moe_preprocess", "mlp", "mamba"};
    /* Without attention among them only the router's surroundings are captured. */
    bool parts = capability == MYR_CAPABILITY_GRAPHS && word.len > 0, attention = false;
    while (parts && word.len > 0) {
        struct myr_str part = next_word(&word, ';');
        parts = false;
        for (size_t i = 0; i < MYR_ARRAY_COUNT(captured); i++) {
            parts = parts || myr_str_eq_nocase(part, myr_str_from(captured[i]));
        }
        attention = attention || myr_str_eq_nocase(part, myr_str_from(captured[0]));
    }
    *ret = parts ? (attention ? MYR_GRAPHS_PARTS : MYR_GRAPHS_ROUTER) : *ret;
    return parts;
}

/* The bit says that the value was given, which may be 0. */
static void state(struct myr_stated *stated, enum myr_capability capability, uint8_t value)
{
    stated->set |= 1U << capability;
    stated->recipe.of[capability] = value;
}

static void hint_capabilities(struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    for (uint32_t i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        myr_buf_printf(&list, " %s", capabilities[i].name);
    }
    myr_err_hint(err, "known:%s", list.data);
}

/* "cuda_graphs=full,tp_overlap=1", all of it or nothing; 'name' is the option it came from. */
int myr_recipe_words(const char *name, const char *text, struct myr_stated *ret,
                     struct myr_err *err)
{
    struct myr_str rest = myr_str_from(text);
    struct myr_stated stated = {};
    char excerpt[MYR_EXCERPT_MAX];
    while (rest.len > 0) {
        struct myr_str pair = next_word(&rest, ','), value = pair;
        if (myr_str_eq_nocase(pair, MYR_STR("any"))) {
            stated.any = true;
            continue;
        }
        struct myr_str key = next_word(&value, '=');
        uint32_t i = 0;
        /* By name, whatever the case. */
        while (i < MYR_CAPABILITY_COUNT &&
               !myr_str_eq_nocase(key, myr_str_from(capabilities[i].name))) {
            i++;
        }
        uint8_t number = 0;
        if (i == MYR_CAPABILITY_COUNT) {
            int rc = myr_err_set(err, MYR_EINVAL, "%s: no capability is named '%s'", name,
                                 myr_text_excerpt(key, excerpt));
            hint_capabilities(err);
            return rc;
        }
        if (!myr_capability_read((enum myr_capability)i, value, &number)) {
            return myr_err_set(err, MYR_EINVAL, "%s: %s '%s', expected %s", name,
                               capabilities[i].name, myr_text_excerpt(value, excerpt), words_of(i));
        }
        /* Which of two was meant cannot be known. */
        if (stated.set & 1U << i) {
            return myr_err_set(err, MYR_EINVAL, "%s: %s is given twice, once is expected", name,
                               capabilities[i].name);
        }
        state(&stated, (enum myr_capability)i, number);
    }
    *ret = stated;
    return MYR_OK;
}

/* Keys of a release or of a rule; others of the map are read elsewhere. */
int fit_recipe_read(const struct myr_doc *map, struct myr_stated *ret, struct myr_err *err)
{
    char digits[24], excerpt[MYR_EXCERPT_MAX];
    for (uint32_t i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        const struct myr_doc *node = myr_doc_get(map, capabilities[i].name);
        struct myr_str word = {digits, 0};
        uint8_t value = 0;
        if (!node) {
            continue;
        }
        if (capabilities[i].words[0] == '0') { /* a number to YAML */
            uint64_t number;
            MYR_TRY(myr_doc_u64(node, capabilities[i].name, 0, 1, &number, err));
            word.len = (size_t)snprintf(digits, sizeof(digits), "%u", (unsigned)number);
        } else {
            MYR_TRY(myr_doc_text(node, capabilities[i].name, &word, err));
        }
        if (!myr_capability_read((enum myr_capability)i, word, &value)) {
            return myr_doc_error(err, node, MYR_EINVAL, "%s '%s', expected %s",
                                 capabilities[i].name, myr_text_excerpt(word, excerpt),
                                 words_of(i));
        }
        state(ret, (enum myr_capability)i, value);
    }
    return MYR_OK;
}

/* A list of names, as bits of the table that they are from. */
static int read_bits(const struct myr_doc *map, const char *key, const char *const *names,
                     uint32_t count, uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *list = myr_doc_get(map, key);
    /* No list is no condition: all bits. */
    *ret = list ? 0 : UINT32_MAX;
    MYR_TRY(list ? myr_doc_expect(list, MYR_DOC_LIST, key, err) : MYR_OK);
    for (uint32_t i = 0; list && i < list->count; i++) {
        uint32_t at = 0;
        MYR_TRY(myr_doc_choice(list->items[i], key, names, count, &at, err));
        *ret |= 1U << at;
    }
    return MYR_OK;
}

/* Releases are compared as numbers (release_order() of profile.c). */
static int read_release(const struct myr_doc *map, const char *key, double otherwise, double *ret,
                        struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    *ret = otherwise;
    return node ? myr_doc_double(node, key, 0, 1e6, ret, err) : MYR_OK;
}

/* Yes, no, or nothing said. */
static int read_either(const struct myr_doc *map, const char *key, int *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    bool with = false;
    MYR_TRY(node ? myr_doc_bool(node, key, &with, err) : MYR_OK);
    *ret = node ? with : -1;
    return MYR_OK;
}

/* Conditions and what they set. "from" counts, "before" does not: releases are half-open ranges. */
int fit_rule_read(const struct myr_profiles *profiles, struct myr_arena *arena,
                  const struct myr_doc *map, struct myr_recipe_rule *ret, struct myr_err *err)
{
    static const char *const precisions[] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"};
    const char *devices[32];
    struct myr_recipe_rule rule = {.experts = -1};
    const struct myr_doc *line;
    struct myr_str name;
    /* A rule has 32 bits for devices; one beyond them is matched only by rules without a list. */
    uint32_t count = profiles->device_count < 32 ? profiles->device_count : 32;
    for (uint32_t i = 0; i < count; i++) {
        devices[i] = profiles->devices[i].name;
    }
    MYR_TRY(myr_doc_need(map, "a rule", "line", &line, err));
    MYR_TRY(myr_doc_text(line, "line", &name, err));
    rule.line = myr_arena_strndup(arena, name.data, name.len);
    MYR_TRY(read_release(map, "from", 0, &rule.from, err));
    MYR_TRY(read_release(map, "before", 1e9, &rule.to, err));
    MYR_TRY(read_bits(map, "devices", devices, count, &rule.devices, err));
    MYR_TRY(read_bits(map, "precisions", precisions, MYR_ARRAY_COUNT(precisions), &rule.precisions,
                      err));
    MYR_TRY(read_either(map, "experts", &rule.experts, err));
    MYR_TRY(read_either(map, "latent", &rule.latent, err));
    MYR_TRY(read_either(map, "named", &rule.named, err));
    /* Kept as it stands: names are compared when a model is there. */
    rule.models = myr_doc_get(map, "models");
    MYR_TRY(rule.models ? myr_doc_expect(rule.models, MYR_DOC_LIST, "models", err) : MYR_OK);
    MYR_TRY(fit_recipe_read(map, &rule.sets, err));
    *ret = rule;
    return MYR_OK;
}

/* What the rules ask of models; each shape is compared once. */
struct asked {
    const struct myr_model *model;
    uint8_t like[SHAPES_MAX]; /* by built-in model: 0 not asked yet, 1 no, 2 yes */
};

/*
 * A name stands for the shape of its layers: whoever calls them otherwise runs them all the same.
 * One that the catalogue lacks is the model's own.
 */
static bool is_called(struct asked *asked, struct myr_str name)
{
    int at = myr_model_builtin_index(name);
    const char *own = asked->model->name ? asked->model->name : "";
    if (at < 0 || at >= SHAPES_MAX) {
        return myr_str_eq_nocase(name, myr_str_from(own));
    }
    if (asked->like[at] == 0) {
        asked->like[at] = myr_model_is_like(asked->model, (uint32_t)at) ? 2 : 1;
    }
    return asked->like[at] == 2;
}

/* No list fits every model. */
static bool names_model(struct asked *asked, const struct myr_doc *models)
{
    for (uint32_t i = 0; models && i < models->count; i++) {
        struct myr_str one;
        if (myr_doc_text(models->items[i], "models", &one, NULL) == MYR_OK &&
            is_called(asked, one)) {
            return true;
        }
    }
    return models == NULL;
}

/* Is there a rule of the line for just this model? */
static bool is_named(const struct myr_profiles *profiles, const struct myr_stack *stack,
                     struct asked *asked)
{
    for (uint32_t i = 0; i < profiles->rule_count; i++) {
        const struct myr_recipe_rule *rule = &profiles->rules[i];
        if (rule->models && strcmp(rule->line, stack->line) == 0 &&
            names_model(asked, rule->models)) {
            return true;
        }
    }
    return false;
}

/*
 * The place in the list whose rules a device follows: its own, or for one that is not shipped that
 * of its kind (generation, width of the scale-up domain) with the nearest memory.
 */
static uint32_t device_place(const struct myr_profiles *profiles, const struct myr_device *device)
{
    uint32_t at = (uint32_t)(device - profiles->devices), best = at;
    double least = 1e300;
    for (uint32_t i = 0; at >= profiles->shipped_count && i < profiles->shipped_count; i++) {
        const struct myr_device *other = &profiles->devices[i];
        double apart = device->memory_bytes - other->memory_bytes;
        apart = apart < 0 ? -apart : apart;
        bool alike = other->generation == device->generation && !other->extrapolated &&
                     !device->extrapolated && (other->domain_gpus > 8) == (device->domain_gpus > 8);
        if (alike && apart < least) {
            least = apart;
            best = i;
        }
    }
    return best;
}

/* What is set overrides; the rest stays as it was. */
static void apply(const struct myr_stated *stated, struct myr_recipe *recipe)
{
    for (uint32_t i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        recipe->of[i] = stated->set >> i & 1 ? stated->recipe.of[i] : recipe->of[i];
    }
}

/* One recipe for each precision, worked out once: the search asks for them often. */
uint32_t myr_profiles_recipes(const struct myr_profiles *profiles, const struct myr_stack *stack,
                              const struct myr_device *device, const struct myr_model *model,
                              const struct myr_stated *stated,
                              struct myr_recipe ret[MYR_PRECISION_COUNT])
{
    bool experts = model->moe.expert_count > 0, latent = myr_model_is_mla(model);
    struct asked asked = {.model = model};
    bool named = !(stated && stated->any) && is_named(profiles, stack, &asked);
    uint32_t at = device_place(profiles, device);
    for (uint32_t p = 0; p < MYR_PRECISION_COUNT; p++) {
        /*
         * From the general to the special: the release, the rules that fit, what the run says
         * itself.
         */
        ret[p] = stack->recipe;
        for (uint32_t i = 0; i < profiles->rule_count; i++) {
            const struct myr_recipe_rule *rule = &profiles->rules[i];
            /* All conditions of a rule must hold; one that it does not name always does. */
            bool fits = strcmp(rule->line, stack->line) == 0 && stack->order >= rule->from &&
                        stack->order < rule->to && rule->precisions >> p & 1 &&
                        (at < 32 ? rule->devices >> at & 1 : rule->devices == UINT32_MAX) &&
                        (rule->experts < 0 || rule->experts == experts) &&
                        (rule->latent < 0 || rule->latent == latent) &&
                        (rule->named < 0 || rule->named == named) &&
                        (!rule->models || (named && names_model(&asked, rule->models)));
            if (fits) {
                apply(&rule->sets, &ret[p]);
            }
        }
        if (stated) {
            apply(stated, &ret[p]);
        }
    }
    uint32_t open = 1U << MYR_CAPABILITY_DISPATCHER | 1U << MYR_CAPABILITY_EXPERT_OVERLAP;
    return experts && !named ? open & ~(stated ? stated->set : 0) : 0;
}

/* Every trainer runs 1F1B and most interleave; what else a release can do it names. */
int fit_stages_read(const struct myr_doc *map, const char *key, uint32_t otherwise, uint32_t *ret,
                    struct myr_err *err)
{
    const struct myr_doc *list = myr_doc_get(map, key);
    *ret = list ? 0 : otherwise;
    MYR_TRY(list ? myr_doc_expect(list, MYR_DOC_LIST, key, err) : MYR_OK);
    for (uint32_t i = 0; list && i < list->count; i++) {
        uint64_t stage;
        MYR_TRY(myr_doc_u64(list->items[i], key, 0, 3, &stage, err));
        *ret |= 1U << stage;
    }
    return MYR_OK;
}

int fit_schedules_read(const struct myr_doc *map, uint32_t *ret, struct myr_err *err)
{
    static const char *const names[] = {"1f1b", "interleaved", "zero-bubble", "dualpipe"};
    const struct myr_doc *list = myr_doc_get(map, "schedules");
    *ret = list ? 0 : 1U << MYR_SCHEDULE_1F1B | 1U << MYR_SCHEDULE_INTERLEAVED;
    int rc = list ? myr_doc_expect(list, MYR_DOC_LIST, "schedules", err) : MYR_OK;
    for (uint32_t i = 0; list && rc == MYR_OK && i < list->count; i++) {
        uint32_t schedule = 0;
        rc = myr_doc_choice(list->items[i], "schedules", names, 4, &schedule, err);
        *ret |= 1U << schedule;
    }
    return rc;
}
