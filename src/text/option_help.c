/*
 * option_help: --help and the manual's section, from the same table that reads the command line, so
 * that no text can fall behind what is parsed.
 */
#include "option_words.h"
#include "wrap.h"

/* Options whose left side is wider than LEFT_WIDTH_MAX do not push the texts to the right. */
enum { HELP_WIDTH = 80, LEFT_WIDTH_MAX = 30 };
#define HELP_INDEX UINT32_MAX

/* Not in any command's table: it is everywhere, and has no value to set. */
static const struct myr_option help_row = {
    .name = "help", .letter = 'h', .type = MYR_OPTION_FLAG, .help = "Show this help"};

/* Appends words to a line that stands at 'indent', breaking before the width. */
static void put_wrapped(struct myr_buf *buf, const char *text, size_t indent)
{
    size_t column = indent;
    while (*text) {
        size_t blanks = strspn(text, " ");
        size_t word = strcspn(text + blanks, " ");
        /* The first word of a line is never moved on: it would go to a line that is no longer. */
        if (column > indent && column + 1 + word > HELP_WIDTH) {
            myr_buf_printf(buf, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            myr_buf_putc(buf, ' ');
            column++;
        }
        myr_buf_put(buf, text + blanks, word);
        column += word;
        text += blanks + word;
    }
}

/* "  -o, --output FORMAT" */
static void put_left(struct myr_buf *buf, const struct myr_option *option)
{
    const char *placeholder = option_placeholder(option);
    bool can_unset = option->type == MYR_OPTION_FLAG && option != &help_row;
    if (option->letter) {
        myr_buf_printf(buf, "  -%c, ", option->letter);
    } else {
        myr_buf_put_lit(buf, "      ");
    }
    myr_buf_printf(buf, "--%s%s", can_unset ? "[no-]" : "", option->name);
    if (placeholder) {
        myr_buf_printf(buf, " %s", placeholder);
    }
}

/* Written once to be measured: the width cannot disagree with the text. */
static size_t left_width(const struct myr_option *option)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf scratch = {};
    put_left(&scratch, option);
    return scratch.len;
}

/* What may be given: "One of a, b, c" or "1 to 64"; nothing for free text. */
static void put_allowed(struct myr_buf *buf, const struct myr_option *option)
{
    char low[32];
    char high[32];
    if (option->type == MYR_OPTION_CHOICE) {
        for (uint32_t i = 0; i < option->choice_count; i++) {
            myr_buf_puts(buf, i > 0 ? ", " : "one of ");
            myr_buf_puts(buf, option->choices[i]);
        }
    } else if (option->type == MYR_OPTION_U64 && option_max(option) == UINT64_MAX) {
        myr_buf_printf(buf, "at least %s", myr_u64_grouped(option->min, low));
    } else if (option->type == MYR_OPTION_U64) {
        myr_buf_printf(buf, "%s to %s", myr_u64_grouped(option->min, low),
                       myr_u64_grouped(option_max(option), high));
    } else if (option->type == MYR_OPTION_LIST) {
        myr_buf_put_lit(buf, "may be given several times");
    }
}

/* 'index' is the row's number; HELP_INDEX for --help itself. */
static void put_option(struct myr_buf *buf, const struct myr_command *command, uint32_t index,
                       size_t indent)
{
    const struct myr_option *option = index == HELP_INDEX ? &help_row : option_row(command, index);
    size_t start = buf->len;
    put_left(buf, option);
    size_t column = buf->len - start;
    /* A long name gets a line of its own rather than pushing all texts to the right. */
    if (column + 2 > indent) {
        myr_buf_putc(buf, '\n');
        column = 0;
    }
    myr_buf_printf(buf, "%*s", (int)(indent - column), "");
    /* One text, so that the marks between its parts count where lines are broken. */
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, allowed = {};
    myr_buf_puts(&text, option->help);
    put_allowed(&allowed, option);
    if (allowed.len > 0) {
        myr_buf_printf(&text, "; %s", allowed.data);
    }
    /* --help has neither a default nor a variable. */
    if (option != &help_row) {
        char env[OPTION_NAME_MAX];
        MYR_CLEANUP(myr_buf_done) struct myr_buf value = {};
        option_put_default(command, index, &value);
        option_env_name(command, index, env);
        myr_buf_printf(&text, " [%s%s%s%s]", value.len > 0 ? "default: " : "",
                       value.len > 0 ? value.data : "", value.len > 0 ? "; " : "", env);
    }
    put_wrapped(buf, text.data, indent);
    myr_buf_putc(buf, '\n');
}

/* Where a command is broken to fit the screen: before an option, else at a blank. 0: nowhere. */
static size_t break_at(const char *line, size_t len)
{
    enum { ROOM = HELP_WIDTH - 11 }; /* manuals indent by more than --help does */
    size_t blank = 0, option = 0;
    if (len <= ROOM || memchr(line, '#', len)) { /* a remark would be cut */
        return 0;
    }
    /* Two columns less: for the blank and the backslash at the end. */
    for (size_t i = 1; i < ROOM - 2; i++) {
        blank = line[i] == ' ' ? i : blank;
        option = strncmp(line + i, " --", 3) == 0 ? i : option;
    }
    return option > 0 ? option : blank;
}

/* Examples keep their own line ends; a long command goes on behind a backslash. */
static void put_block(struct myr_buf *buf, const char *text, const char *indent)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        size_t at = break_at(text, len);
        if (len > 0) {
            myr_buf_puts(buf, indent);
            myr_buf_put(buf, text, at > 0 ? at : len);
        }
        if (at > 0) {
            myr_buf_printf(buf, " \\\n%s   ", indent);
            myr_buf_put(buf, text + at, len - at);
        }
        myr_buf_putc(buf, '\n');
        text += len + (text[len] == '\n');
    }
}

/* Paragraphs, broken to the width; a line end in the text begins a new one. */
static void put_paragraphs(struct myr_buf *buf, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        wrap_put(buf, (struct myr_str){text, len}, 0, 0, HELP_WIDTH);
        myr_buf_putc(buf, '\n');
        text += len + (text[len] == '\n');
    }
}

/* Names in a column of their own; a summary goes on below itself. */
void myr_option_overview(const struct myr_command *command, uint32_t indent, struct myr_buf *buf)
{
    MYR_ASSERT(strlen(command->name) + 2 < indent);
    myr_buf_printf(buf, "  %-*s", (int)indent - 2, command->name);
    put_wrapped(buf, command->summary, indent);
    myr_buf_putc(buf, '\n');
}

static void put_subcommands(struct myr_buf *buf, const struct myr_command *command)
{
    enum { INDENT = 24 };
    if (command->subcommand_count > 0) {
        myr_buf_put_lit(buf, "\nSub-verbs, each with options of its own (--help):\n");
    }
    for (uint32_t i = 0; i < command->subcommand_count; i++) {
        myr_option_overview(command->subcommands[i], INDENT, buf);
    }
}

void myr_option_help(const struct myr_command *command, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "Usage: ");
    option_put_command(command, buf);
    myr_buf_puts(buf, " [OPTION]...");
    if (command->operands && command->operands[0]) {
        myr_buf_printf(buf, " %s", command->operands);
    }
    myr_buf_printf(buf, "\n\n%s\n\nOptions:\n", command->summary);

    /* The widest left side that is not too wide decides where all texts begin. */
    size_t indent = left_width(&help_row) + 2;
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        size_t width = left_width(option_row(command, i)) + 2;
        indent = width > indent && width <= LEFT_WIDTH_MAX ? width : indent;
    }
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        put_option(buf, command, i, indent);
    }
    put_option(buf, command, HELP_INDEX, indent);
    put_subcommands(buf, command);
    if (command->details) {
        myr_buf_putc(buf, '\n');
        put_paragraphs(buf, command->details);
    }
    if (command->example) {
        myr_buf_put_lit(buf, "\nExample:\n");
        put_block(buf, command->example, "  ");
    }
}

/* Guards what the manual's source would take for marks; some are marks only where a line begins. */
void myr_option_man_text(const char *text, struct myr_buf *buf)
{
    bool at_line_start = true;
    for (const char *c = text; *c; c++) {
        if (strchr("\\*_+", *c) || (at_line_start && strchr("#-.[]|;`\t", *c))) {
            myr_buf_putc(buf, '\\');
        }
        myr_buf_putc(buf, *c);
        at_line_start = *c == '\n';
    }
}

/* The same facts as put_option, in the form that man pages have. */
static void put_man_option(struct myr_buf *buf, const struct myr_command *command, uint32_t index)
{
    const struct myr_option *option = option_row(command, index);
    const char *placeholder = option_placeholder(option);
    char env[OPTION_NAME_MAX];
    MYR_CLEANUP(myr_buf_done) struct myr_buf note = {};
    if (option->letter) {
        myr_buf_printf(buf, "*-%c*, ", option->letter);
    }
    myr_buf_printf(buf, "*--%s*", option->name);
    if (option->type == MYR_OPTION_FLAG) {
        myr_buf_printf(buf, ", *--no-%s*", option->name);
    } else {
        myr_buf_printf(buf, " _%s_", placeholder);
    }
    myr_buf_put_lit(buf, "\n\t");
    myr_option_man_text(option->help, buf);
    put_allowed(&note, option);
    if (note.len > 0) {
        myr_buf_put_lit(buf, "; ");
        myr_option_man_text(note.data, buf);
    }
    myr_buf_put_lit(buf, ".");
    myr_buf_clear(&note);
    option_put_default(command, index, &note);
    if (note.len > 0) {
        myr_buf_put_lit(buf, " Default: ");
        myr_option_man_text(note.data, buf);
        myr_buf_put_lit(buf, ".");
    }
    option_env_name(command, index, env);
    myr_buf_put_lit(buf, " Environment: *");
    myr_option_man_text(env, buf);
    myr_buf_put_lit(buf, "*.\n\n");
}

/* A subsection, so that the commands lie together under one heading of the page. */
void myr_option_man(const struct myr_command *command, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "## ");
    option_put_command(command, buf);
    if (command->operands && command->operands[0]) {
        myr_buf_printf(buf, " %s", command->operands);
    }
    myr_buf_put_lit(buf, "\n\n");
    myr_option_man_text(command->summary, buf);
    myr_buf_put_lit(buf, "\n\n");
    if (command->details) {
        myr_option_man_text(command->details, buf);
        myr_buf_put_lit(buf, "\n\n");
    }
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        put_man_option(buf, command, i);
    }
    if (command->example) {
        myr_buf_put_lit(buf, "Example:\n\n```\n");
        put_block(buf, command->example, "");
        myr_buf_put_lit(buf, "```\n\n");
    }
}
