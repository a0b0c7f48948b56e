/*
 * dispatch: from the words of the command line to the verb that is meant. A verb has one word or
 * two; overview, version and help are words here too. What is not known is answered with the
 * nearest word that is.
 */
#include <stdio.h>

#include "cli.h"

/* For suggestions; tests/tidy would notice a program with more verbs long before. */
enum { VERBS_MAX = 96 };

/* Names of two words are those of sub-verbs. */
static bool is_subverb(const struct cli_verb *verb)
{
    return strchr(verb->row->name, ' ') != NULL;
}

/* A heading and its verbs, in the order of the table; sub-verbs show in the help of their verb. */
static void put_group(struct myr_buf *buf, const char *group)
{
    enum { INDENT = 15 };
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    myr_buf_printf(buf, "\n%s\n", group);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *command = verbs[i]->row;
        if (!is_subverb(verbs[i]) && strcmp(verbs[i]->group, group) == 0) {
            myr_option_overview(command, INDENT, buf);
        }
    }
}

static int overview(void)
{
    static const char *const groups[] = {CLI_DESIGN_GROUP, CLI_PROVE_GROUP, CLI_BUILD_GROUP,
                                         CLI_RUN_GROUP, CLI_PROGRAM_GROUP};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_buf_put_lit(&buf, "Myriad designs, proves and schedules clusters of ten thousand GPUs.\n\n"
                          "usage: myriad <verb> [options]\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(groups); i++) {
        put_group(&buf, groups[i]);
    }
    myr_buf_put_lit(&buf, "\nmyriad <verb> --help shows options and an example.\n"
                          "First steps: myriad plan examples/h100-64.yaml\n");
    return cli_print(&buf);
}

/* 'verb' is NULL for the verbs themselves, else its sub-verbs are meant. */
static int unknown(const char *word, const struct myr_command *verb)
{
    const char *names[VERBS_MAX];
    size_t count = 0;
    char near[128];
    struct myr_err err = {};
    uint32_t verb_count;
    const struct cli_verb *const *verbs = cli_verbs(&verb_count);
    MYR_ASSERT(verb_count <= VERBS_MAX);
    for (uint32_t i = 0; !verb && i < verb_count; i++) {
        if (!is_subverb(verbs[i])) {
            names[count++] = verbs[i]->row->name;
        }
    }
    for (uint32_t i = 0; verb && i < verb->subcommand_count; i++) {
        MYR_ASSERT(count < VERBS_MAX && strchr(verb->subcommands[i]->name, ' '));
        names[count++] = strchr(verb->subcommands[i]->name, ' ') + 1;
    }
    /* Empty where no word is near enough to have been meant. */
    myr_str_nearest(myr_str_from(word), names, count, near, sizeof(near));
    (void)myr_err_set(&err, MYR_EINVAL, "unknown %s '%.40s'%s%s%s%s%s", verb ? "sub-verb" : "verb",
                      word, verb ? " of " : "", verb ? verb->name : "",
                      near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    myr_err_hint(&err, verb ? "myriad %s --help" : "myriad%s --help", verb ? verb->name : "");
    return cli_error(&err);
}

/* A verb that is nothing by itself: its sub-verbs are named, so that the next try is a good one. */
static int needs_subverb(const struct myr_command *verb)
{
    struct myr_err err = {};
    char list[256] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < verb->subcommand_count; i++) {
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i > 0 ? ", " : "",
                                strchr(verb->subcommands[i]->name, ' ') + 1);
        MYR_ASSERT(len < sizeof(list));
    }
    (void)myr_err_set(&err, MYR_EINVAL, "'myriad %s' needs one of %s", verb->name, list);
    myr_err_hint(&err, "myriad %s --help", verb->name);
    return cli_error(&err);
}

/* 'second' NULL: the verb of that name itself. NULL: there is none. */
static const struct cli_verb *find(const char *first, const char *second)
{
    uint32_t count;
    const struct cli_verb *const *verbs = cli_verbs(&count);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = verbs[i]->row->name;
        size_t len = strlen(first);
        bool same = second ? strncmp(name, first, len) == 0 && name[len] == ' ' &&
                                 strcmp(name + len + 1, second) == 0
                           : strcmp(name, first) == 0;
        if (same) {
            return verbs[i];
        }
    }
    return NULL;
}

/* 'argv' begins with the verb. */
static int run_words(int argc, const char *const *argv, bool help,
                     const char *(*lookup_env)(const char *name))
{
    static const char *const help_words[] = {"--help"};
    /* The longer name first: "route apply" is not route with an operand. */
    const char *second = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const struct cli_verb *verb = second ? find(argv[0], second) : NULL;
    int used = verb ? 2 : 1;
    verb = verb ? verb : find(argv[0], NULL);
    if (!verb) {
        return unknown(argv[0], NULL);
    }
    const struct myr_command *command = verb->row;
    /* A word behind a verb that takes no operand was meant as a sub-verb. */
    if (used == 1 && second && command->subcommand_count > 0 && command->operand_max == 0) {
        return unknown(second, command);
    }
    /* Help is to be had of a verb too that cannot run by itself. */
    bool asks = help || (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")));
    if (!verb->run && !asks) {
        return needs_subverb(command);
    }
    return help ? cli_run(verb, 1, help_words, lookup_env)
                : cli_run(verb, argc - used, argv + used, lookup_env);
}

int cli_main(int argc, const char *const *argv, const char *(*lookup_env)(const char *name))
{
    /* Without a word the overview: whoever types the bare name wants to know what there is. */
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
        myr_buf_printf(&buf, "myriad %s\n", cli_version);
        return cli_print(&buf);
    }
    bool help = strcmp(word, "help") == 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (help && argc < 3)) {
        return overview();
    }
    int skip = help ? 2 : 1;
    return run_words(argc - skip, argv + skip, help, lookup_env);
}
