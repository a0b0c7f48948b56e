#include "myriad/site/link_words.h"

#include "myriad/model/parts.h"

const char *const myr_link_fact_names[MYR_LINK_FACTS] = {"speed", "fec", "status", "medium"};

enum { PLAIN_MAX = 32 };

/* Small letters and digits: "No FEC", "no-fec" and "NOFEC" are one. The rest of a long one is cut.
 */
static struct myr_str plain(struct myr_str word, char ret[PLAIN_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < word.len && len < PLAIN_MAX; i++) {
        char c = word.data[i];
        bool capital = c >= 'A' && c <= 'Z';
        if (capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            ret[len++] = (char)(capital ? c + ('a' - 'A') : c);
        }
    }
    return (struct myr_str){ret, len};
}

static bool is_one_of(struct myr_str word, const char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (myr_str_eq(word, myr_str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

static bool begins(struct myr_str word, const char *with)
{
    size_t len = strlen(with);
    return word.len >= len && memcmp(word.data, with, len) == 0;
}

static bool contains(struct myr_str word, const char *part)
{
    return word.len && memmem(word.data, word.len, part, strlen(part)) != NULL;
}

bool myr_link_says_nothing(struct myr_str word)
{
    static const char *const words[] = {"na", "unknown", "untold", "null"};
    char text[PLAIN_MAX];
    if (word.len == 0) {
        return true;
    }
    struct myr_str own = plain(word, text);
    bool other = false; /* letters of other scripts are a word all the same */
    for (size_t i = 0; i < word.len; i++) {
        other = other || (unsigned char)word.data[i] >= 0x80;
    }
    return !other && (own.len == 0 || is_one_of(own, words, MYR_ARRAY_COUNT(words)));
}

enum myr_link_medium myr_link_medium(struct myr_str word, uint32_t *ret)
{
    static const struct {
        const char *start;
        enum myr_medium medium;
    } words[] = {{"smf", MYR_MEDIUM_SINGLE},
                 {"singlemode", MYR_MEDIUM_SINGLE},
                 {"os1", MYR_MEDIUM_SINGLE},
                 {"os2", MYR_MEDIUM_SINGLE},
                 {"mmf", MYR_MEDIUM_MULTI},
                 {"multimode", MYR_MEDIUM_MULTI},
                 {"om1", MYR_MEDIUM_MULTI},
                 {"om2", MYR_MEDIUM_MULTI},
                 {"om3", MYR_MEDIUM_MULTI},
                 {"om4", MYR_MEDIUM_MULTI},
                 {"om5", MYR_MEDIUM_MULTI},
                 {"dac", MYR_MEDIUM_COPPER},
                 {"copper", MYR_MEDIUM_COPPER},
                 {"directattach", MYR_MEDIUM_COPPER},
                 {"passivecopper", MYR_MEDIUM_COPPER},
                 {"activecopper", MYR_MEDIUM_COPPER},
                 {"twinax", MYR_MEDIUM_COPPER},
                 {"coaxial", MYR_MEDIUM_COPPER},
                 {"cat3", MYR_MEDIUM_COPPER},
                 {"cat5", MYR_MEDIUM_COPPER},
                 {"cat6", MYR_MEDIUM_COPPER},
                 {"cat7", MYR_MEDIUM_COPPER},
                 {"cat8", MYR_MEDIUM_COPPER}};
    /* Fibre of either kind, and how its ends look. */
    static const char *const any[] = {"aoc", "activeoptical", "fiber", "fibre", "optical",
                                      "sm",  "mpo",           "lc"};
    char text[PLAIN_MAX];
    if (word.len == 0) {
        return MYR_LINK_NO_MEDIUM;
    }
    struct myr_str own = plain(word, text);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (begins(own, words[i].start)) {
            *ret = words[i].medium;
            return MYR_LINK_MEDIUM_KNOWN;
        }
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(any); i++) {
        if (begins(own, any[i])) {
            return MYR_LINK_NO_MEDIUM;
        }
    }
    return myr_link_says_nothing(word) ? MYR_LINK_NO_MEDIUM : MYR_LINK_MEDIUM_UNKNOWN;
}

enum myr_link_fec myr_link_fec(struct myr_str word)
{
    static const char *const off[] = {"none",       "off",     "no",     "nofec",
                                      "disabled",   "disable", "fecoff", "fecdisabled",
                                      "fecdisable", "fecnone", "false",  "withoutfec"};
    static const char *const on[] = {"on", "yes", "true", "auto", "enabled", "enable"};
    static const char *const parts[] = {"fec",   "rs",  "kp4",         "kr4", "firecode",
                                        "baser", "plr", "zerolatency", "fc"};
    char text[PLAIN_MAX];
    struct myr_str own = plain(word, text);
    if (myr_link_says_nothing(word)) {
        return MYR_LINK_FEC_UNTOLD;
    }
    if (is_one_of(own, off, MYR_ARRAY_COUNT(off))) {
        return MYR_LINK_FEC_OFF;
    }
    bool known = is_one_of(own, on, MYR_ARRAY_COUNT(on));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        known = known || contains(own, parts[i]);
    }
    return known ? MYR_LINK_FEC_ON : MYR_LINK_FEC_UNKNOWN;
}
