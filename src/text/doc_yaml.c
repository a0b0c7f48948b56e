/*
 * YAML by libyaml's events: it scans and parses without recursion, and hands out one event at a
 * time, so that the limits of doc_build stop a hostile text before it costs anything. Kept small on
 * purpose: no tags, no merge keys, one document a file.
 */
#include <yaml.h>

#include "doc_build.h"
#include "letter/utf8.h"

/* All that libyaml hands out is copied into the arena: its events are gone with the next one. */
struct reader {
    struct doc_build build;
    struct myr_str text;
    yaml_parser_t parser;
    struct myr_strmap anchor_names;          /* name to index in 'anchors' */
    MYR_VEC(const struct myr_doc *) anchors; /* the latest of each name */
    bool has_document;
};

/* libyaml counts lines and columns from zero, people from one. */
static struct text_place place_of(yaml_mark_t mark)
{
    return (struct text_place){(uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

MYR_PRINTF(4, 5)
static int fail(const struct reader *reader, struct text_place place, struct myr_err *err,
                const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int rc = text_error_at_args(err, reader->build.file, place, MYR_EINVAL, fmt, args);
    va_end(args);
    return rc;
}

/*
 * What libyaml says, and what it means to somebody who does not know its grammar. The place is
 * where the reader noticed (FOUND), where the broken thing began (BEGAN), or where it noticed and
 * the line of the beginning in words (BOTH).
 */
enum where { FOUND, BEGAN, BOTH };

static const struct reading {
    enum where where;
    const char *problem;
    const char *context; /* part of the context, or NULL for any */
    const char *plain;
} readings[] = {
    {BEGAN, "could not find expected ':'", NULL, "a key without ':' after it"},
    {BEGAN, "found unexpected end of stream", "quoted", "the quote opened here is never closed"},
    {BEGAN, "found unexpected document indicator", "quoted",
     "the quote opened here is not closed before the document ends"},
    {FOUND, "found unknown escape character", NULL,
     "unknown escape after '\\' in the quoted text; write '\\\\' for a backslash"},
    {FOUND, "did not find expected hexdecimal number", NULL,
     "hexadecimal digits are expected in an escape"},
    {FOUND, "found invalid Unicode character escape code", NULL, "an escape that is no character"},
    {FOUND, "block sequence entries are not allowed in this context", NULL,
     "a list item ('-') cannot stand here; it needs a line of its own"},
    {FOUND, "mapping keys are not allowed in this context", NULL,
     "a key cannot stand here; is the indentation right?"},
    {FOUND, "mapping values are not allowed in this context", NULL,
     "a ':' cannot stand here; quote the text or check the indentation"},
    {FOUND, "found a tab character that violates indentation", NULL,
     "a tab cannot indent YAML; use spaces"},
    {FOUND, "found a tab character where an indentation space is expected", NULL,
     "a tab cannot indent YAML; use spaces"},
    {FOUND, "did not find expected key", "block mapping",
     "a key is expected here; the indentation fits nothing above, or a quote is misplaced"},
    {BOTH, "did not find expected '-' indicator", NULL,
     "a '-' is expected here, for one more item of the list that begins"},
    {BOTH, "did not find expected ',' or ']'", NULL, "',' or ']' is expected in the list opened"},
    {BOTH, "did not find expected ',' or '}'", NULL, "',' or '}' is expected in the map opened"},
    {FOUND, "did not find expected node content", NULL, "a value is expected here"},
    {FOUND, "did not find expected <document start>", NULL,
     "nothing more is expected after the document"},
    {BEGAN, "did not find expected alphabetic or numeric character", "alias",
     "'*' needs a name after it; quote the text if no alias is meant"},
    {BEGAN, "did not find expected alphabetic or numeric character", "anchor",
     "'&' needs a name after it; quote the text if no anchor is meant"},
    {BEGAN, "found unknown directive name", NULL,
     "'%' begins a directive, of which only %YAML is known; put text in quotes"},
    {BEGAN, "could not find expected directive name", NULL,
     "'%' begins a directive, of which only %YAML is known; put text in quotes"},
    {FOUND, "control characters are not allowed", NULL, "a control character is not allowed"},
};

/* libyaml counts characters; a look at the text needs bytes. */
static size_t offset_of_character(struct myr_str text, size_t index)
{
    size_t at = 0;
    while (index > 0 && at < text.len) {
        utf8_next(text, &at);
        index--;
    }
    return at;
}

/* The commonest mistake with the vaguest message: look at the character itself. */
static int fail_at_character(const struct reader *reader, struct myr_err *err)
{
    yaml_mark_t mark = reader->parser.problem_mark;
    size_t at = offset_of_character(reader->text, mark.index);
    char found = at < reader->text.len ? reader->text.data[at] : '\0';
    if (found == '\t') {
        return fail(reader, place_of(mark), err, "a tab cannot indent YAML; use spaces");
    }
    return fail(reader, place_of(mark), err, "'%c' cannot begin a value; put the text in quotes",
                found);
}

/* Where libyaml noticed, as line and column of the text itself. */
static struct text_place problem_place(const struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    size_t len = reader->text.len;
    size_t offset = len;
    if (parser->error == YAML_READER_ERROR) {
        /* The decoder runs ahead of the scanner and knows only the offset. */
        offset = parser->problem_offset < len ? parser->problem_offset : len;
    } else if (offset_of_character(reader->text, parser->problem_mark.index) < len) {
        return place_of(parser->problem_mark);
    }
    /* At the end of the text libyaml counts one line more than there is. */
    struct text_cursor cursor;
    text_cursor_init(&cursor, reader->text);
    return text_cursor_move(&cursor, offset);
}

/* The first reading that fits; what has none is told in libyaml's own words. */
static int fail_parser(const struct reader *reader, struct myr_err *err)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem ? parser->problem : "not YAML";
    const char *context = parser->context ? parser->context : "";
    if (parser->error == YAML_MEMORY_ERROR) {
        return myr_err_set(err, MYR_ENOMEM, "%s: out of memory", reader->build.file);
    }
    if (strcmp(problem, "found character that cannot start any token") == 0) {
        return fail_at_character(reader, err);
    }
    struct text_place found = problem_place(reader);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(readings); i++) {
        const struct reading *reading = &readings[i];
        struct text_place began = place_of(parser->context_mark);
        if (strcmp(reading->problem, problem) != 0 ||
            (reading->context && !strstr(context, reading->context))) {
            continue;
        }
        if (reading->where == BOTH) {
            return fail(reader, found, err, "%s on line %u", reading->plain, began.line);
        }
        return fail(reader, reading->where == BEGAN ? began : found, err, "%s", reading->plain);
    }
    return fail(reader, found, err, "%s%s%s", problem, *context ? " " : "", context);
}

/* libyaml frees its text with the event. */
static struct myr_str copy_text(struct reader *reader, const yaml_char_t *text, size_t len)
{
    return (struct myr_str){
        myr_arena_strndup(reader->build.arena, (const char *)text, len),
        len,
    };
}

/* A later anchor of the same name takes over, as YAML has it. */
static void set_anchor(struct reader *reader, const yaml_char_t *name, const struct myr_doc *node)
{
    if (!name) {
        return;
    }
    struct myr_str text = {(const char *)name, strlen((const char *)name)};
    uint32_t index = myr_strmap_get(&reader->anchor_names, text);
    if (index != MYR_MAP_NONE) {
        reader->anchors.items[index] = node;
        return;
    }
    text = copy_text(reader, name, text.len);
    bool added = myr_strmap_add(&reader->anchor_names, text, (uint32_t)reader->anchors.count);
    MYR_ASSERT(added);
    myr_vec_push(&reader->anchors, node);
}

/* "!!int '64'" and "!!binary" change what a value is; nothing here would honour that. */
static int check_tag(const struct reader *reader, const yaml_event_t *event, const yaml_char_t *tag,
                     struct myr_err *err)
{
    if (!tag) {
        return MYR_OK;
    }
    return fail(reader, place_of(event->start_mark), err,
                "tags such as '!!str' are not supported; put text in quotes instead");
}

/* '<<' is a key like any other, so that the reader of the map calls it unknown. */
static int read_key(struct reader *reader, const struct myr_doc *scalar, struct myr_err *err)
{
    struct text_place place = {scalar->line, scalar->column};
    if (scalar->text.len == 0 && !scalar->quoted) {
        return fail(reader, place, err, "a key is expected before ':'");
    }
    doc_build_key(&reader->build, place, scalar->text);
    return MYR_OK;
}

/* A key or a value, by what the tree waits for. */
static int read_scalar(struct reader *reader, const yaml_event_t *event, struct myr_err *err)
{
    struct text_place place = place_of(event->start_mark);
    int rc = check_tag(reader, event, event->data.scalar.tag, err);
    if (rc < 0) {
        return rc;
    }
    struct myr_doc scalar = {
        .kind = MYR_DOC_SCALAR,
        /* A block scalar ('|' and '>') counts as quoted: it is text, whatever it looks like. */
        .quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
        .line = place.line,
        .column = place.column,
        .file = reader->build.file,
        .text = copy_text(reader, event->data.scalar.value, event->data.scalar.length),
    };
    /* Empty, '~' and 'null', but not 'Null' and 'NULL', of the spellings that YAML has. */
    if (!scalar.quoted && (scalar.text.len == 0 || myr_str_eq(scalar.text, MYR_STR("~")) ||
                           myr_str_eq(scalar.text, MYR_STR("null")))) {
        scalar.kind = MYR_DOC_NULL;
    }
    const struct myr_doc *node = NULL;
    if (doc_build_wants_key(&reader->build)) {
        rc = read_key(reader, &scalar, err);
        /* A key is no node of the tree, but an alias may want one. */
        if (rc == MYR_OK && event->data.scalar.anchor) {
            struct myr_doc *copy = MYR_ARENA_ONE(reader->build.arena, struct myr_doc);
            *copy = scalar;
            node = copy;
        }
    } else {
        rc = doc_build_scalar(&reader->build, &scalar, &node, err);
    }
    if (rc == MYR_OK) {
        set_anchor(reader, event->data.scalar.anchor, node);
    }
    return rc;
}

/* As a value the node itself is used again; as a key only its text. */
static int read_alias(struct reader *reader, const yaml_event_t *event, struct myr_err *err)
{
    struct text_place place = place_of(event->start_mark);
    struct myr_str name = myr_str_from((const char *)event->data.alias.anchor);
    uint32_t index = myr_strmap_get(&reader->anchor_names, name);
    char shown[MYR_EXCERPT_MAX];
    if (index == MYR_MAP_NONE) {
        return fail(reader, place, err, "alias '*%s' has no anchor '&%s' before it",
                    myr_text_excerpt(name, shown), shown);
    }
    const struct myr_doc *node = reader->anchors.items[index];
    /* The tree would hold itself, and whoever walks it would never come to an end. */
    if (doc_build_is_open(&reader->build, node)) {
        return fail(reader, place, err, "alias '*%s' lies inside its own anchor of line %u",
                    myr_text_excerpt(name, shown), node->line);
    }
    if (!doc_build_wants_key(&reader->build)) {
        return doc_build_alias(&reader->build, place, node, err);
    }
    if (node->kind == MYR_DOC_LIST || node->kind == MYR_DOC_MAP) {
        return fail(reader, place, err, "a key must be plain text, not a list or map");
    }
    /* The key stands where its alias does: that is where a complaint about it must point. */
    struct myr_doc key = *node;
    key.line = place.line;
    key.column = place.column;
    return read_key(reader, &key, err);
}

/* Lists and maps; neither can be a key here. */
static int read_open(struct reader *reader, const yaml_event_t *event, enum myr_doc_kind kind,
                     struct myr_err *err)
{
    struct text_place place = place_of(event->start_mark);
    bool is_list = kind == MYR_DOC_LIST;
    const yaml_char_t *anchor =
        is_list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor;
    int rc =
        check_tag(reader, event,
                  is_list ? event->data.sequence_start.tag : event->data.mapping_start.tag, err);
    if (rc < 0) {
        return rc;
    }
    if (doc_build_wants_key(&reader->build)) {
        return fail(reader, place, err, "a key must be plain text, not a list or map");
    }
    const struct myr_doc *node;
    /*
     * The anchor is set while the node is open, so that an alias inside it is known for what it is.
     */
    MYR_TRY(doc_build_open(&reader->build, place, kind, &node, err));
    set_anchor(reader, anchor, node);
    return MYR_OK;
}

/* Starts and ends of the stream and of the document say nothing that is needed. */
static int read_event(struct reader *reader, const yaml_event_t *event, struct myr_err *err)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (reader->has_document) {
            return fail(reader, place_of(event->start_mark), err,
                        "a second document begins here; one document a file is expected");
        }
        reader->has_document = true;
        return MYR_OK;
    case YAML_SCALAR_EVENT:
        return read_scalar(reader, event, err);
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, err);
    case YAML_SEQUENCE_START_EVENT:
        return read_open(reader, event, MYR_DOC_LIST, err);
    case YAML_MAPPING_START_EVENT:
        return read_open(reader, event, MYR_DOC_MAP, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return doc_build_close(&reader->build, err);
    default:
        return MYR_OK;
    }
}

/* One event at a time, freed before anything else is done with it. */
static int read_events(struct reader *reader, struct myr_err *err)
{
    /* Ends at the latest with the text: every event takes at least one byte or closes a level. */
    for (bool at_end = false; !at_end;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event)) {
            return fail_parser(reader, err);
        }
        at_end = event.type == YAML_STREAM_END_EVENT;
        int rc = read_event(reader, &event, err);
        yaml_event_delete(&event);
        if (rc < 0) {
            return rc;
        }
    }
    /* Also a file of nothing but remarks, and a document start with nothing behind it. */
    const struct myr_doc *root = reader->build.root;
    if (!root || (root->kind == MYR_DOC_NULL && root->text.len == 0)) {
        return fail(reader, (struct text_place){1, 1}, err,
                    "the file is empty, settings such as 'name: value' are expected");
    }
    return MYR_OK;
}

/* LF, CR, NEL, LS or PS: what libyaml takes for the end of a line. */
static bool follows_line_end(struct myr_str text, size_t offset)
{
    static const char *const ends[] = {"\n", "\r", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        size_t len = strlen(ends[i]);
        if (offset >= len && memcmp(text.data + offset - len, ends[i], len) == 0) {
            return true;
        }
    }
    return offset == 0;
}

/*
 * libyaml compares each %TAG line with all before it, within one call: a few megabytes of them take
 * hours. Tags are not supported, so one is too many.
 */
static int check_directives(const struct reader *reader, struct myr_err *err)
{
    static const char directive[] = "%TAG";
    struct myr_str text = reader->text;
    for (size_t at = 0; text.len > 0; at++) {
        const char *found = memmem(text.data + at, text.len - at, directive, sizeof(directive) - 1);
        if (!found) {
            break;
        }
        at = (size_t)(found - text.data);
        if (follows_line_end(text, at)) {
            struct text_cursor cursor;
            text_cursor_init(&cursor, text);
            return fail(reader, text_cursor_move(&cursor, at), err,
                        "tags are not supported, so a %%TAG line has no meaning");
        }
    }
    return MYR_OK;
}

/* Takes one whose parser could not be made: libyaml's delete accepts a zeroed struct. */
static void reader_done(struct reader *reader)
{
    yaml_parser_delete(&reader->parser);
    doc_build_done(&reader->build);
    myr_strmap_done(&reader->anchor_names);
    myr_vec_done(&reader->anchors);
}

int myr_doc_read_yaml(struct myr_arena *arena, const char *file, struct myr_str text,
                      const struct myr_doc **ret, struct myr_err *err)
{
    /* Here and not in libyaml: places are counted in the text without it. */
    text = utf8_skip_mark(text);
    MYR_TRY(doc_check_text(file, text, err));
    MYR_CLEANUP(reader_done) struct reader reader = {.text = text};
    if (!yaml_parser_initialize(&reader.parser)) {
        return myr_err_set(err, MYR_ENOMEM, "%s: out of memory", file);
    }
    doc_build_init(&reader.build, arena, file);
    /* Fixed, or a file that begins with certain bytes would be taken for UTF-16. */
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text.data, text.len);
    MYR_TRY(check_directives(&reader, err));
    MYR_TRY(read_events(&reader, err));
    *ret = reader.build.root;
    return MYR_OK;
}
