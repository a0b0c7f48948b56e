/* scan: words and lines of a text that is looked at, for the files of this folder. */
#include "letter/scan.h"

bool kind_begins(struct myr_str text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.data, with, len) == 0;
}

/* Anywhere in the part that is looked at. */
bool kind_contains(struct myr_str text, const char *word)
{
    return memmem(text.data, text.len, word, strlen(word)) != NULL;
}

bool kind_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Blanks and line ends at both ends. */
struct myr_str kind_trim(struct myr_str text)
{
    while (text.len > 0 && kind_is_blank(text.data[0])) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && kind_is_blank(text.data[text.len - 1])) {
        text.len--;
    }
    return text;
}

/* The next line without its end; 'rest' moves behind it. */
struct myr_str kind_next_line(struct myr_str *rest)
{
    const char *end = memchr(rest->data, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->data) : rest->len;
    struct myr_str line = {rest->data, len};
    rest->data += end ? len + 1 : len;
    rest->len -= end ? len + 1 : len;
    if (line.len > 0 && line.data[line.len - 1] == '\r') {
        line.len--;
    }
    return line;
}
