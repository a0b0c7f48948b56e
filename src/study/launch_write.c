/*
 * Lists as a line, as wrapped lines, as JSON; and how a shell is told a word. Values may come from
 * the user: every one of them is quoted unless it has nothing but plain characters.
 */
#include "launch_list.h"

/* What a POSIX shell takes as it stands, anywhere in a word. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_-./,:=+@%", c) != NULL);
}

/* In single quotes where anything might be special; a quote itself leaves them for a moment. */
void myr_launch_quote(struct myr_buf *buf, struct myr_str text)
{
    bool plain = text.len > 0;
    /* An empty word must be quoted to be one. */
    for (size_t i = 0; i < text.len && plain; i++) {
        plain = is_plain(text.data[i]);
    }
    if (plain) {
        myr_buf_put(buf, text.data, text.len);
        return;
    }
    myr_buf_putc(buf, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'') {
            myr_buf_put_lit(buf, "'\\''");
        } else {
            myr_buf_putc(buf, text.data[i]);
        }
    }
    myr_buf_putc(buf, '\'');
}

/* Arguments have dashes, keys of a file have none. */
static bool dashed(const char *name)
{
    return name[0] == '-';
}

/* "--name value"; names of files' keys get the dashes that they have on a command line. */
static void put_item(const struct myr_launch_item *item, struct myr_buf *buf)
{
    myr_buf_printf(buf, "%s%s", dashed(item->name) ? "" : "--", item->name);
    if (item->kind == MYR_LAUNCH_SWITCH) {
        return;
    }
    myr_buf_putc(buf, ' ');
    if (item->kind != MYR_LAUNCH_WORDS) {
        myr_launch_quote(buf, myr_str_from(item->value));
        return;
    }
    for (const char *at = item->value; *at;) {
        size_t len = strcspn(at, " ");
        myr_launch_quote(buf, (struct myr_str){at, len});
        at += len;
        if (*at == ' ') {
            /* A command of names and values has several words, a key of a file one list. */
            myr_buf_putc(buf, dashed(item->name) ? ' ' : ',');
            at++;
        }
    }
}

void launch_put_items(const struct myr_launch_item *items, uint32_t count, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            myr_buf_putc(buf, ' ');
        }
        put_item(&items[i], buf);
    }
}

/* Dots in names are maps in maps: "a.b" and "a.c" stand in one. Names come sorted by map. */
void launch_put_json(const struct myr_launch_item *items, uint32_t count, struct myr_buf *buf)
{
    /* The map that is open, as a piece of the item's name that began it. */
    const char *open = NULL;
    size_t open_len = 0;
    myr_buf_putc(buf, '{');
    for (uint32_t i = 0; i < count; i++) {
        const char *dot = strchr(items[i].name, '.');
        size_t len = dot ? (size_t)(dot - items[i].name) : 0;
        bool same = open && dot && len == open_len && memcmp(open, items[i].name, len) == 0;
        /* A map ends where a name of another one comes. */
        if (open && !same) {
            myr_buf_putc(buf, '}');
            open = NULL;
        }
        if (i > 0) {
            myr_buf_put_lit(buf, ", ");
        }
        if (dot && !same) {
            myr_buf_printf(buf, "\"%.*s\": {", (int)len, items[i].name);
            open = items[i].name;
            open_len = len;
        }
        bool text = items[i].kind == MYR_LAUNCH_TEXT;
        myr_buf_printf(buf, "\"%s\": %s%s%s", dot ? dot + 1 : items[i].name, text ? "\"" : "",
                       items[i].value, text ? "\"" : "");
    }
    myr_buf_put(buf, "}}", open ? 2 : 1);
}

/* Replicas alone need no other program around the library. */
static bool alone(const struct myr_launch *launch)
{
    bool one = launch->item_count <= 4; /* the three axes, and that there is no pipeline */
    for (uint32_t i = 0; i < launch->item_count && one; i++) {
        const char *value = launch->items[i].value;
        one = !value || strcmp(value, "1") == 0;
    }
    return one;
}

/* Behind the line, as a comment of the shell. */
static void put_notes(const struct myr_launch *launch, struct myr_buf *buf)
{
    bool any = false;
    for (uint32_t i = 0; i < launch->variable_count; i++) {
        const struct myr_launch_item *v = &launch->variables[i];
        myr_buf_printf(buf, "%s with %s=%s", any ? ";" : " #", v->name, v->value);
        any = true;
    }
    for (uint32_t i = 0; i < launch->note_count; i++) {
        myr_buf_printf(buf, "%s %s", any ? ";" : " #", launch->notes[i]);
        any = true;
    }
    if (launch->trainer == MYR_TRAINER_DEEPSPEED && !alone(launch)) {
        myr_buf_printf(buf, "%s with Megatron-DeepSpeed: ", any ? ";" : " #");
        launch_put_items(launch->items, launch->item_count, buf);
    }
}

/* On one line: what 'fit' shows beside a layout. */
void myr_launch_write(const struct myr_launch *launch, struct myr_buf *buf)
{
    if (launch->trainer == MYR_TRAINER_DEEPSPEED) {
        launch_put_json(launch->config, launch->config_count, buf);
    } else {
        launch_put_items(launch->items, launch->item_count, buf);
    }
    put_notes(launch, buf);
}

/* Where the word that begins here ends; in a command, what is quoted is one word. */
static size_t word_end(struct myr_str text, size_t at, bool command)
{
    /* A line must not end inside of quotes: it would be part of the value. */
    bool quoted = false;
    for (; at < text.len && (quoted || text.data[at] != ' '); at++) {
        if (command && !quoted && text.data[at] == '\\' && at + 1 < text.len) {
            at++;
        } else if (command && text.data[at] == '\'') {
            quoted = !quoted;
        }
    }
    return at;
}

/*
 * Words of 'text' on lines; the lines after the first begin with 'start'. Where lines end in
 * something they are a command's.
 */
void launch_put_words(struct myr_buf *buf, struct myr_str text, size_t width, const char *end,
                      const char *start)
{
    size_t column = 0, start_len = strlen(start), end_len = strlen(end);
    for (size_t at = 0; at < text.len;) {
        size_t to = word_end(text, at, end_len > 0);
        size_t len = to - at;
        bool first = column == 0;
        /* The end of the line counts to its width. */
        if (!first && column + 1 + len + end_len > width) {
            myr_buf_printf(buf, "%s\n%s", end, start);
            column = start_len;
        } else if (!first) {
            myr_buf_putc(buf, ' ');
            column++;
        }
        myr_buf_put(buf, text.data + at, len);
        column += len;
        at = to;
        while (at < text.len && text.data[at] == ' ') {
            at++;
        }
    }
    myr_buf_putc(buf, '\n');
}

/* A command's lines end in a backslash, those of its comment begin with a sign. */
void myr_launch_write_wrapped(const struct myr_launch *launch, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    myr_launch_write(launch, &line);
    /* Notes begin there. */
    const char *comment = line.len ? strstr(line.data, " # ") : NULL;
    size_t len = comment ? (size_t)(comment - line.data) : line.len;
    /* DeepSpeed's is a JSON file, in which lines go on by themselves. */
    const char *end = launch->trainer == MYR_TRAINER_DEEPSPEED ? "" : " \\";
    launch_put_words(buf, (struct myr_str){line.data, len}, LAUNCH_WIDTH, end, "    ");
    if (comment) {
        launch_put_words(buf, myr_str_from(comment + 1), LAUNCH_WIDTH, "", "# ");
    }
}
