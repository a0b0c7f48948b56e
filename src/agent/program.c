/*
 * program: one binary for the agent, its launchers and its helpers; the first word says which. A
 * launcher is the same file as the agent that started it, and so always of the same version.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "disk/files.h"
#include "inventory.h"
#include "myriad/agent.h"
#include "nvml.h"
#include "shim/shim.h"

/* The exit status: 3 when nobody takes it. */
static int put_out(const struct myr_buf *text)
{
    size_t at = 0;
    while (at < text->len) {
        ssize_t put = write(STDOUT_FILENO, text->data + at, text->len - at);
        if (put <= 0) {
            return 3;
        }
        at += (size_t)put;
    }
    return 0;
}

/* For people a table, for the agent JSON: 'myriad-agent inventory [-o table|json|yaml]'. */
static int print_inventory(int argc, char **argv)
{
    struct myr_answer_form form = {.format = MYR_FORMAT_TABLE};
    struct myr_answer answer;
    struct myr_arena arena;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (argc == 4 && strcmp(argv[2], "-o") == 0 && strcmp(argv[3], "json") == 0) {
        form.format = MYR_FORMAT_JSON;
    } else if (argc == 4 && strcmp(argv[2], "-o") == 0 && strcmp(argv[3], "yaml") == 0) {
        form.format = MYR_FORMAT_YAML;
    } else if (argc != 2 &&
               !(argc == 4 && strcmp(argv[2], "-o") == 0 && strcmp(argv[3], "table") == 0)) {
        say("inventory: '-o table', '-o json' or '-o yaml' is expected");
        return 2;
    }
    myr_arena_init(&arena);
    /* The kind and the version of what is printed, for programs that read it. */
    myr_answer_init(&answer, &arena, "myriad.inventory", 1);
    inventory_collect(&answer);
    int status = 3;
    if (myr_answer_write(&answer, &form, &text, &err) == MYR_OK) {
        status = put_out(&text);
    }
    myr_arena_done(&arena);
    return status;
}

/* The exit status: 2 for what was wrongly asked, as everywhere. */
int myr_agent_main(int argc, char **argv)
{
    struct settings settings;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf help = {};
    /* Before the options: these words are for ourselves and stand in no help. */
    if (argc == 3 && strcmp(argv[1], "shim") == 0) {
        deadly_role("shim");
        return shim_run(argv[2]);
    }
    if (argc == 2 && strcmp(argv[1], "watch") == 0) {
        return nvml_watch(STDOUT_FILENO);
    }
    if (argc >= 2 && strcmp(argv[1], "inventory") == 0) {
        return print_inventory(argc, argv);
    }
    if (options_read(argc, argv, &settings, &help, &err) < 0) {
        say("%s", err.message);
        if (err.hint[0]) {
            say("hint: %s", err.hint);
        }
        return myr_err_exit_code(err.code);
    }
    deadly_role("agent");
    return settings.help ? put_out(&help) : agent_run(&settings);
}
