/*
 * option: a command line read by the table of its command. Values go straight into the command's
 * struct, in this order: defaults, then the words of the line, then variables for what the line
 * left open.
 */
#include "myriad/text/option_echo.h"

#include <stdio.h>

#include "letter/message.h"
#include "myriad/text/doc.h"
#include "option_words.h"

struct parse {
    const struct myr_command *command;
    int argc;
    const char *const *argv;
    int at;                       /* the word of argv that is looked at */
    bool given[OPTION_COUNT_MAX]; /* on the command line */
    struct myr_option_values values;
    struct myr_operands *operands;
    struct myr_err *err;
};

/* A row's number among the command's own and common ones. */
static uint32_t index_of(const struct parse *parse, const struct myr_option *option)
{
    uint32_t index = 0;
    while (option_row(parse->command, index) != option) {
        index++;
        MYR_ASSERT(index < option_row_count(parse->command));
    }
    return index;
}

/* Never NULL here: a row that can be given has a place to put it. */
static void *place_of(const struct parse *parse, const struct myr_option *option)
{
    void *place = option_place(parse->command, index_of(parse, option), &parse->values);
    MYR_ASSERT(place);
    return place;
}

/* One line, and where to read more. */
MYR_PRINTF(2, 3)
static int fail(const struct parse *parse, const char *fmt, ...)
{
    char message[MYR_ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    option_put_command(parse->command, &name);
    int rc = myr_err_set(parse->err, MYR_EINVAL, "%s", message);
    myr_err_hint(parse->err, "%s --help", name.data);
    return rc;
}

/* 'origin' is what the user wrote: "--output", "-o" or "MYRIAD_OUTPUT". */
static int set_number(const struct parse *parse, const struct myr_option *option,
                      const char *origin, const char *value)
{
    uint64_t number;
    uint64_t max = option_max(option);
    MYR_ASSERT(option->min <= max);
    /* Whole numbers only, in decimal, without signs or blanks. */
    if (!myr_str_to_u64(myr_str_from(value), &number) || number < option->min || number > max) {
        char shown[MYR_EXCERPT_MAX];
        char phrase[MESSAGE_PHRASE_MAX];
        return fail(parse, "'%s' is '%s', %s is expected", origin,
                    myr_text_excerpt(myr_str_from(value), shown),
                    message_range(option->min, max, phrase));
    }
    *(uint64_t *)place_of(parse, option) = number;
    return MYR_OK;
}

/* Only whole words: an abbreviation in a script breaks when a new choice is added. */
static int set_choice(const struct parse *parse, const struct myr_option *option,
                      const char *origin, const char *value)
{
    for (uint32_t i = 0; i < option->choice_count; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *(uint32_t *)place_of(parse, option) = i;
            return MYR_OK;
        }
    }
    char shown[MYR_EXCERPT_MAX];
    char phrase[MESSAGE_PHRASE_MAX];
    struct myr_str text = myr_str_from(value);
    message_nearest(text, option->choices, option->choice_count, phrase);
    if (phrase[0]) {
        return fail(parse, "'%s' is '%s', which is no known choice; %s", origin,
                    myr_text_excerpt(text, shown), phrase);
    }
    return fail(parse, "'%s' is '%s', %s is expected", origin, myr_text_excerpt(text, shown),
                message_one_of(option->choices, option->choice_count, phrase));
}

/* The first of them clears the default, which is why 'given' is set only after this. */
static int add_item(const struct parse *parse, const struct myr_option *option, const char *origin,
                    const char *value)
{
    struct myr_option_list *list = place_of(parse, option);
    if (!parse->given[index_of(parse, option)]) {
        list->count = 0; /* what the user gives replaces the default */
    }
    MYR_ASSERT(list->count <= MYR_OPTION_LIST_MAX);
    if (list->count == MYR_OPTION_LIST_MAX) {
        return fail(parse, "'%s' is given more than %d times, the most allowed", origin,
                    MYR_OPTION_LIST_MAX);
    }
    list->items[list->count++] = value;
    return MYR_OK;
}

/* Texts are not copied: they lie in argv or in the environment, which outlive the command. */
static int set_value(const struct parse *parse, const struct myr_option *option, const char *origin,
                     const char *value)
{
    switch (option->type) {
    case MYR_OPTION_U64:
        return set_number(parse, option, origin, value);
    case MYR_OPTION_CHOICE:
        return set_choice(parse, option, origin, value);
    case MYR_OPTION_LIST:
        return add_item(parse, option, origin, value);
    case MYR_OPTION_TEXT:
    case MYR_OPTION_PATH:
    case MYR_OPTION_FLAG:
        break;
    }
    MYR_ASSERT(option->type != MYR_OPTION_FLAG);
    *(const char **)place_of(parse, option) = value;
    return MYR_OK;
}

/* Takes the value from 'attached' ("--name=value", "-nvalue") or from the next word. */
static int take_value(struct parse *parse, const struct myr_option *option, const char *origin,
                      const char *attached)
{
    const char *value = attached;
    if (!value && parse->at + 1 < parse->argc) {
        value = parse->argv[parse->at + 1];
        if (strncmp(value, "--", 2) == 0) {
            value = NULL; /* far more likely the next option than a value */
        } else {
            parse->at++;
        }
    }
    /* An empty value is no value: "--name=" needs one too. */
    if (!value || !*value) {
        return fail(parse, "'%s' needs a value: %s", origin, option_placeholder(option));
    }
    int rc = set_value(parse, option, origin, value);
    parse->given[index_of(parse, option)] = true;
    return rc;
}

/* A walk over the row: commands have a dozen options, and each is looked up once. */
static const struct myr_option *find_option(const struct myr_command *command, struct myr_str name)
{
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        if (myr_str_eq(myr_str_from(option_row(command, i)->name), name)) {
            return option_row(command, i);
        }
    }
    return NULL;
}

/* 'text' is the option as written, without its value. */
static int fail_unknown(const struct parse *parse, struct myr_str text)
{
    /* With dashes, so that "--no-x" and "--x" compete as the user sees them. */
    static const char help[] = "--help";
    /* All spellings, so that the nearest is found among what could have been typed. */
    char names[2 * OPTION_COUNT_MAX][OPTION_NAME_MAX];
    const char *pointers[2 * OPTION_COUNT_MAX + 1];
    size_t count = 0;
    MYR_ASSERT(option_row_count(parse->command) <= OPTION_COUNT_MAX);
    for (uint32_t i = 0; i < option_row_count(parse->command); i++) {
        const struct myr_option *option = option_row(parse->command, i);
        snprintf(names[count], OPTION_NAME_MAX, "--%s", option->name);
        pointers[count] = names[count];
        count++;
        if (option->type == MYR_OPTION_FLAG) {
            snprintf(names[count], OPTION_NAME_MAX, "--no-%s", option->name);
            pointers[count] = names[count];
            count++;
        }
    }
    pointers[count++] = help;
    char phrase[MESSAGE_PHRASE_MAX] = "";
    if (text.len > 2) {
        message_nearest(text, pointers, count, phrase);
    }
    char shown[MYR_EXCERPT_MAX];
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    option_put_command(parse->command, &name);
    return fail(parse, "unknown option '%s' for '%s'%s%s", myr_text_excerpt(text, shown), name.data,
                phrase[0] ? "; " : "", phrase);
}

/* "--name", "--name=value", "--name value" and, for a flag, "--no-name". */
static int parse_long(struct parse *parse, const char *word)
{
    const char *equals = strchr(word, '=');
    struct myr_str text = {word, equals ? (size_t)(equals - word) : strlen(word)};
    struct myr_str name = {word + 2, text.len - 2};
    const struct myr_option *option = find_option(parse->command, name);
    /* An option that is itself called "no-..." comes first. */
    bool turns_off = false;
    if (!option && name.len > 3 && memcmp(name.data, "no-", 3) == 0) {
        option = find_option(parse->command, (struct myr_str){name.data + 3, name.len - 3});
        turns_off = option != NULL;
    }
    if (!option || (turns_off && option->type != MYR_OPTION_FLAG)) {
        return fail_unknown(parse, text);
    }
    /* What the user typed, in its full spelling, for complaints. */
    char origin[OPTION_NAME_MAX];
    snprintf(origin, sizeof(origin), "--%s%s", turns_off ? "no-" : "", option->name);
    if (option->type != MYR_OPTION_FLAG) {
        return take_value(parse, option, origin, equals ? equals + 1 : NULL);
    }
    if (equals) {
        char shown[MYR_EXCERPT_MAX];
        return fail(parse, "'%s' takes no value; leave out '%s'", origin,
                    myr_text_excerpt(myr_str_from(equals), shown));
    }
    *(bool *)place_of(parse, option) = !turns_off;
    parse->given[index_of(parse, option)] = true;
    return MYR_OK;
}

/* "-o json" and "-ojson". Letters are not grouped: "-out" would mean something surprising. */
static int parse_short(struct parse *parse, const char *word)
{
    const struct myr_option *option = NULL;
    for (uint32_t i = 0; i < option_row_count(parse->command) && !option; i++) {
        const struct myr_option *candidate = option_row(parse->command, i);
        option = candidate->letter == word[1] ? candidate : NULL;
    }
    /* A flag with more behind its letter is no group of flags: it is unknown. */
    if (!option || (option->type == MYR_OPTION_FLAG && word[2])) {
        return fail_unknown(parse, myr_str_from(word));
    }
    if (option->type == MYR_OPTION_FLAG) {
        *(bool *)place_of(parse, option) = true;
        parse->given[index_of(parse, option)] = true;
        return MYR_OK;
    }
    char origin[3] = {'-', word[1], '\0'};
    return take_value(parse, option, origin, word[2] ? word + 2 : NULL);
}

static int add_operand(struct parse *parse, const char *word)
{
    const struct myr_command *command = parse->command;
    struct myr_operands *operands = parse->operands;
    MYR_ASSERT(command->operand_max <= MYR_OPERANDS_MAX);
    if (operands->count < command->operand_max) {
        operands->items[operands->count++] = word;
        return MYR_OK;
    }
    char shown[MYR_EXCERPT_MAX];
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    option_put_command(command, &name);
    return command->operand_max == 0
               ? fail(parse, "'%s' takes no operand, '%s' is one too many", name.data,
                      myr_text_excerpt(myr_str_from(word), shown))
               : fail(parse, "'%s' takes %s, '%s' is one too many", name.data, command->operands,
                      myr_text_excerpt(myr_str_from(word), shown));
}

/* Options and operands may come in any order; behind "--" all are operands. */
static int parse_words(struct parse *parse)
{
    bool only_operands = false;
    for (; parse->at < parse->argc; parse->at++) {
        const char *word = parse->argv[parse->at];
        /* "-" alone is an operand: standard input or output. */
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            MYR_TRY(add_operand(parse, word));
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (word[1] == '-') {
            MYR_TRY(parse_long(parse, word));
        } else {
            MYR_TRY(parse_short(parse, word));
        }
    }
    MYR_ASSERT(parse->at == parse->argc);
    return MYR_OK;
}

/* Words for no and yes in turn, so that the odd ones are yes. */
static int set_flag_from_env(const struct parse *parse, const struct myr_option *option,
                             const char *origin, const char *value)
{
    static const char *const words[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (myr_str_eq_nocase(myr_str_from(value), myr_str_from(words[i]))) {
            *(bool *)place_of(parse, option) = i % 2 == 1;
            return MYR_OK;
        }
    }
    char shown[MYR_EXCERPT_MAX];
    return fail(parse, "'%s' is '%s', true or false is expected", origin,
                myr_text_excerpt(myr_str_from(value), shown));
}

/* A variable as it was called before verbs had names of their own. */
static int refuse_old(const struct parse *parse, uint32_t i,
                      const char *(*lookup_env)(const char *name))
{
    char name[OPTION_NAME_MAX];
    char old[OPTION_NAME_MAX];
    const struct myr_command *command = parse->command;
    if (command->young || i >= command->option_count || option_row(command, i)->young) {
        return MYR_OK;
    }
    /* Refused, not ignored: whoever still sets it would wonder why it has no effect. */
    option_old_env_name(option_row(command, i), old);
    option_env_name(command, i, name);
    const char *value = lookup_env(old);
    return value && *value
               ? fail(parse, "'%s' is not read any more; its name is '%s' now", old, name)
               : MYR_OK;
}

/* Only what the command line left open: a wrong variable must not stop who overrides it. */
static int apply_env(const struct parse *parse, const char *(*lookup_env)(const char *name))
{
    for (uint32_t i = 0; i < option_row_count(parse->command); i++) {
        const struct myr_option *option = option_row(parse->command, i);
        char name[OPTION_NAME_MAX];
        MYR_TRY(refuse_old(parse, i, lookup_env));
        option_env_name(parse->command, i, name);
        /* An empty variable counts as none. */
        const char *value = parse->given[i] ? NULL : lookup_env(name);
        if (!value || !*value) {
            continue;
        }
        MYR_TRY(option->type == MYR_OPTION_FLAG ? set_flag_from_env(parse, option, name, value)
                                                : set_value(parse, option, name, value));
    }
    return MYR_OK;
}

/* The first of the words that is the name of an option with another value than its default. */
static const char *first_given(const struct parse *parse, const char *words, char *ret, size_t room)
{
    while (*words) {
        size_t len = strcspn(words, " ");
        MYR_ASSERT(len > 0 && len < room);
        memcpy(ret, words, len);
        ret[len] = '\0';
        if (myr_option_given(parse->command, parse->values.own, ret)) {
            return ret;
        }
        words += len + (words[len] == ' ');
    }
    return NULL;
}

/* "--flows or --layout or --nodes" */
static void put_any_of(const char *words, struct myr_buf *buf)
{
    while (*words) {
        size_t len = strcspn(words, " ");
        myr_buf_printf(buf, "%s--%.*s", buf->len ? " or " : "", (int)len, words);
        words += len + (words[len] == ' ');
    }
}

/* One row, or rule, held against one option that was typed. */
static int check_rule(const struct parse *parse, const char *option,
                      const struct myr_option_rule *rule)
{
    char name[OPTION_NAME_MAX];
    if (rule->needs && !first_given(parse, rule->needs, name, sizeof(name))) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf others = {};
        put_any_of(rule->needs, &others);
        return fail(parse, "--%s says nothing without %s", option, others.data);
    }
    if (rule->against && first_given(parse, rule->against, name, sizeof(name))) {
        return fail(parse, "--%s does not go with --%s", option, name);
    }
    if (rule->alone && parse->operands->count > 0) {
        char shown[MYR_EXCERPT_MAX];
        return fail(parse, "--%s does not go with '%s'", option,
                    myr_text_excerpt(myr_str_from(parse->operands->items[0]), shown));
    }
    return MYR_OK;
}

/* Its own rule, then those that it shares with others. */
static int check_rules(const struct parse *parse, const struct myr_option *option)
{
    const struct myr_command *command = parse->command;
    const struct myr_option_rule row = {.needs = option->needs, .against = option->against};
    MYR_TRY(check_rule(parse, option->name, &row));
    for (uint32_t r = 0; r < command->rule_count; r++) {
        if (option_names_word(command->rules[r].options, option->name)) {
            MYR_TRY(check_rule(parse, option->name, &command->rules[r]));
        }
    }
    return MYR_OK;
}

/* What would be ignored is refused: an option that does nothing is a mistake of the one who typed
 * it. */
static int check_company(const struct parse *parse)
{
    const struct myr_command *command = parse->command;
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        const struct myr_option *option = option_row(command, i);
        bool own = i < command->option_count;
        /* As it is anyway it takes nothing away; the common ones have no such defaults. */
        if (!parse->given[i] ||
            (own && !myr_option_given(command, parse->values.own, option->name))) {
            continue;
        }
        MYR_TRY(check_rules(parse, option));
    }
    return MYR_OK;
}

/* Before anything else, so that help is there for the one whose line is still wrong. */
static bool asks_for_help(int argc, const char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

int myr_option_parse(const struct myr_command *command, int argc, const char *const *argv,
                     const char *(*lookup_env)(const char *name),
                     const struct myr_option_values *values, struct myr_operands *ret,
                     struct myr_err *err)
{
    MYR_ASSERT(option_row_count(command) <= OPTION_COUNT_MAX);
    if (values->own && command->defaults) {
        memcpy(values->own, command->defaults, command->values_bytes);
    }
    /* Nothing else is looked at then: what is wrong with the line may be why help is asked for. */
    *ret = (struct myr_operands){.help = asks_for_help(argc, argv)};
    if (ret->help) {
        return MYR_OK;
    }
    struct parse parse = {
        .command = command,
        .argc = argc,
        .argv = argv,
        .values = *values,
        .operands = ret,
        .err = err,
    };
    MYR_TRY(parse_words(&parse));
    for (uint32_t i = 0; i < command->option_count; i++) {
        ret->typed |= (uint64_t)parse.given[i] << i;
    }
    MYR_TRY(apply_env(&parse, lookup_env)); /* after the words: a flag beats a variable */
    MYR_TRY(check_company(&parse));
    if (ret->count < command->operand_min) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        option_put_command(command, &name);
        return fail(&parse, "'%s' needs %s", name.data, command->operands);
    }
    return MYR_OK;
}
