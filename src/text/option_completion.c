/*
 * Completion scripts. A command of two words ("fit curve") is a sub-verb: after its first word the
 * second ones are offered, beside the options of the verb itself where it has a row of its own.
 */
#include "option_words.h"

/* What all three shells need: the same table, written in three languages. */
struct script {
    struct myr_buf *buf;
    const char *program;
    const struct myr_command *const *commands;
    uint32_t count;
};

/* The verb. */
static struct myr_str first_word(const char *name)
{
    return (struct myr_str){name, strcspn(name, " ")};
}

/* NULL for a command of one word. */
static const char *second_word(const char *name)
{
    const char *blank = strchr(name, ' ');
    return blank ? blank + 1 : NULL;
}

/* True for the first command that has this first word. */
static bool opens_word(const struct script *script, uint32_t index)
{
    struct myr_str word = first_word(script->commands[index]->name);
    for (uint32_t i = 0; i < index; i++) {
        if (myr_str_eq(first_word(script->commands[i]->name), word)) {
            return false;
        }
    }
    return true;
}

/* True for the first sub-verb of its verb. */
static bool opens_group(const struct script *script, uint32_t index)
{
    struct myr_str word = first_word(script->commands[index]->name);
    if (!second_word(script->commands[index]->name)) {
        return false;
    }
    for (uint32_t i = 0; i < index; i++) {
        const char *name = script->commands[i]->name;
        if (second_word(name) && myr_str_eq(first_word(name), word)) {
            return false;
        }
    }
    return true;
}

/* 'verb' may have a row of its own as well. */
static bool has_subverbs(const struct script *script, struct myr_str verb)
{
    for (uint32_t i = 0; i < script->count; i++) {
        const char *name = script->commands[i]->name;
        if (second_word(name) && myr_str_eq(first_word(name), verb)) {
            return true;
        }
    }
    return false;
}

/* A verb that is nothing by itself: only its sub-verbs have rows. */
static bool is_group_only(const struct script *script, uint32_t index)
{
    struct myr_str verb = first_word(script->commands[index]->name);
    for (uint32_t i = 0; i < script->count; i++) {
        if (myr_str_eq(myr_str_from(script->commands[i]->name), verb)) {
            return false;
        }
    }
    return opens_group(script, index);
}

/* Text inside single quotes; 'special' characters get a backslash. */
static void put_quoted(struct myr_buf *buf, const char *text, const char *special,
                       const char *quote)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            myr_buf_puts(buf, quote);
            continue;
        }
        if (strchr(special, *c)) {
            myr_buf_putc(buf, '\\');
        }
        myr_buf_putc(buf, *c);
    }
}

/* Each once, though "fit" and "fit curve" share it. */
static void put_first_words(const struct script *script)
{
    const char *blank = "";
    for (uint32_t i = 0; i < script->count; i++) {
        if (opens_word(script, i)) {
            struct myr_str word = first_word(script->commands[i]->name);
            myr_buf_printf(script->buf, "%s%.*s", blank, (int)word.len, word.data);
            blank = " ";
        }
    }
}

/* Sub-verbs of a verb, with blanks between. */
static void put_second_words(const struct script *script, struct myr_str group)
{
    const char *blank = "";
    for (uint32_t i = 0; i < script->count; i++) {
        const char *name = script->commands[i]->name;
        if (second_word(name) && myr_str_eq(first_word(name), group)) {
            myr_buf_printf(script->buf, "%s%s", blank, second_word(name));
            blank = " ";
        }
    }
}

/* The same as alternatives of a shell's case: "curve|validate". */
static void put_second_words_barred(const struct script *script, struct myr_str group)
{
    size_t start = script->buf->len;
    put_second_words(script, group);
    for (size_t i = start; i < script->buf->len; i++) {
        script->buf->data[i] = script->buf->data[i] == ' ' ? '|' : script->buf->data[i];
    }
}

/* Values that can be listed: choices, or names of things. */
static bool has_words(const struct myr_option *option)
{
    return option->type == MYR_OPTION_CHOICE || option->words;
}

/* Names of things come from the program itself, choices from the table. */
static void put_choices(struct myr_buf *buf, const struct myr_option *option)
{
    if (option->words) {
        option->words(buf);
        return;
    }
    for (uint32_t i = 0; i < option->choice_count; i++) {
        myr_buf_puts(buf, i > 0 ? " " : "");
        myr_buf_puts(buf, option->choices[i]);
    }
}

/* Values first, by the word before the cursor; then the names of the options. */
static void bash_command(const struct script *script, const struct myr_command *command)
{
    struct myr_buf *buf = script->buf;
    /* First what the word before the cursor wants as its value; a flag wants none. */
    myr_buf_printf(buf, "    '%s')\n        case $prev in\n", command->name);
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        const struct myr_option *option = option_row(command, i);
        if (option->type == MYR_OPTION_FLAG) {
            continue;
        }
        myr_buf_put_lit(buf, "        ");
        if (option->letter) {
            myr_buf_printf(buf, "-%c | ", option->letter);
        }
        myr_buf_printf(buf, "--%s) ", option->name);
        if (has_words(option)) {
            myr_buf_put_lit(buf, "COMPREPLY=($(compgen -W '");
            put_choices(buf, option);
            myr_buf_put_lit(buf, "' -- \"$cur\")); ");
        }
        myr_buf_put_lit(buf, "return ;;\n");
    }
    /* Then the options, in both spellings of a flag. */
    myr_buf_put_lit(buf, "        esac\n        words='--help");
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        const struct myr_option *option = option_row(command, i);
        myr_buf_printf(buf, " --%s", option->name);
        if (option->type == MYR_OPTION_FLAG) {
            myr_buf_printf(buf, " --no-%s", option->name);
        }
    }
    myr_buf_put_lit(buf, "'\n");
    if (command->words) {
        myr_buf_put_lit(buf, "        names='");
        command->words(buf);
        myr_buf_put_lit(buf, "'\n");
    } else if (has_subverbs(script, myr_str_from(command->name))) {
        myr_buf_put_lit(buf, "        ((COMP_CWORD == 2)) && names='");
        put_second_words(script, myr_str_from(command->name));
        myr_buf_put_lit(buf, "'\n");
    }
    myr_buf_put_lit(buf, "        ;;\n");
}

/* The first part finds out which command, of one word or two, the line is about. */
static void bash_head(const struct script *script)
{
    myr_buf_printf(script->buf,
                   "# bash completion for %s\n"
                   "_%s() {\n"
                   "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                   "    local command=${COMP_WORDS[1]} words= names=\n"
                   "    COMPREPLY=()\n"
                   "    # '--name=value' comes as three words.\n"
                   "    if [[ $cur == '=' ]]; then\n"
                   "        cur=\n"
                   "    elif [[ $prev == '=' ]]; then\n"
                   "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                   "    fi\n"
                   "    if ((COMP_CWORD == 1)); then\n"
                   "        command=\n"
                   "    elif ((COMP_CWORD > 2)); then\n"
                   "        case \"$command ${COMP_WORDS[2]}\" in\n",
                   script->program, script->program);
    for (uint32_t i = 0; i < script->count; i++) {
        if (second_word(script->commands[i]->name)) {
            myr_buf_printf(script->buf, "        '%s') command='%s' ;;\n",
                           script->commands[i]->name, script->commands[i]->name);
        }
    }
    myr_buf_put_lit(script->buf, "        esac\n    fi\n");
}

/* With '-o default' the shell offers file names wherever the function offers nothing. */
static void bash_script(const struct script *script)
{
    struct myr_buf *buf = script->buf;
    /*
     * "command" is then empty for the first word, else one of the names that the cases below have.
     */
    bash_head(script);
    myr_buf_put_lit(buf, "    case $command in\n    '') names='");
    put_first_words(script);
    myr_buf_put_lit(buf, "' ;;\n");
    for (uint32_t i = 0; i < script->count; i++) {
        struct myr_str group = first_word(script->commands[i]->name);
        if (is_group_only(script, i)) {
            myr_buf_printf(buf, "    '%.*s') names='", (int)group.len, group.data);
            put_second_words(script, group);
            myr_buf_put_lit(buf, "' ;;\n");
        }
    }
    for (uint32_t i = 0; i < script->count; i++) {
        bash_command(script, script->commands[i]);
    }
    myr_buf_printf(buf,
                   "    esac\n"
                   "    if [[ $cur == -* ]]; then\n"
                   "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                   "    else\n"
                   "        COMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n"
                   "    fi\n"
                   "}\n"
                   "complete -o default -F _%s %s\n",
                   script->program, script->program);
}

/* _arguments takes one word a row: '(what it excludes)'{spellings}'[help]:value:how'. */
static void zsh_option(struct myr_buf *buf, const struct myr_option *option)
{
    const char *quote = "'\\''";
    if (option->letter) {
        myr_buf_printf(buf, " \\\n            '(-%c --%s)'{-%c,--%s}'[", option->letter,
                       option->name, option->letter, option->name);
    } else {
        myr_buf_printf(buf, " \\\n            '--%s[", option->name);
    }
    put_quoted(buf, option->help, "[]:\\", quote);
    myr_buf_putc(buf, ']');
    if (option->type != MYR_OPTION_FLAG) {
        myr_buf_putc(buf, ':');
        put_quoted(buf, option_placeholder(option), "[]:\\", quote);
        myr_buf_putc(buf, ':');
    }
    if (has_words(option)) {
        myr_buf_putc(buf, '(');
        put_choices(buf, option);
        myr_buf_putc(buf, ')');
    } else if (option->type == MYR_OPTION_PATH) {
        myr_buf_put_lit(buf, "_files");
    }
    myr_buf_putc(buf, '\'');
    if (option->type == MYR_OPTION_FLAG) {
        myr_buf_printf(buf, " \\\n            '--no-%s[Not: ", option->name);
        put_quoted(buf, option->help, "[]:\\", quote);
        myr_buf_put_lit(buf, "]'");
    }
}

/* Operands are names where the command can list them, else files. */
static void zsh_command(const struct script *script, const struct myr_command *command)
{
    myr_buf_printf(script->buf, "    '%s')\n        _arguments '--help[Show help]'", command->name);
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        zsh_option(script->buf, option_row(command, i));
    }
    if (command->words) {
        myr_buf_put_lit(script->buf, " \\\n            '*:name:(");
        command->words(script->buf);
        myr_buf_put_lit(script->buf, ")'");
    } else if (command->operand_max > 0) {
        myr_buf_put_lit(script->buf, " \\\n            '*:file:_files'");
    }
    myr_buf_put_lit(script->buf, "\n        ;;\n");
}

/* 'word:summary' rows; for the first words when 'group' is empty, else for that group's. */
static void zsh_words(const struct script *script, struct myr_str group)
{
    for (uint32_t i = 0; i < script->count; i++) {
        const struct myr_command *command = script->commands[i];
        struct myr_str first = first_word(command->name);
        if (group.len == 0 ? !opens_word(script, i)
                           : !second_word(command->name) || !myr_str_eq(first, group)) {
            continue;
        }
        struct myr_str word = group.len > 0 ? myr_str_from(second_word(command->name)) : first;
        myr_buf_printf(script->buf, " '%.*s:", (int)word.len, word.data);
        if (group.len == 0 && second_word(command->name)) {
            put_second_words(script, first); /* the verb has no row that could say it */
        } else {
            put_quoted(script->buf, command->summary, ":\\", "'\\''");
        }
        myr_buf_putc(script->buf, '\'');
    }
}

/*
 * Two cases follow each other: the first makes one command of a verb and its sub-verb, the second
 * offers what that command has.
 */
static void zsh_script(const struct script *script)
{
    struct myr_buf *buf = script->buf;
    const char *program = script->program;
    myr_buf_printf(buf,
                   "#compdef %s\n_%s() {\n    local -a found\n    local command=$words[2]\n"
                   "    if ((CURRENT == 2)); then\n        found=(",
                   program, program);
    /* The first words of the line. */
    zsh_words(script, (struct myr_str){});
    myr_buf_put_lit(buf, ")\n        _describe command found\n        return\n    fi\n"
                         "    shift words\n    ((CURRENT--))\n    case $command in\n");
    for (uint32_t i = 0; i < script->count; i++) {
        struct myr_str group = first_word(script->commands[i]->name);
        if (!opens_group(script, i)) {
            continue;
        }
        myr_buf_printf(buf,
                       "    '%.*s')\n        if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
                       "            found=(",
                       (int)group.len, group.data);
        zsh_words(script, group);
        myr_buf_put_lit(buf, ")\n            _describe command found\n            return\n"
                             "        fi\n        case $words[2] in\n        ");
        put_second_words_barred(script, group);
        myr_buf_put_lit(buf, ")\n            command=\"$command $words[2]\"\n"
                             "            shift words\n            ((CURRENT--))\n"
                             "            ;;\n        esac\n        ;;\n");
    }
    /* Now $command is a name of the table: its options and operands follow. */
    myr_buf_put_lit(buf, "    *) ;;\n    esac\n    case $command in\n");
    for (uint32_t i = 0; i < script->count; i++) {
        zsh_command(script, script->commands[i]);
    }
    /* Autoloaded from fpath the file is the function; sourced, it must register itself. */
    myr_buf_printf(buf,
                   "    *) _files ;;\n    esac\n}\n"
                   "if [[ $funcstack[1] == _%s ]]; then\n    _%s \"$@\"\nelse\n"
                   "    compdef _%s %s\nfi\n",
                   program, program, program, program);
}

/* The condition under which a command's options are offered. */
static void fish_seen(const struct script *script, const struct myr_command *command)
{
    struct myr_str first = first_word(command->name);
    const char *second = second_word(command->name);
    myr_buf_printf(script->buf, "complete -c %s -n '__fish_seen_subcommand_from %.*s",
                   script->program, (int)first.len, first.data);
    if (second) {
        myr_buf_printf(script->buf, "; and __fish_seen_subcommand_from %s", second);
    } else if (has_subverbs(script, first)) {
        myr_buf_put_lit(script->buf, "; and not __fish_seen_subcommand_from ");
        put_second_words(script, first);
    }
    myr_buf_putc(script->buf, '\'');
}

/* 'prefix' is for the negative spelling of a flag, which has no help of its own. */
static void fish_help(const struct script *script, const char *prefix, const char *help)
{
    myr_buf_printf(script->buf, " -d '%s", prefix);
    put_quoted(script->buf, help, "\\", "\\'");
    myr_buf_put_lit(script->buf, "'\n");
}

/* fish wants one line a spelling, each with the condition under which it is offered. */
static void fish_command(const struct script *script, const struct myr_command *command)
{
    struct myr_buf *buf = script->buf;
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        const struct myr_option *option = option_row(command, i);
        fish_seen(script, command);
        myr_buf_printf(buf, " -l %s", option->name);
        if (option->letter) {
            myr_buf_printf(buf, " -s %c", option->letter);
        }
        if (option->type == MYR_OPTION_PATH) {
            myr_buf_put_lit(buf, " -r -F");
        } else if (option->type != MYR_OPTION_FLAG) {
            myr_buf_put_lit(buf, " -x");
        }
        if (has_words(option)) {
            myr_buf_put_lit(buf, " -a '");
            put_choices(buf, option);
            myr_buf_putc(buf, '\'');
        }
        fish_help(script, "", option->help);
        if (option->type == MYR_OPTION_FLAG) {
            fish_seen(script, command);
            myr_buf_printf(buf, " -l no-%s", option->name);
            fish_help(script, "Not: ", option->help);
        }
    }
    if (command->words) {
        fish_seen(script, command);
        myr_buf_put_lit(buf, " -a '");
        command->words(buf);
        myr_buf_put_lit(buf, "'\n");
    } else if (command->operand_max > 0) {
        fish_seen(script, command);
        myr_buf_put_lit(buf, " -F\n");
    }
}

/* A verb without a row of its own is described by its sub-verbs. */
static void fish_word(const struct script *script, uint32_t index)
{
    const struct myr_command *command = script->commands[index];
    struct myr_str first = first_word(command->name);
    const char *second = second_word(command->name);
    if (opens_word(script, index)) {
        myr_buf_printf(script->buf, "complete -c %s -n __fish_use_subcommand -a %.*s",
                       script->program, (int)first.len, first.data);
        if (second) {
            myr_buf_put_lit(script->buf, " -d '");
            put_second_words(script, first);
            myr_buf_put_lit(script->buf, "'\n");
        } else {
            fish_help(script, "", command->summary);
        }
    }
    if (second) {
        myr_buf_printf(script->buf,
                       "complete -c %s -n '__fish_seen_subcommand_from %.*s; and not "
                       "__fish_seen_subcommand_from ",
                       script->program, (int)first.len, first.data);
        put_second_words(script, first);
        myr_buf_printf(script->buf, "' -a %s", second);
        fish_help(script, "", command->summary);
    }
}

static void fish_script(const struct script *script)
{
    /* "-f": no file names, but where a command says "-F". */
    myr_buf_printf(script->buf, "# fish completion for %s\ncomplete -c %s -f\n", script->program,
                   script->program);
    myr_buf_printf(script->buf, "complete -c %s -l help -s h -d 'Show help'\n", script->program);
    for (uint32_t i = 0; i < script->count; i++) {
        fish_word(script, i);
        fish_command(script, script->commands[i]);
    }
}

void myr_option_completion(enum myr_shell shell, const char *program,
                           const struct myr_command *const *commands, uint32_t count,
                           struct myr_buf *buf)
{
    struct script script = {buf, program, commands, count};
    switch (shell) {
    case MYR_SHELL_BASH:
        bash_script(&script);
        return;
    case MYR_SHELL_ZSH:
        zsh_script(&script);
        return;
    case MYR_SHELL_FISH:
        fish_script(&script);
        return;
    }
}
