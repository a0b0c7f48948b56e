#include "import/readers.h"

/*
 * What a terminal leaves around the output of a tool that was copied or recorded there: the prompt
 * with the command, what ssh and script(1) say. Only at the beginning and at the end of a text, and
 * only lines that no format here has: everything between is the tool's, and is judged by its
 * reader.
 */

enum { LINES_LOOKED_AT = 12 }; /* at either end */

static bool begins(struct myr_str line, const char *word)
{
    size_t len = strlen(word);
    return line.len >= len && memcmp(line.data, word, len) == 0;
}

/* What names of users and machines are made of. */
static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static size_t skip_name(struct myr_str line, size_t at)
{
    while (at < line.len && in_name(line.data[at])) {
        at++;
    }
    return at;
}

/* "admin@leaf01:~$ show lldp table", "[root@ufm-01 ~]# ibnetdiscover", "root@sw1:mgmt:/tmp# ". */
static bool is_prompt(struct myr_str line)
{
    size_t start = line.len && line.data[0] == '[', user = skip_name(line, start);
    if (user == start || user >= line.len || line.data[user] != '@') {
        return false;
    }
    size_t at = skip_name(line, user + 1);
    if (at == user + 1) {
        return false;
    }
    for (; at < line.len; at++) {
        char c = line.data[at];
        /* The end of a prompt: at the end of the line, or before a command. */
        if (c == '$' || c == '#' || c == '>') {
            return at + 1 == line.len || line.data[at + 1] == ' ';
        }
        if (!in_name(c) && !strchr(":~/ ])", c)) {
            return false; /* a comma, a quote: a row of a list */
        }
    }
    return false;
}

/* Words that no tool here begins a line with. */
static bool is_of_session(struct myr_str line)
{
    static const char *const words[] = {"Script started on ", "Script done on ",
                                        "Last login: ", "Warning: Permanently added "};
    while (line.len && (line.data[line.len - 1] == '\r' || line.data[line.len - 1] == ' ')) {
        line.len--;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (begins(line, words[i])) {
            return true;
        }
    }
    static const char closed[] = " closed."; /* and not "Connection to ... refused" */
    bool ends = line.len > strlen(closed) &&
                memcmp(line.data + line.len - strlen(closed), closed, strlen(closed)) == 0;
    return (ends && begins(line, "Connection to ")) || myr_str_eq(line, MYR_STR("exit")) ||
           myr_str_eq(line, MYR_STR("logout")) || is_prompt(line);
}

static bool is_blank(struct myr_str line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r') {
            return false;
        }
    }
    return true;
}

static struct myr_str line_at(struct myr_str text, size_t at)
{
    const char *end = memchr(text.data + at, '\n', text.len - at);
    return (struct myr_str){text.data + at, end ? (size_t)(end - text.data) - at : text.len - at};
}

/* The lines before the first, or from the last on, that a tool printed. */
static size_t head_length(struct myr_str text)
{
    size_t at = 0, head = 0;
    for (uint32_t n = 0; n < LINES_LOOKED_AT && at < text.len; n++) {
        struct myr_str line = line_at(text, at);
        bool session = is_of_session(line);
        if (!session && !is_blank(line)) {
            break;
        }
        /* The last line may have no end. */
        at += line.len + (at + line.len < text.len);
        head = session ? at : head;
    }
    return head;
}

/* "]root@ufm:~# ": JSON often ends without a line end. The length of what is JSON's; 0: no such. */
static size_t json_before_prompt(struct myr_str line)
{
    for (size_t i = 0; i < line.len; i++) {
        bool closes = line.data[i] == '}' || line.data[i] == ']';
        if (closes && is_prompt((struct myr_str){line.data + i + 1, line.len - i - 1})) {
            return i + 1;
        }
    }
    return 0;
}

/* Backwards, line by line, down to the last one that a tool printed. */
static size_t tail_start(struct myr_str text, size_t head)
{
    size_t end = text.len, tail = text.len;
    for (uint32_t n = 0; n < LINES_LOOKED_AT && end > head; n++) {
        size_t stop = end - (text.data[end - 1] == '\n'), start = stop;
        while (start > head && text.data[start - 1] != '\n') {
            start--;
        }
        struct myr_str line = {text.data + start, stop - start};
        bool session = is_of_session(line);
        if (!session && !is_blank(line)) {
            /* A prompt may stick to the last bracket. */
            size_t json = json_before_prompt(line);
            return json ? start + json : tail;
        }
        tail = session ? start : tail;
        end = start;
    }
    return tail;
}

/* While more of the text follows, its end is not known and stays. */
struct myr_str import_tools_own(struct myr_arena *arena, struct myr_str text, bool whole)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t skip = text.len >= 3 && memcmp(text.data, mark, 3) == 0 ? 3 : 0;
    struct myr_str own = {text.data + skip, text.len - skip};
    size_t head = own.len ? head_length(own) : 0;
    own.len = own.len && whole ? tail_start(own, head) : own.len;
    MYR_ASSERT(head <= own.len); /* the end is looked for behind the beginning */
    if (head == 0) {
        return own;
    }
    /* Empty lines in the place of the head: messages count lines as an editor does. */
    char *copy = MYR_ARENA_NEW(arena, char, own.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < head; i++) {
        copy[len] = '\n';
        len += own.data[i] == '\n';
    }
    memcpy(copy + len, own.data + head, own.len - head);
    MYR_ASSERT(len <= head); /* no more lines than there were bytes */
    return (struct myr_str){copy, len + own.len - head};
}
