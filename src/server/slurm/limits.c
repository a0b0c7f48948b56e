/* limits: what sacctmgr prints of accounts, read into plain values. No state, no I/O. */
#include <string.h>

#include "myriad/server/slurm.h"
#include "myriad/text.h"

enum { ACCOUNT_FIELDS = 9 };

/* "": no limit. */
static bool read_count(struct myr_str text, uint64_t *ret)
{
    *ret = UINT64_MAX;
    return text.len == 0 || myr_str_to_u64(text, ret);
}

/*
 * "cpu=10,gres/gpu=16,gres/gpu:h100=8,node=4". GPUs of one kind are GPUs: the smallest of these
 * limits counts, since the nodes of a cluster here have one kind.
 */
static bool read_tres(struct myr_str text, struct myr_slurm_amounts *ret)
{
    const char *at = text.data, *end = text.data + text.len;
    *ret = (struct myr_slurm_amounts){.gpus = UINT64_MAX, .nodes = UINT64_MAX};
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        if (!equals) {
            return false;
        }
        struct myr_str name = {at, (size_t)(equals - at)};
        struct myr_str value = {equals + 1, (size_t)(stop - equals - 1)};
        uint64_t count;
        bool gpu = name.len >= 8 && memcmp(name.data, "gres/gpu", 8) == 0 &&
                   (name.len == 8 || name.data[8] == ':');
        bool node = myr_str_eq(name, MYR_STR("node"));
        if (gpu || node) { /* others have units ("mem=1000G"), and are Slurm's alone to hold */
            if (!myr_str_to_u64(value, &count)) {
                return false;
            }
            uint64_t *to = gpu ? &ret->gpus : &ret->nodes;
            *to = count < *to ? count : *to;
        }
        at = comma ? comma + 1 : end;
    }
    return true;
}

static bool read_line(struct myr_str line, struct myr_slurm_account *ret)
{
    struct myr_str f[ACCOUNT_FIELDS];
    const char *at = line.data, *end = line.data + line.len;
    for (uint32_t i = 0; i < ACCOUNT_FIELDS; i++) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        if ((bar != NULL) != (i + 1 < ACCOUNT_FIELDS)) {
            return false;
        }
        f[i] = (struct myr_str){at, (size_t)((bar ? bar : end) - at)};
        at = bar ? bar + 1 : end;
    }
    *ret = (struct myr_slurm_account){.name = f[0], .user = f[1], .parent = f[2]};
    ret->by_parent = myr_str_eq(f[3], MYR_STR("parent"));
    if (!ret->by_parent && !read_count(f[3], &ret->share)) {
        return false;
    }
    return f[0].len > 0 && read_tres(f[4], &ret->group) && read_count(f[5], &ret->group_jobs) &&
           read_count(f[6], &ret->most_jobs) && read_tres(f[7], &ret->each) &&
           read_count(f[8], &ret->group_submits);
}

int myr_slurm_read_accounts(const char *file, struct myr_str text, myr_slurm_account_each *each,
                            void *context, struct myr_err *err)
{
    for (uint32_t number = 1; text.len > 0; number++) {
        const char *newline = memchr(text.data, '\n', text.len);
        struct myr_str line = {text.data, newline ? (size_t)(newline - text.data) : text.len};
        struct myr_slurm_account account;
        char shown[MYR_EXCERPT_MAX];
        text.data += line.len + (newline != NULL);
        text.len -= line.len + (newline != NULL);
        if (line.len == 0) {
            continue;
        }
        if (!read_line(line, &account)) {
            return myr_err_set(err, MYR_EINVAL, "%s:%u:1: '%s' is no account with its limits", file,
                               number, myr_text_excerpt(line, shown));
        }
        MYR_TRY(each(context, &account, err));
    }
    return MYR_OK;
}
