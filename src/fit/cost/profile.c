/*
 * profile: devices, releases, rules and fitted constants, from the program's own files and a
 * user's. Lists only grow: indices into them, which measured runs hold, stay good.
 */
#include "myriad/fit/profile.h"

#include <myr_fit_profiles.h>

#include "cost/constants.h"
#include "cost/dates.h"
#include "cost/numbers.h"
#include "cost/recipe.h"
#include "myriad/fit/goodput.h"
#include "myriad/text/amount.h"

_Static_assert(FIT_CONSTANT_COUNT <= MYR_FIT_CONSTANTS_MAX, "too many fitted constants");

/* The same table as the enum of constants.h, so the order is the same. */
static const struct myr_constant constant_table[] = {
#define FIT_CONSTANT_ROW(id, name, unit, prior, min, max, spread, meaning) \
    {name, unit, meaning, prior, min, max, spread},
    FIT_CONSTANTS(FIT_CONSTANT_ROW)
#undef FIT_CONSTANT_ROW
};

const struct myr_constant *myr_fit_constant(uint32_t index)
{
    MYR_ASSERT(index < FIT_CONSTANT_COUNT);
    return &constant_table[index];
}

uint32_t myr_fit_constant_count(void)
{
    return FIT_CONSTANT_COUNT;
}

int myr_fit_constant_index(struct myr_str name)
{
    for (int i = 0; i < (int)FIT_CONSTANT_COUNT; i++) {
        if (myr_str_eq(name, myr_str_from(constant_table[i].name))) {
            return i;
        }
    }
    return -1;
}

/* A file that was built in; not to find it is a mistake of the build. */
static int read_file(struct myr_arena *arena, const char *name, const struct myr_doc **ret,
                     struct myr_err *err)
{
    for (size_t i = 0; i < myr_fit_profiles_count; i++) {
        const struct myr_embedded *file = &myr_fit_profiles[i];
        if (strcmp(file->name, name) == 0) {
            *ret = myr_doc_unpack(arena, file->name, file->data, file->size);
            return MYR_OK;
        }
    }
    return myr_err_set(err, MYR_ENOENT, "the program lacks its own %s", name);
}

/* One number of a map, in its unit. */
static int number(const struct myr_doc *map, const char *key, double least, double *ret,
                  struct myr_err *err)
{
    const struct myr_doc *node;
    MYR_TRY(myr_doc_need(map, "profile", key, &node, err));
    return myr_doc_double(node, key, least, 1e15, ret, err);
}

/* Required, like number() and text(); a flag that is absent is false. */
static int whole(const struct myr_doc *map, const char *key, uint32_t least, uint32_t *ret,
                 struct myr_err *err)
{
    const struct myr_doc *node;
    uint64_t value;
    MYR_TRY(myr_doc_need(map, "profile", key, &node, err));
    MYR_TRY(myr_doc_u64(node, key, least, 1000000, &value, err));
    *ret = (uint32_t)value;
    return MYR_OK;
}

static int text(struct myr_arena *arena, const struct myr_doc *map, const char *key,
                const char **ret, struct myr_err *err)
{
    const struct myr_doc *node;
    struct myr_str value;
    MYR_TRY(myr_doc_need(map, "profile", key, &node, err));
    MYR_TRY(myr_doc_text(node, key, &value, err));
    *ret = myr_arena_strndup(arena, value.data, value.len); /* the document may go first */
    return MYR_OK;
}

static int flag(const struct myr_doc *map, const char *key, bool *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    *ret = false;
    return node ? myr_doc_bool(node, key, ret, err) : MYR_OK;
}

static int choice(const struct myr_doc *map, const char *key, const char *const *names,
                  size_t count, uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *node;
    MYR_TRY(myr_doc_need(map, "profile", key, &node, err));
    return myr_doc_choice(node, key, names, count, ret, err);
}

/*
 * One row a number of a map: key, unit of the file in that of the struct, place. What times are
 * divided by has to be something; what a device cannot do at all is 0.
 */
struct number_row {
    const char *key;
    double least, scale; /* in the file's unit; times this in the struct's */
    size_t at;           /* of a double */
};

static int numbers(const struct myr_doc *map, const struct number_row *rows, size_t count,
                   void *target, struct myr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        double *place = (double *)((char *)target + rows[i].at);
        MYR_TRY(number(map, rows[i].key, rows[i].least, place, err));
        *place *= rows[i].scale;
    }
    return MYR_OK;
}

/* The tile that products are cut into, rows by columns. */
static int read_tile(const struct myr_doc *map, struct myr_device *ret, struct myr_err *err)
{
    const struct myr_doc *tile;
    uint64_t side[2];
    MYR_TRY(myr_doc_need(map, "profile", "tile", &tile, err));
    MYR_TRY(myr_doc_expect(tile, MYR_DOC_LIST, "tile", err));
    if (tile->count != 2) {
        return myr_doc_error(err, tile, MYR_EINVAL, "'tile' has %s, 2 are expected",
                             MYR_COUNT(tile->count, "number"));
    }
    for (uint32_t i = 0; i < 2; i++) {
        MYR_TRY(myr_doc_u64(tile->items[i], "tile", 16, 1024, &side[i], err));
    }
    ret->tile_m = (uint32_t)side[0];
    ret->tile_n = (uint32_t)side[1];
    return MYR_OK;
}

/* Units of the files are those of data sheets: TFLOP/s, GiB, GB/s, Gb/s, W. */
static int read_device(struct myr_arena *arena, const struct myr_doc *map, struct myr_device *ret,
                       struct myr_err *err)
{
    static const char *const generations[] = {"ampere", "hopper", "blackwell"};
    static const double usual_w[] = {400.0 / 312, 700.0 / 989, 1200.0 / 2450}; /* a TFLOP/s */
    static const struct number_row rows[] = {
        {"bf16", 1e-3, 1e12, offsetof(struct myr_device, bf16_flops)},
        {"fp8", 0, 1e12, offsetof(struct myr_device, fp8_flops)},
        {"fp4", 0, 1e12, offsetof(struct myr_device, fp4_flops)},
        {"memory", 1e-3, 1073741824, offsetof(struct myr_device, memory_bytes)},
        {"memory_gbps", 1e-3, 1e9, offsetof(struct myr_device, memory_bytes_per_s)},
        {"domain_gbps", 1e-3, 1e9, offsetof(struct myr_device, domain_bytes_per_s)},
        {"nic_gbps", 1e-3, 1, offsetof(struct myr_device, nic_gbps)},
        {"host_gbps", 1e-3, 1e9, offsetof(struct myr_device, host_bytes_per_s)},
        {"power", 1e-3, 1, offsetof(struct myr_device, power_w)},
    };
    static const struct number_row shares[] = {
        {"gemm", 1e-3, 1, offsetof(struct myr_device, gemm)},
        {"gemm_fp8", 1e-3, 1, offsetof(struct myr_device, gemm_fp8)},
    };
    uint32_t generation = 0;
    if (text(arena, map, "name", &ret->name, err) < 0 ||
        text(arena, map, "alias", &ret->alias, err) < 0 ||
        text(arena, map, "software", &ret->software, err) < 0 ||
        choice(map, "generation", generations, 3, &generation, err) < 0 ||
        numbers(map, rows, MYR_ARRAY_COUNT(rows), ret, err) < 0 ||
        (myr_doc_get(map, "gemm") && numbers(map, &shares[0], 1, ret, err) < 0) ||
        (myr_doc_get(map, "gemm_fp8") && numbers(map, &shares[1], 1, ret, err) < 0) ||
        whole(map, "domain", 1, &ret->domain_gpus, err) < 0 ||
        whole(map, "sm", 1, &ret->sm_count, err) < 0 ||
        flag(map, "extrapolated", &ret->extrapolated, err) < 0 || read_tile(map, ret, err) < 0) {
        return MYR_EINVAL; /* the program's own data: which key is in the message */
    }
    ret->generation = (enum myr_generation)generation;
    /* What limits a device is power for each of the operations that its sheet promises. */
    ret->usual_power_w = usual_w[generation] * ret->bf16_flops / 1e12;
    return MYR_OK;
}

/* Flags that a release does not name are off; capabilities may still be set by rules. */
static int read_stack(struct myr_arena *arena, const struct myr_doc *map, struct myr_stack *ret,
                      struct myr_err *err)
{
    static const char *const eras[] = {"eager", "flash", "nemo", "fsdp", "torch"};
    static const char *const weights[] = {"master", "bf16", "fp32", "cast"};
    const struct myr_doc *kind = myr_doc_get(map, "weights");
    struct myr_stated stated = {};
    uint32_t era = 0, own = 0;
    const char *kernel = "";
    /* What nearly all releases have is not written down for each. */
    stated.recipe.of[MYR_CAPABILITY_GROUPED] = MYR_GROUPED_KERNEL;
    if (text(arena, map, "name", &ret->name, err) < 0 ||
        text(arena, map, "line", &ret->line, err) < 0 ||
        number(map, "order", 0, &ret->order, err) < 0 ||
        (myr_doc_get(map, "since") && whole(map, "since", 0, &ret->since, err) < 0) ||
        choice(map, "era", eras, 5, &era, err) < 0 || flag(map, "flash", &ret->flash, err) < 0 ||
        (kind && myr_doc_choice(kind, "weights", weights, 4, &own, err) < 0) ||
        flag(map, "overlap_data", &ret->overlap_data, err) < 0 ||
        flag(map, "shared_scales", &ret->shared_scales, err) < 0 ||
        flag(map, "low_dispatch", &ret->low_dispatch, err) < 0 ||
        flag(map, "fused_loss", &ret->fused_loss, err) < 0 ||
        flag(map, "low_gradients", &ret->low_gradients, err) < 0 ||
        flag(map, "whole_sequence", &ret->whole_sequence, err) < 0 ||
        flag(map, "blocks", &ret->blocks, err) < 0 ||
        flag(map, "reorders", &ret->reorders, err) < 0 || flag(map, "cuts", &ret->cuts, err) < 0 ||
        flag(map, "shards", &ret->shards, err) < 0 || fit_recipe_read(map, &stated, err) < 0 ||
        fit_schedules_read(map, &ret->schedules, err) < 0 ||
        fit_stages_read(map, "zero", 0xf, &ret->zero[0], err) < 0 ||
        fit_stages_read(map, "zero_deep", ret->zero[0], &ret->zero[1], err) < 0 ||
        (myr_doc_get(map, "kernel") && text(arena, map, "kernel", &kernel, err) < 0)) {
        return MYR_EINVAL;
    }
    ret->era = (enum myr_era)era;
    ret->weights = (enum myr_weights)own;
    ret->recipe = stated.recipe;
    ret->kernel_constant = myr_fit_constant_index(myr_str_from(kernel));
    return kernel[0] && ret->kernel_constant < 0
               ? myr_doc_error(err, map, MYR_EINVAL, "no fitted constant is named '%s'", kernel)
               : MYR_OK;
}

/* [device, software, precision, GPUs, tokens, experts, tp, pp, cp, ep] of a measured run. */
static int read_measured_run(struct myr_profiles *profiles, const struct myr_doc *row,
                             struct myr_measured *ret, struct myr_err *err)
{
    static const char *const precisions[] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"};
    const struct myr_device *device = NULL;
    const struct myr_stack *stack = NULL;
    struct myr_str words[2] = {};
    uint64_t counts[7] = {};
    uint32_t precision = 0;
    bool exact;
    MYR_TRY(myr_doc_expect(row, MYR_DOC_LIST, "measured", err));
    if (row->count != 3 + MYR_ARRAY_COUNT(counts)) {
        return myr_doc_error(err, row, MYR_EINVAL, "a measured run has ten parts");
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        MYR_TRY(myr_doc_u64(row->items[3 + i], "measured", 0, UINT32_MAX, &counts[i], err));
    }
    for (uint32_t i = 0; i < 3; i++) {
        MYR_TRY(i < 2 ? myr_doc_text(row->items[i], "measured", &words[i], err)
                      : myr_doc_choice(row->items[i], "measured", precisions, 6, &precision, err));
    }
    MYR_TRY(myr_profiles_device(profiles, words[0], &device, err));
    MYR_TRY(myr_profiles_stack(profiles, words[1], &stack, &exact, err));
    *ret = (struct myr_measured){(uint32_t)(device - profiles->devices),
                                 (uint32_t)(stack - profiles->stacks),
                                 (enum myr_precision)precision,
                                 (uint32_t)counts[0],
                                 (uint32_t)counts[1],
                                 (uint32_t)counts[2],
                                 (uint32_t)counts[3],
                                 (uint32_t)counts[4],
                                 (uint32_t)counts[5],
                                 (uint32_t)counts[6]};
    return MYR_OK;
}

/* After devices and releases: runs name them. */
static int read_measured(struct myr_profiles *profiles, struct myr_arena *arena,
                         const struct myr_doc *doc, struct myr_err *err)
{
    const struct myr_doc *list;
    MYR_TRY(myr_doc_need(doc, "profile", "measured", &list, err));
    MYR_TRY(myr_doc_expect(list, MYR_DOC_LIST, "measured", err));
    profiles->measured = MYR_ARENA_NEW(arena, struct myr_measured, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        MYR_TRY(read_measured_run(profiles, list->items[i], &profiles->measured[i], err));
        profiles->measured_count++;
    }
    return list->count ? MYR_OK : myr_doc_error(err, list, MYR_EINVAL, "no measured run is named");
}

/*
 * Priors, then what was fitted; a constant that the program does not know is a file of another one.
 */
static int read_constants(struct myr_profiles *profiles, struct myr_arena *arena,
                          struct myr_err *err)
{
    const struct myr_doc *doc, *map, *interval;
    for (uint32_t i = 0; i < FIT_CONSTANT_COUNT; i++) {
        profiles->constants[i] = constant_table[i].prior;
    }
    /* A constant that the file does not name keeps its prior. */
    profiles->constant_count = FIT_CONSTANT_COUNT;
    if (read_file(arena, "catalog/profiles/fitted.yaml", &doc, err) < 0 ||
        myr_doc_need(doc, "profile", "constants", &map, err) < 0 ||
        myr_doc_need(doc, "profile", "interval", &interval, err) < 0) {
        return MYR_EINVAL;
    }
    int rc = MYR_OK;
    for (uint32_t i = 0; rc == MYR_OK && map->kind == MYR_DOC_MAP && i < map->count; i++) {
        int at = myr_fit_constant_index(map->entries[i].key);
        if (at < 0) {
            return myr_doc_error(err, map->entries[i].value, MYR_EINVAL, "unknown constant");
        }
        rc = myr_doc_double(map->entries[i].value, constant_table[at].name, constant_table[at].min,
                            constant_table[at].max, &profiles->constants[at], err);
    }
    for (int i = 0; rc == MYR_OK && i < MYR_INTERVAL_COUNT; i++) {
        rc = number(interval, myr_interval_name((enum myr_interval)i), 0, &profiles->intervals[i],
                    err);
    }
    return rc == MYR_OK ? read_measured(profiles, arena, doc, err) : rc;
}

/* A list of the document, or none. */
static int list_of(const struct myr_doc *doc, const char *key, const struct myr_doc **ret,
                   struct myr_err *err)
{
    *ret = myr_doc_get(doc, key);
    return *ret ? myr_doc_expect(*ret, MYR_DOC_LIST, key, err) : MYR_OK;
}

/* Into a longer copy: the arena cannot grow what it gave. A known name is replaced in its place. */
static int add_devices(struct myr_profiles *profiles, struct myr_arena *arena,
                       const struct myr_doc *list, struct myr_err *err)
{
    uint32_t had = profiles->device_count;
    struct myr_device *all = MYR_ARENA_NEW(arena, struct myr_device, had + list->count);
    for (uint32_t i = 0; i < had; i++) {
        all[i] = profiles->devices[i];
    }
    profiles->devices = all;
    for (uint32_t i = 0; i < list->count; i++) {
        struct myr_device one = {};
        MYR_TRY(read_device(arena, list->items[i], &one, err));
        uint32_t at = 0;
        while (at < profiles->device_count && strcmp(all[at].name, one.name) != 0) {
            at++;
        }
        profiles->device_count += at == profiles->device_count;
        all[at] = one;
    }
    return MYR_OK;
}

/* As add_devices(). The order of the list is that of the files: order inside a line is a number. */
static int add_stacks(struct myr_profiles *profiles, struct myr_arena *arena,
                      const struct myr_doc *list, struct myr_err *err)
{
    uint32_t had = profiles->stack_count;
    struct myr_stack *all = MYR_ARENA_NEW(arena, struct myr_stack, had + list->count);
    for (uint32_t i = 0; i < had; i++) {
        all[i] = profiles->stacks[i];
    }
    profiles->stacks = all;
    for (uint32_t i = 0; i < list->count; i++) {
        struct myr_stack one = {};
        MYR_TRY(read_stack(arena, list->items[i], &one, err));
        uint32_t at = 0;
        while (at < profiles->stack_count && strcmp(all[at].name, one.name) != 0) {
            at++;
        }
        profiles->stack_count += at == profiles->stack_count;
        all[at] = one;
    }
    return MYR_OK;
}

/* Rules have no names: they are added behind the others, where they win. */
static int add_rules(struct myr_profiles *profiles, struct myr_arena *arena,
                     const struct myr_doc *list, struct myr_err *err)
{
    uint32_t had = profiles->rule_count;
    struct myr_recipe_rule *all = MYR_ARENA_NEW(arena, struct myr_recipe_rule, had + list->count);
    for (uint32_t i = 0; i < had; i++) {
        all[i] = profiles->rules[i];
    }
    profiles->rules = all;
    for (uint32_t i = 0; i < list->count; i++) {
        MYR_TRY(fit_rule_read(profiles, arena, list->items[i], &all[had + i], err));
        profiles->rule_count++;
    }
    return MYR_OK;
}

int myr_profiles_extend(struct myr_profiles *profiles, struct myr_arena *arena,
                        const struct myr_doc *doc, struct myr_err *err)
{
    const struct myr_doc *devices, *stacks, *rules;
    MYR_TRY(list_of(doc, "devices", &devices, err));
    MYR_TRY(list_of(doc, "stacks", &stacks, err));
    MYR_TRY(list_of(doc, "recipes", &rules, err));
    /* Rules come last: they name devices, also those of the same file. */
    MYR_TRY(devices ? add_devices(profiles, arena, devices, err) : MYR_OK);
    MYR_TRY(stacks ? add_stacks(profiles, arena, stacks, err) : MYR_OK);
    return rules ? add_rules(profiles, arena, rules, err) : MYR_OK;
}

/* The program's own files go the way of a user's. */
int myr_profiles_init(struct myr_profiles *profiles, struct myr_arena *arena, struct myr_err *err)
{
    const struct myr_doc *hardware = NULL, *software = NULL;
    *profiles = (struct myr_profiles){};
    MYR_TRY(read_file(arena, "catalog/profiles/hardware.yaml", &hardware, err));
    MYR_TRY(read_file(arena, "catalog/profiles/stacks.yaml", &software, err));
    MYR_TRY(myr_profiles_extend(profiles, arena, hardware, err));
    profiles->shipped_count = profiles->device_count;
    MYR_TRY(myr_profiles_extend(profiles, arena, software, err));
    return read_constants(profiles, arena, err);
}

/* All of them, a user's own too: a list in the code would be behind the next entry. */
static void hint_devices(const struct myr_profiles *profiles, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    for (uint32_t i = 0; i < profiles->device_count; i++) {
        myr_buf_printf(&list, " %s", profiles->devices[i].name);
    }
    myr_err_hint(err, "known:%s", list.len ? list.data : " none");
}

/* By name or alias, whatever the case. */
int myr_profiles_device(const struct myr_profiles *profiles, struct myr_str name,
                        const struct myr_device **ret, struct myr_err *err)
{
    const char *names[32];
    char near[128] = "", excerpt[MYR_EXCERPT_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < profiles->device_count; i++) {
        const struct myr_device *device = &profiles->devices[i];
        if (count < MYR_ARRAY_COUNT(names)) { /* only for what is near */
            names[count++] = device->name;
        }
        if (myr_str_eq_nocase(name, myr_str_from(device->name)) ||
            myr_str_eq_nocase(name, myr_str_from(device->alias))) {
            *ret = device;
            return MYR_OK;
        }
    }
    /* "a100" is short for two of them, not a slip for "h100". */
    uint32_t longer = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct myr_str head = {names[i], name.len < strlen(names[i]) ? name.len : 0};
        if (head.len > 0 && myr_str_eq_nocase(head, name)) {
            names[longer++] = names[i];
        }
    }
    myr_str_nearest(name, names, longer ? longer : count, near, sizeof(near));
    int rc =
        myr_err_set(err, MYR_ENOENT, "unknown device '%s'%s%s%s", myr_text_excerpt(name, excerpt),
                    near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    hint_devices(profiles, err);
    return rc;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What follows a line's name in 'name', where it stands as a word of its own. */
static bool names_line(struct myr_str name, const char *line, struct myr_str *ret_rest)
{
    struct myr_str wanted = myr_str_from(line);
    for (size_t i = 0; i + wanted.len <= name.len; i++) {
        size_t end = i + wanted.len;
        bool apart = (i == 0 || !is_letter(name.data[i - 1])) &&
                     (end == name.len || !is_letter(name.data[end]));
        if (apart && myr_str_eq_nocase((struct myr_str){name.data + i, wanted.len}, wanted)) {
            *ret_rest = (struct myr_str){name.data + end, name.len - end};
            return true;
        }
    }
    return false;
}

/* Years and versions are not compared: 0.20 came after 2023. No release named goes with both. */
static bool same_numbers(double release, double other)
{
    return release >= 1e9 || (release >= 1000) == (other >= 1000);
}

/* The line's releases that are numbered as 'release' is, if there are any; else all of them. */
static bool counts_alike(const struct myr_profiles *profiles, const char *line, double release)
{
    for (uint32_t i = 0; i < profiles->stack_count; i++) {
        const struct myr_stack *stack = &profiles->stacks[i];
        if (strcmp(stack->line, line) == 0 && same_numbers(release, stack->order)) {
            return true;
        }
    }
    return false;
}

/* 'ret_exact' is false where a release stands for another. */
int myr_profiles_stack(const struct myr_profiles *profiles, struct myr_str name,
                       const struct myr_stack **ret, bool *ret_exact, struct myr_err *err)
{
    /*
     * A release that is not listed does what the one before it did; one before all listed, the
     * first.
     */
    const struct myr_stack *earlier = NULL, *first = NULL;
    const char *line = "";
    struct myr_str rest = {"", 0};
    for (uint32_t i = 0; i < profiles->stack_count; i++) {
        const struct myr_stack *stack = &profiles->stacks[i];
        if (myr_str_eq_nocase(name, myr_str_from(stack->name))) {
            *ret = stack;
            *ret_exact = true;
            return MYR_OK;
        }
        /* "Megatron-DeepSpeed" is its own line, not DeepSpeed's. */
        if (strlen(stack->line) > strlen(line) && names_line(name, stack->line, &rest)) {
            line = stack->line;
        }
    }
    double release = fit_release_order(rest);
    bool alike = counts_alike(profiles, line, release);
    for (uint32_t i = 0; i < profiles->stack_count; i++) {
        const struct myr_stack *stack = &profiles->stacks[i];
        if (strcmp(stack->line, line) != 0 || (alike && !same_numbers(release, stack->order))) {
            continue;
        }
        first = !first || stack->order < first->order ? stack : first;
        /* Without a number it is what the line's bare name stands for, if that is a release. */
        if (release >= 1e9 && strcmp(stack->name, line) == 0) {
            earlier = stack;
            break;
        }
        if (stack->order <= release && (!earlier || stack->order > earlier->order)) {
            earlier = stack;
        }
    }
    *ret_exact = false;
    *ret = earlier ? earlier : first;
    if (!*ret) {
        char excerpt[MYR_EXCERPT_MAX];
        int rc =
            myr_err_set(err, MYR_ENOENT, "unknown software '%s'", myr_text_excerpt(name, excerpt));
        myr_err_hint(err, "myriad fit stacks lists them");
        return rc;
    }
    *ret = fit_stack_dated(profiles, *ret, rest);
    return MYR_OK;
}

/* As the data sheet promises it; fp32 runs as tf32, at half the rate of bf16. */
double myr_device_peak(const struct myr_device *device, enum myr_precision precision)
{
    switch (precision) {
    case MYR_PRECISION_FP8:
    case MYR_PRECISION_MXFP8:
        return device->fp8_flops;
    case MYR_PRECISION_NVFP4:
        return device->fp4_flops;
    case MYR_PRECISION_FP32:
        return device->bf16_flops / 2;
    case MYR_PRECISION_BF16:
    case MYR_PRECISION_FP16:
        break;
    }
    return device->bf16_flops;
}
