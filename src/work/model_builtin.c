/*
 * model_builtin: the models that are built into the program, by name. Files are parsed when asked
 * for; names alone come from the list of files.
 */
#include <myr_work_models.h>

#include "myriad/work/model.h"

/* "catalog/models/llama3-8b.yaml" is the model "llama3-8b". */
static struct myr_str builtin_name(uint32_t index)
{
    static const struct myr_str folder = MYR_STR("catalog/models/");
    static const struct myr_str ending = MYR_STR(".yaml");
    struct myr_str path = myr_str_from(myr_work_models[index].name);
    MYR_ASSERT(path.len > folder.len + ending.len);
    return (struct myr_str){path.data + folder.len, path.len - folder.len - ending.len};
}

uint32_t myr_model_builtin_count(void)
{
    return (uint32_t)myr_work_models_count;
}

struct myr_str myr_model_builtin_name(uint32_t index)
{
    MYR_ASSERT(index < myr_work_models_count);
    return builtin_name(index);
}

/* The build has parsed the YAML already: what is unpacked is a document, not text. */
static int read_builtin(struct myr_arena *arena, uint32_t index, struct myr_model *ret,
                        struct myr_err *err)
{
    const struct myr_embedded *file = &myr_work_models[index];
    const struct myr_doc *doc = myr_doc_unpack(arena, file->name, file->data, file->size);
    return myr_model_parse(arena, doc, ret, err);
}

/* "qwen3-235b" begins "qwen3-235b-a22b"; words are not cut, so "llama3-8" begins nothing. */
static bool begins(struct myr_str name, struct myr_str with)
{
    return with.len > 0 && with.len < name.len && name.data[with.len] == '-' &&
           myr_str_eq_nocase((struct myr_str){name.data, with.len}, with);
}

/* Models whose name begins like that; '*ret' is the first of them. */
static uint32_t count_beginning(struct myr_str wanted, uint32_t *ret)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < myr_work_models_count; i++) {
        if (begins(builtin_name(i), wanted)) {
            *ret = count == 0 ? i : *ret;
            count++;
        }
    }
    return count;
}

/* Names all that fit, so that the next try can be the right one. */
static int fail_ambiguous(struct myr_str wanted, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    for (uint32_t i = 0; i < myr_work_models_count; i++) {
        struct myr_str known = builtin_name(i);
        if (begins(known, wanted)) {
            myr_buf_printf(&names, "%s%.*s", names.len ? ", " : "", (int)known.len, known.data);
        }
    }
    return myr_err_set(err, MYR_EINVAL, "'%.*s' begins the names of several models: %s",
                       (int)wanted.len, wanted.data, names.data);
}

/*
 * "megatron-529.6b": the family and the size in thousandths; false: the name has no size. A letter
 * more or less in a size says little (530b is not 30b), so sizes are compared as numbers.
 */
static bool split_size(struct myr_str name, struct myr_str *ret_family, uint64_t *ret_size)
{
    /* Every dash may begin the size: "gpt-oss-20b" has two. */
    for (size_t i = 1; i < name.len; i++) {
        size_t at = i, decimals = 0;
        uint64_t size = 0;
        bool point = false;
        while (name.data[i - 1] == '-' && at < name.len && at - i < 10 && decimals < 3 &&
               ((name.data[at] >= '0' && name.data[at] <= '9') ||
                (name.data[at] == '.' && !point && at > i))) {
            bool is_point = name.data[at++] == '.';
            point = point || is_point;
            decimals += point && !is_point;
            size = is_point ? size : 10 * size + (uint64_t)(name.data[at - 1] - '0');
        }
        if (at > i && at < name.len && (name.data[at] == 'b' || name.data[at] == 'B')) {
            for (; decimals < 3; decimals++) {
                size *= 10;
            }
            *ret_family = (struct myr_str){name.data, i - 1};
            *ret_size = size;
            return true;
        }
    }
    return false;
}

/* The models of the same family that are next in size, as words; nothing when there are none. */
static void nearest_size(struct myr_str name, struct myr_buf *ret)
{
    struct myr_str family, other, best[2] = {};
    uint64_t size, there, gap[2] = {UINT64_MAX, UINT64_MAX};
    if (!split_size(name, &family, &size)) {
        return;
    }
    for (uint32_t i = 0; i < myr_work_models_count; i++) {
        struct myr_str known = builtin_name(i);
        if (!split_size(known, &other, &there) || !myr_str_eq_nocase(family, other)) {
            continue;
        }
        /* The two nearest, so that one asked between two sizes is shown both. */
        uint64_t apart = there > size ? there - size : size - there;
        if (apart < gap[0]) {
            gap[1] = gap[0];
            best[1] = best[0];
            gap[0] = apart;
            best[0] = known;
        } else if (apart < gap[1]) {
            gap[1] = apart;
            best[1] = known;
        }
    }
    for (int i = 0; i < 2 && best[i].len; i++) {
        myr_buf_printf(ret, "%s'%.*s'", i ? " or " : "", (int)best[i].len, best[i].data);
    }
}

/* Names nearest in size or in spelling, for the next try. */
static int fail_unknown(struct myr_arena *arena, struct myr_str name, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf sized = {};
    const char **names = MYR_ARENA_NEW(arena, const char *, myr_work_models_count);
    for (uint32_t i = 0; i < myr_work_models_count; i++) {
        struct myr_str known = builtin_name(i);
        names[i] = myr_arena_strndup(arena, known.data, known.len);
    }
    /* A size says more than letters do; only a name without one is compared by spelling. */
    char near[128] = "";
    nearest_size(name, &sized);
    if (sized.len > 0 && sized.len < sizeof(near)) {
        memcpy(near, sized.data, sized.len + 1);
    } else {
        myr_str_nearest(name, names, myr_work_models_count, near, sizeof(near));
    }
    int rc = myr_err_set(err, MYR_ENOENT, "no built-in model and no file is named '%.*s'%s%s%s",
                         (int)(name.len < 200 ? name.len : 200), name.data,
                         near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    myr_err_hint(err, "give a built-in name such as llama3-8b, or a path to a model file or a "
                      "Hugging Face config.json");
    return rc;
}

/* An exact name, then a file, then the beginning of one name: a file may not hide a built-in. */
int myr_model_find(struct myr_arena *arena, const char *name, struct myr_model *ret,
                   struct myr_err *err)
{
    struct myr_str wanted = myr_str_from(name);
    for (uint32_t i = 0; i < myr_work_models_count; i++) {
        if (myr_str_eq_nocase(builtin_name(i), wanted)) {
            return read_builtin(arena, i, ret, err);
        }
    }
    /* Something that looks like a path gets the file system's own complaint. */
    struct myr_err file_err = {};
    int rc = myr_model_read(arena, name, ret, &file_err);
    /* The first words of a name come last: a file that is called like that is what was meant. */
    bool is_path = strchr(name, '/') || strcmp(name, "-") == 0;
    if (rc == MYR_ENOENT && !is_path) {
        uint32_t only = 0, beginning = count_beginning(wanted, &only);
        return beginning == 1 ? read_builtin(arena, only, ret, err)
               : beginning    ? fail_ambiguous(wanted, err)
                              : fail_unknown(arena, wanted, err);
    }
    if (rc != MYR_OK && err) {
        *err = file_err;
    }
    return rc;
}

/* Layers alike: what a name stands for, whoever gave another one to it. */
static bool same_shape(const struct myr_model *a, const struct myr_model *b)
{
    const struct myr_moe *x = &a->moe, *y = &b->moe;
    return a->hidden == b->hidden && a->head_count == b->head_count &&
           a->kv_head_count == b->kv_head_count && a->gated == b->gated &&
           myr_model_is_mla(a) == myr_model_is_mla(b) && x->expert_count == y->expert_count &&
           (x->expert_count > 0 ? x->experts_per_token == y->experts_per_token &&
                                      x->expert_hidden == y->expert_hidden
                                : a->ffn_hidden == b->ffn_hidden);
}

int myr_model_builtin_index(struct myr_str name)
{
    for (uint32_t i = 0; i < myr_work_models_count; i++) {
        if (myr_str_eq_nocase(builtin_name(i), name)) {
            return (int)i;
        }
    }
    return -1;
}

bool myr_model_is_like(const struct myr_model *model, uint32_t index)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_model other;
    myr_arena_init(&arena);
    MYR_ASSERT(index < myr_work_models_count);
    return read_builtin(&arena, index, &other, NULL) == MYR_OK && same_shape(model, &other);
}
