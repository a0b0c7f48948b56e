/*
 * lang: finds the line of the table that a sentence matches, and says it with the figures put in.
 * What no line matches is tried in pieces, and stays English where these are not known either.
 */
#include "myriad/text/lang.h"

#include "myriad/text/doc.h"

enum {
    FIGURES_MAX = 9,   /* one digit names each in a translation: {1} to {9} */
    DEPTH_MAX = 4,     /* a figure may be a sentence, and its figures too */
    TRIES_MAX = 20000, /* of lengths of figures, for one line */
};

/* What the figures of a line stand for, in the order of the English line. */
struct match {
    struct myr_str figures[FIGURES_MAX];
    uint32_t count;
    uint32_t tries; /* a hostile table must not take for ever */
};

/* The text without its first 'from' bytes. */
static struct myr_str rest(struct myr_str text, size_t from)
{
    return (struct myr_str){text.data + from, text.len - from};
}

/* "{}" and "{#}", by their lengths; 0 is none. */
static size_t begins_figure(struct myr_str text)
{
    if (text.len >= 2 && memcmp(text.data, "{}", 2) == 0) {
        return 2;
    }
    return text.len >= 3 && memcmp(text.data, "{#}", 3) == 0 ? 3 : 0;
}

/* A figure ends with its line, its sentence and its clause; a number has no blank either. */
static bool may_go_on(struct myr_str figure, bool number)
{
    char last = figure.data[figure.len - 1];
    char before = figure.len > 1 ? figure.data[figure.len - 2] : 'x';
    if (number) {
        return (last >= '0' && last <= '9') || (unsigned char)last >= 0x80 ||
               strchr(".,-+:/", last) != NULL;
    }
    return last != '\n' && !(last == ' ' && (before == ';' || before == '.'));
}

/* The shortest text for each figure; none is empty. */
static bool match_from(struct match *match, struct myr_str pattern, struct myr_str text)
{
    size_t mark;
    while ((mark = begins_figure(pattern)) == 0 && pattern.len > 0) {
        if (text.len == 0 || pattern.data[0] != text.data[0]) {
            return false;
        }
        pattern = rest(pattern, 1);
        text = rest(text, 1);
    }
    if (pattern.len == 0) {
        return text.len == 0;
    }
    /* A figure: every length is tried, the shortest first, until what follows it fits too. */
    pattern = rest(pattern, mark);
    uint32_t at = match->count++;
    if (at >= FIGURES_MAX) {
        return false;
    }
    for (size_t len = 1; len <= text.len; len++) {
        match->figures[at] = (struct myr_str){text.data, len};
        match->count = at + 1;
        /* The figure cannot be longer than this: no later length can fit either. */
        if (!may_go_on(match->figures[at], mark == 3) || ++match->tries > TRIES_MAX) {
            return false;
        }
        if (match_from(match, pattern, rest(text, len))) {
            return true;
        }
    }
    return false;
}

/* What a line says itself: the more, the more surely it is meant. */
static size_t own_words(struct myr_str pattern)
{
    size_t count = 0;
    while (pattern.len > 0) {
        size_t mark = begins_figure(pattern);
        count += mark == 0;
        count += mark == 3; /* a number is more than anything */
        pattern = rest(pattern, mark ? mark : 1);
    }
    return count;
}

/* Lines lie with the surest first. */
static const struct myr_lang_line *find_line(const struct myr_lang *lang, struct myr_str text,
                                             struct match *ret)
{
    for (size_t i = 0; i < lang->lines.count; i++) {
        *ret = (struct match){};
        if (match_from(ret, lang->lines.items[i].pattern, text)) {
            return &lang->lines.items[i];
        }
    }
    return NULL;
}

static bool say_one(const struct myr_lang *lang, struct myr_str text, uint32_t depth,
                    struct myr_buf *to);

/* "servers, management nodes": each by itself, where all are known. */
static bool say_list(const struct myr_lang *lang, struct myr_str text, uint32_t depth,
                     struct myr_buf *to)
{
    const char *comma = memmem(text.data, text.len, ", ", 2);
    MYR_CLEANUP(myr_buf_done) struct myr_buf both = {};
    if (!comma) {
        return false;
    }
    size_t len = (size_t)(comma - text.data);
    struct myr_str last = rest(text, len + 2);
    if (!say_one(lang, (struct myr_str){text.data, len}, depth, &both)) {
        return false;
    }
    myr_buf_put_lit(&both, "、");
    if (!say_one(lang, last, depth, &both) && !say_list(lang, last, depth, &both)) {
        return false;
    }
    myr_buf_put(to, both.data, both.len);
    return true;
}

/* "{}" takes the figures in order; "{2}" names one, for languages with another order of words. */
static void say_line(const struct myr_lang *lang, const struct myr_lang_line *line,
                     const struct match *match, uint32_t depth, struct myr_buf *to)
{
    uint32_t next = 0;
    for (struct myr_str words = line->words; words.len > 0;) {
        /* A plain character, unless a mark begins here. */
        uint32_t figure = UINT32_MAX;
        size_t len = 1;
        if (begins_figure(words) == 2) {
            figure = next++;
            len = 2;
        } else if (words.len >= 3 && words.data[0] == '{' && words.data[2] == '}') {
            figure = (uint32_t)(words.data[1] - '1');
            len = 3;
        }
        if (figure < match->count) {
            struct myr_str text = match->figures[figure];
            MYR_ASSERT(text.len > 0); /* no figure is empty */
            if (!say_one(lang, text, depth + 1, to) && !say_list(lang, text, depth + 1, to)) {
                myr_buf_put(to, text.data, text.len);
            }
        } else if (figure == UINT32_MAX) {
            myr_buf_putc(to, words.data[0]);
        }
        words = rest(words, len);
    }
}

/* A text without figures is found by its hash; only others are compared line by line. */
static bool say_one(const struct myr_lang *lang, struct myr_str text, uint32_t depth,
                    struct myr_buf *to)
{
    struct match match;
    uint32_t known = myr_strmap_get(&lang->whole, text);
    if (known != MYR_MAP_NONE) {
        myr_buf_put(to, lang->fixed.items[known].data, lang->fixed.items[known].len);
        return true;
    }
    const struct myr_lang_line *line = depth < DEPTH_MAX ? find_line(lang, text, &match) : NULL;
    if (line) {
        say_line(lang, line, &match, depth, to);
    }
    return line != NULL;
}

/* Lines, sentences and clauses that nobody knows as a whole: each by itself. */
static bool say_pieces(const struct myr_lang *lang, struct myr_str text, uint32_t depth,
                       struct myr_buf *to)
{
    static const struct {
        struct myr_str by;
        size_t keeps; /* of it, with the piece before */
        struct myr_str with;
    } joints[] = {{MYR_STR("\n"), 0, MYR_STR("\n")},
                  {MYR_STR(". "), 1, MYR_STR("")},
                  {MYR_STR("; "), 0, MYR_STR("；")}};
    if (say_one(lang, text, depth, to)) {
        return true;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(joints); i++) {
        /* Lines first, then sentences, then clauses. */
        const char *at = memmem(text.data, text.len, joints[i].by.data, joints[i].by.len);
        if (!at) {
            continue;
        }
        size_t len = (size_t)(at - text.data);
        bool first =
            say_pieces(lang, (struct myr_str){text.data, len + joints[i].keeps}, depth, to);
        myr_buf_put(to, joints[i].with.data, joints[i].with.len);
        return say_pieces(lang, rest(text, len + joints[i].by.len), depth, to) || first;
    }
    myr_buf_put(to, text.data, text.len);
    return false;
}

/*
 * The English itself comes back where nothing of it is known; else a copy in the language's arena.
 */
const char *myr_lang_say(const struct myr_lang *lang, const char *english)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (!lang || !say_pieces(lang, myr_str_from(english), 0, &text)) {
        return english;
    }
    return myr_arena_strndup(lang->arena, text.data ? text.data : "", text.len);
}

/* --- reading */

/* Both marks; 'i + 1' because the shorter one has two bytes. */
static uint32_t count_figures(struct myr_str text)
{
    uint32_t count = 0;
    for (size_t i = 0; i + 1 < text.len; i++) {
        count += begins_figure(rest(text, i)) > 0;
    }
    return count;
}

/* {} as many as there are figures, or numbers that there are. */
static bool fits(struct myr_str words, uint32_t figures)
{
    for (size_t i = 0; i + 2 < words.len; i++) {
        char digit = words.data[i + 1];
        if (words.data[i] == '{' && words.data[i + 2] == '}' &&
            (digit < '1' || (uint32_t)(digit - '1') >= figures)) {
            return false;
        }
    }
    return count_figures(words) <= figures;
}

/* With figures it is a pattern to be matched; without, it is looked up as a whole. */
static int add_line(struct myr_lang *lang, const struct myr_doc_entry *entry, struct myr_err *err)
{
    struct myr_str words;
    uint32_t figures = count_figures(entry->key);
    MYR_TRY(myr_doc_text(entry->value, "a translation", &words, err));
    words = myr_str_from(myr_arena_strndup(lang->arena, words.data, words.len));
    struct myr_str key =
        myr_str_from(myr_arena_strndup(lang->arena, entry->key.data, entry->key.len));
    /* A figure that the English line does not have could never be filled. */
    if (figures > FIGURES_MAX || !fits(words, figures)) {
        return myr_doc_error(err, entry->value, MYR_EINVAL,
                             "the translation has other figures than '%.60s'", key.data);
    }
    if (figures > 0) {
        myr_vec_push(&lang->lines, (struct myr_lang_line){key, words});
    } else {
        (void)myr_strmap_add(&lang->whole, key, (uint32_t)lang->fixed.count);
        myr_vec_push(&lang->fixed, words);
    }
    return MYR_OK;
}

/* By insertion: the order of the file decides between equals, and there are a few hundred. */
static void sort_lines(struct myr_lang *lang)
{
    for (size_t i = 1; i < lang->lines.count; i++) {
        struct myr_lang_line line = lang->lines.items[i];
        size_t words = own_words(line.pattern);
        size_t at = i;
        while (at > 0 && own_words(lang->lines.items[at - 1].pattern) < words) {
            lang->lines.items[at] = lang->lines.items[at - 1];
            at--;
        }
        lang->lines.items[at] = line;
    }
}

/* 'ret' is written only when the whole table was good. */
int myr_lang_read(struct myr_arena *arena, const char *name, const char *file, struct myr_str text,
                  struct myr_lang *ret, struct myr_err *err)
{
    const struct myr_doc *doc;
    struct myr_lang lang = {.arena = arena, .name = name};
    MYR_TRY(myr_doc_read_yaml(arena, file, text, &doc, err));
    MYR_TRY(myr_doc_expect(doc, MYR_DOC_MAP, "the table", err));
    for (uint32_t i = 0; i < doc->count; i++) {
        int rc = add_line(&lang, &doc->entries[i], err);
        if (rc < 0) {
            myr_lang_done(&lang);
            return rc;
        }
    }
    sort_lines(&lang);
    *ret = lang;
    return MYR_OK;
}

void myr_lang_done(struct myr_lang *lang)
{
    myr_vec_done(&lang->lines);
    myr_vec_done(&lang->fixed);
    myr_strmap_done(&lang->whole);
}
