#include "yaml_plain.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * Text that every YAML reader takes as this very text without quotes. Narrower than YAML allows: a
 * letter first, then letters, digits and a few marks, and none of the words that mean something.
 */
bool is_plain_yaml(struct myr_str text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",  "on",
                                        "off",  "y",    "n",     "nan", "inf", "infinity"};
    if (text.len == 0 || !is_letter(text.data[0]) || text.data[text.len - 1] == ' ') {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (!is_letter(c) && !is_digit(c) && (c == '\0' || !strchr("_-./+ ", c))) {
            return false;
        }
    }
    /* In any case of letters: YAML 1.1 takes "No" and "NO" for false as well. */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (myr_str_eq_nocase(text, myr_str_from(words[i]))) {
            return false;
        }
    }
    return true;
}
