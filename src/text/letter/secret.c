/*
 * secret: texts of which nothing may be shown. Errors end up in logs, in tickets and on screens
 * that are shared; a token in one of them is a token that has to be changed.
 */
#include "letter/secret.h"

#include "letter/scan.h"

enum {
    WORD_BYTES_MIN = 20, /* shorter words are names, numbers, GUIDs */
    CHANGES_PER = 5,     /* a random word changes between letters and digits at least so often */
};

enum letter { OTHER, DIGIT, LOWER, UPPER };

static enum letter letter_of(char c)
{
    return c >= '0' && c <= '9'   ? DIGIT
           : c >= 'a' && c <= 'z' ? LOWER
           : c >= 'A' && c <= 'Z' ? UPPER
                                  : OTHER;
}

size_t secret_length(struct myr_str text)
{
    size_t at = 0, changes = 0;
    enum letter last = OTHER;
    /* Dots, dashes and slashes part words: names of hosts and paths have them. */
    for (; at < text.len; at++) {
        enum letter letter = letter_of(text.data[at]);
        if (letter == OTHER && text.data[at] != '_' && text.data[at] != '+') {
            break;
        }
        changes += letter != OTHER && last != OTHER && letter != last;
        last = letter;
    }
    return at >= WORD_BYTES_MIN && changes >= at / CHANGES_PER ? at : 0;
}

/* All of the text is one word, alone or behind "NAME="; a list of digests has file names too. */
static bool is_token(struct myr_str text)
{
    struct myr_str words = kind_trim(text);
    bool found = false;
    for (size_t at = 0; at < words.len; at++) {
        if (kind_is_blank(words.data[at])) {
            return false;
        }
        struct myr_str rest = {words.data + at, words.len - at};
        bool starts = at == 0 || letter_of(words.data[at - 1]) == OTHER;
        found = found || (starts && secret_length(rest) > 0);
    }
    return found;
}

bool secret_is_pem(struct myr_str text)
{
    return kind_contains(text, "-----BEGIN ");
}

bool secret_is_text(struct myr_str text)
{
    return secret_is_pem(text) || is_token(text);
}

static bool ends(struct myr_str name, const char *with)
{
    size_t len = strlen(with);
    return name.len >= len && memcmp(name.data + name.len - len, with, len) == 0;
}

bool secret_is_name(const char *file)
{
    static const char *const endings[] = {".token", ".key", ".pem", ".crt",    ".p12",
                                          ".pfx",   ".env", "_rsa", "_ed25519"};
    static const char *const names[] = {"token", "secret", ".netrc", "credentials", "shadow"};
    const char *slash = strrchr(file, '/');
    struct myr_str name = myr_str_from(slash ? slash + 1 : file);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(endings); i++) {
        if (ends(name, endings[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        if (myr_str_eq(name, myr_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}
