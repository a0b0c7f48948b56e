/* Choosing parts by kind and by word, for people who look something up. */
#include <stdio.h>

#include "myriad/model/catalog.h"
#include "parts.h"

/* 'text' may be NULL: not every part has every text. An empty word is in all of them. */
static bool contains(const char *text, const char *word)
{
    size_t len = strlen(word), all = text ? strlen(text) : 0;
    for (size_t i = 0; i + len <= all; i++) {
        if (myr_str_eq_nocase((struct myr_str){text + i, len}, (struct myr_str){word, len})) {
            return true;
        }
    }
    return false;
}

/* A bit for each kind that the word may mean: "switch" is in the names of two. */
int myr_part_kinds(const char *word, uint32_t *ret, struct myr_err *err)
{
    const char *names[MYR_PART_KIND_COUNT];
    uint32_t kinds = 0;
    for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
        names[kind] = myr_part_kind_name((enum myr_part_kind)kind);
        /* "switches" is how a catalogue file calls them. */
        bool section =
            myr_str_eq_nocase(myr_str_from(word), myr_str_from(part_kinds[kind].section));
        kinds |= (uint32_t)(section || contains(names[kind], word)) << kind;
    }
    if (kinds && word[0]) {
        *ret = kinds;
        return MYR_OK;
    }
    char near[128];
    myr_str_nearest(myr_str_from(word), names, MYR_PART_KIND_COUNT, near, sizeof(near));
    int rc = myr_err_set(err, MYR_EINVAL, "no kind of part is called '%.40s'%s%s%s", word,
                         near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    myr_err_hint(err, "myriad catalog lists the kinds");
    return rc;
}

/* By any of the names that people know a part by. */
bool myr_part_matches(const struct myr_part *part, const char *word)
{
    return contains(part->id, word) || contains(part->order, word) || contains(part->title, word);
}
