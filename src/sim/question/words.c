#include "question/words.h"

/*
 * Words borrow from 'text'. An empty one is refused: a comma too many hides a word that was
 * forgotten.
 */
int sim_words_split(const char *option, const char *text, struct sim_words *ret,
                    struct myr_err *err)
{
    /* Only the first colon divides: a value may hold others. */
    const char *colon = strchr(text, ':');
    *ret = (struct sim_words){.option = option,
                              .kind = {text, colon ? (size_t)(colon - text) : strlen(text)}};
    if (!colon) {
        return MYR_OK;
    }
    const char *at = colon + 1;
    while (true) {
        size_t len = strcspn(at, ",");
        if (len == 0) {
            return myr_err_set(err, MYR_EINVAL, "%s: an empty word in '%.60s'", option, text);
        }
        if (ret->count == SIM_WORDS_MAX) {
            return myr_err_set(err, MYR_EINVAL, "%s has more than %d parts", option, SIM_WORDS_MAX);
        }
        ret->items[ret->count++] = (struct myr_str){at, len};
        at += len;
        if (*at == '\0') {
            return MYR_OK;
        }
        at++;
    }
}

/* An empty value counts too; whoever reads it complains. */
static bool has_key(struct myr_str item, const char *key)
{
    size_t len = strlen(key);
    return item.len > len && memcmp(item.data, key, len) == 0 && item.data[len] == '=';
}

/* The first of that name; sim_words_check() sees to it that there is no other. */
bool sim_words_keyed(const struct sim_words *words, const char *key, struct myr_str *ret)
{
    size_t len = strlen(key);
    for (uint32_t i = 0; i < words->count; i++) {
        struct myr_str item = words->items[i];
        if (has_key(item, key)) {
            *ret = (struct myr_str){item.data + len + 1, item.len - len - 1};
            return true;
        }
    }
    return false;
}

/* The hint lists what this kind of words takes. */
static int unknown_word(const struct sim_words *words, struct myr_str item, const char *const *keys,
                        size_t key_count, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    int rc = myr_err_set(err, MYR_EINVAL, "%s: '%.*s' is not understood", words->option,
                         sim_words_shown(item), item.data);
    for (size_t i = 0; i < key_count; i++) {
        myr_buf_printf(&list, "%s%s=", i ? ", " : "", keys[i]);
    }
    myr_err_hint(err, "%.*s takes %s", sim_words_shown(words->kind), words->kind.data,
                 list.len ? list.data : "nothing more");
    return rc;
}

/* Before any value is read: a word with a typo must not be passed over. */
int sim_words_check(const struct sim_words *words, uint32_t positional, const char *const *keys,
                    size_t key_count, struct myr_err *err)
{
    uint64_t seen = 0;
    MYR_ASSERT(key_count <= 64);
    for (uint32_t i = positional; i < words->count; i++) {
        size_t k = 0;
        while (k < key_count && !has_key(words->items[i], keys[k])) {
            k++;
        }
        if (k == key_count) {
            return unknown_word(words, words->items[i], keys, key_count, err);
        }
        /* Of two values nobody could say which was meant. */
        if (seen >> k & 1) {
            return myr_err_set(err, MYR_EINVAL, "%s: '%s' is given twice", words->option, keys[k]);
        }
        seen |= UINT64_C(1) << k;
    }
    return MYR_OK;
}

int sim_words_bytes(const struct sim_words *words, uint32_t index, uint64_t *ret,
                    struct myr_err *err)
{
    /* An exabyte: far beyond any memory, and bits still fit in 64. */
    const uint64_t most = UINT64_C(1000000000000000000);
    if (index < words->count && myr_sim_parse_bytes(words->items[index], ret) && *ret > 0 &&
        *ret <= most) {
        return MYR_OK;
    }
    struct myr_str got = index < words->count ? words->items[index] : MYR_STR("nothing");
    return myr_err_set(err, MYR_EINVAL, "%s: a size such as 1MB is expected, not '%.*s'",
                       words->option, sim_words_shown(got), got.data);
}

/* The default is in 'value' already: a key that is absent leaves it. */
int sim_words_number(const struct sim_words *words, const char *key, uint64_t least, uint64_t most,
                     uint64_t *value, struct myr_err *err)
{
    struct myr_str text;
    if (sim_words_keyed(words, key, &text) &&
        (!myr_str_to_u64(text, value) || *value < least || *value > most)) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: '%s' must be a whole number from %llu to %llu, not '%.*s'",
                           words->option, key, (unsigned long long)least, (unsigned long long)most,
                           sim_words_shown(text), text.data);
    }
    return MYR_OK;
}

int sim_words_time(const struct sim_words *words, const char *key, myr_ps *value,
                   struct myr_err *err)
{
    struct myr_str text;
    if (sim_words_keyed(words, key, &text) && !myr_sim_parse_time(text, value)) {
        return myr_err_set(err, MYR_EINVAL, "%s: '%s' must be a time such as 50us, not '%.*s'",
                           words->option, key, sim_words_shown(text), text.data);
    }
    return MYR_OK;
}
