/*
 * wrap: words are divided by blanks and line ends and by nothing else, and measured in columns of a
 * terminal, not in bytes.
 */
#include "wrap.h"

#include "letter/utf8.h"
#include "myriad/text/table.h"

void wrap_put_shown(struct myr_buf *buf, struct myr_str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t start = at;
        if (utf8_is_hidden(utf8_next(text, &at))) {
            myr_buf_putc(buf, '?');
        } else {
            myr_buf_put(buf, text.data + start, at - start);
        }
    }
}

/* The next word from 'at'; its length is 0 at the end. Blanks before it are skipped. */
static struct myr_str next_word(struct myr_str text, size_t *at)
{
    while (*at < text.len && text.data[*at] == ' ') {
        ++*at;
    }
    size_t start = *at;
    while (*at < text.len && text.data[*at] != ' ' && text.data[*at] != '\n') {
        ++*at;
    }
    return (struct myr_str){text.data + start, *at - start};
}

/*
 * 'end' is behind the last word that fits; the first word is always taken, or there would be no
 * end.
 */
struct myr_str wrap_line(struct myr_str *text, uint32_t width)
{
    size_t at = 0, end = 0;
    while (at < text->len && text->data[at] != '\n') {
        size_t before = at;
        struct myr_str word = next_word(*text, &at);
        struct myr_str upto = {text->data, at};
        if (word.len == 0) {
            break;
        }
        /* The word goes to the next line, with the blanks before it skipped. */
        if (end > 0 && myr_text_width(upto) > width) {
            at = before;
            break;
        }
        end = at;
    }
    struct myr_str line = {text->data, end};
    /* Blanks and one line end behind the line belong to it. */
    while (at < text->len && text->data[at] == ' ') {
        at++;
    }
    if (at < text->len && text->data[at] == '\n') {
        at++;
    }
    *text = (struct myr_str){text->data + at, text->len - at};
    return line;
}

/* Line ends divide words too. */
uint32_t wrap_longest(struct myr_str text)
{
    uint32_t longest = 0;
    for (size_t at = 0; at < text.len;) {
        struct myr_str word = next_word(text, &at);
        uint32_t own = myr_text_width(word);
        longest = own > longest ? own : longest;
        at += at < text.len && text.data[at] == '\n';
    }
    return longest;
}

/* A first word always stays on its line: the line may have no room, but another has no more. */
uint32_t wrap_put(struct myr_buf *buf, struct myr_str text, uint32_t column, uint32_t indent,
                  uint32_t width)
{
    bool fresh = true; /* nothing on this line yet */
    for (size_t at = 0; at < text.len;) {
        if (text.data[at] == '\n') {
            myr_buf_printf(buf, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
            at++;
            continue;
        }
        struct myr_str word = next_word(text, &at);
        uint32_t own = myr_text_width(word);
        if (own == 0) {
            continue;
        }
        if (!fresh && column + 1 + own > width) {
            myr_buf_printf(buf, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!fresh) {
            myr_buf_putc(buf, ' ');
            column++;
        }
        wrap_put_shown(buf, word);
        column += own;
        fresh = false;
    }
    return column;
}
