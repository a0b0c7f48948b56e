/*
 * options: the command line and the variables of the agent, made into settings that are ready for
 * use: paths are absolute, the token is read and no longer shown.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/files.h"
#include "myriad/text/option.h"

/* The rest is NULL: not said. */
static const struct options defaults = {.state = "/var/lib/myriad-agent"};

#define AT(field) offsetof(struct options, field)

static const struct myr_option rows[] = {
    {.name = "server",
     .type = MYR_OPTION_TEXT,
     .value = "HOST:PORT",
     .at = AT(server),
     .help = "where the controller listens for agents; several, with commas, where several may "
             "lead"},
    {.name = "name",
     .type = MYR_OPTION_TEXT,
     .value = "NODE",
     .at = AT(name),
     .help = "the node's name in the cluster; the host's name by default"},
    {.name = "state",
     .type = MYR_OPTION_PATH,
     .value = "DIR",
     .at = AT(state),
     .help = "folder for the certificate and for what must outlive the agent"},
    {.name = "token-file",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .at = AT(token_file),
     .help = "file with the token of the first start"},
    {.name = "token",
     .type = MYR_OPTION_TEXT,
     .value = "TOKEN",
     .at = AT(token),
     .help = "the token itself; better in the file or in MYRIAD_AGENT_TOKEN"},
    {.name = "pretend",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .at = AT(pretend),
     .help = "made-up GPUs, where the server allows them"},
    {.name = "sockets",
     .type = MYR_OPTION_PATH,
     .value = "DIR",
     .at = AT(sockets),
     .help = "folder for the sockets by which ranks tell of their progress"},
};

static const struct myr_command command = {
    .young = true,
    .name = "agent",
    .operands = "",
    .summary = "Run on a node: start, watch and stop ranks for the controller.",
    .details = "'myriad-agent inventory' prints what the node has, and does nothing else.",
    .example = "myriad-agent --server head:4681 --token-file /etc/myriad/token",
    .options = rows,
    .option_count = MYR_ARRAY_COUNT(rows),
    .defaults = &defaults,
    .values_bytes = sizeof(struct options),
};

static const char *environment(const char *name)
{
    return getenv(name); /* read only, before anything else runs */
}

/* The last colon is the port's; an IPv6 address has others, and brackets around them. */
int options_server(const char *text, struct settings *ret, struct myr_err *err)
{
    const char *colon = strrchr(text, ':');
    const char *from = text;
    size_t len = colon ? (size_t)(colon - text) : 0;
    uint64_t port = 0;
    if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
        from = text + 1;
        len -= 2;
    } else if (text[0] == '[' || (colon && memchr(text, ':', len))) {
        len = 0; /* an address with colons stands in brackets, and they are two */
    }
    if (len == 0 || len >= sizeof(ret->host) || !myr_str_to_u64(myr_str_from(colon + 1), &port) ||
        port == 0 || port > UINT16_MAX) {
        return myr_err_set(err, MYR_EINVAL,
                           "--server '%.100s': HOST:PORT is expected, or [ADDRESS]:PORT", text);
    }
    snprintf(ret->host, sizeof(ret->host), "%.*s", (int)len, from);
    ret->port = (uint16_t)port;
    return MYR_OK;
}

/* The first is asked first; the others follow in the order of the list. */
int options_servers(const char *text, struct settings *ret, struct myr_err *err)
{
    char one[300];
    struct settings place = {};
    /* At least once, so that an empty text is told as a wrong address. */
    for (bool first = true; first || *text; first = false) {
        size_t len = strcspn(text, ",");
        snprintf(one, sizeof(one), "%.*s", (int)len, text);
        text += len + (text[len] == ',');
        MYR_TRY(options_server(one, first ? ret : &place, err));
        if (first) {
            continue;
        }
        if (ret->other_count == OPTIONS_OTHERS) {
            return myr_err_set(err, MYR_ERANGE, "--server: more than %d servers",
                               OPTIONS_OTHERS + 1);
        }
        memcpy(ret->others[ret->other_count].host, place.host, sizeof(place.host));
        ret->others[ret->other_count++].port = place.port;
    }
    return MYR_OK;
}

/* The file goes before the word. None at all is fine once there is a certificate. */
static int take_token(const struct options *options, struct settings *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (options->token_file) {
        struct stat st;
        /* Whoever has read it could enrol in this node's place. */
        if (stat(options->token_file, &st) == 0 && (st.st_mode & 077) != 0) {
            return myr_err_set(err, MYR_EINVAL, "%s: others may read it; chmod 600 it first",
                               options->token_file);
        }
        MYR_TRY(myr_file_read(options->token_file, 4096, &text, err));
        MYR_TRY(enrol_token_read((struct myr_str){text.len ? text.data : "", text.len}, &ret->token,
                                 err));
        memset(text.data, 0, text.len);
        ret->has_token = true;
    } else if (options->token) {
        MYR_TRY(enrol_token_read(myr_str_from(options->token), &ret->token, err));
        ret->has_token = true;
    }
    return MYR_OK;
}

/* From the environment too: a rank must not inherit it, nor /proc show it. */
static void hide_token(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *value = NULL;
        if (strncmp(argv[i], "--token=", 8) == 0) {
            value = argv[i] + 8;
        } else if (strcmp(argv[i], "--token") == 0 && i + 1 < argc) {
            value = argv[++i];
        }
        if (value) {
            /* In place: /proc shows the very bytes. */
            memset(value, '*', strlen(value));
        }
    }
    char *variable = getenv("MYRIAD_AGENT_TOKEN");
    if (variable) {
        memset(variable, '*', strlen(variable));
        unsetenv("MYRIAD_AGENT_TOKEN");
    }
}

/* Makes both folders, with the rights that they need. */
static int default_paths(const struct options *options, struct settings *ret, struct myr_err *err)
{
    char full[AGENT_PATH_MAX * 4];
    /* Before realpath(), which wants it to be there. */
    MYR_TRY(folder_make(options->state, 0700, err));
    /* Absolute: launchers and ranks have working folders of their own. */
    if (!realpath(options->state, full) || strlen(full) >= sizeof(ret->state)) {
        return myr_err_set(err, MYR_EINVAL, "--state '%.100s': the name is too long",
                           options->state);
    }
    snprintf(ret->state, sizeof(ret->state), "%.511s", full);
    if (chmod(ret->state, 0700) < 0) { /* it holds the node's key */
        return myr_err_errno(err, "not ours", ret->state);
    }
    /* FNV-1a of the state folder: two agents on one machine have sockets of their own. */
    uint32_t hash = 2166136261U;
    for (const char *c = full; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619U;
    }
    if (options->sockets) {
        snprintf(ret->sockets, sizeof(ret->sockets), "%.511s", options->sockets);
    } else if (geteuid() == 0) {
        /* Users reach their own socket there, and see nothing else. */
        snprintf(ret->sockets, sizeof(ret->sockets), "/run/myriad-agent/%08x", hash);
    } else {
        snprintf(ret->sockets, sizeof(ret->sockets), "%.500s/sockets", ret->state);
    }
    /* Entered by all, listed by none: names of sockets are not told to other users. */
    return folder_make(ret->sockets, 0711, err);
}

/* The arguments are changed: whoever comes later sees no token in them. */
int options_read(int argc, char **argv, struct settings *ret, struct myr_buf *ret_help,
                 struct myr_err *err)
{
    struct options options;
    struct myr_operands operands;
    struct settings settings = {};
    const struct myr_option_values values = {.own = &options};
    MYR_TRY(myr_option_parse(&command, argc - 1, (const char *const *)argv + 1, environment,
                             &values, &operands, err));
    if (operands.help) {
        myr_option_help(&command, ret_help);
        settings.help = true;
        *ret = settings;
        return MYR_OK;
    }
    /* Hidden even where it was wrong. */
    int rc = take_token(&options, &settings, err);
    hide_token(argc, argv);
    MYR_TRY(rc);
    if (!options.server) {
        return myr_err_set(err, MYR_EINVAL, "--server HOST:PORT is needed");
    }
    MYR_TRY(options_servers(options.server, &settings, err));
    if (options.name) {
        /* Longer ones are cut here and refused by the server, which knows no such node. */
        snprintf(settings.name, sizeof(settings.name), "%.255s", options.name);
    } else if (gethostname(settings.name, sizeof(settings.name) - 1) < 0) {
        return myr_err_errno(err, "no host name", "--name");
    }
    settings.pretend = options.pretend;
    const char *plain = environment("MYRIAD_AGENT_PLAIN");
    /* Never beyond this machine, whatever the variable says. */
    settings.plain = plain && strcmp(plain, "1") == 0 && strcmp(settings.host, "127.0.0.1") == 0;
    MYR_TRY(default_paths(&options, &settings, err));
    *ret = settings;
    return MYR_OK;
}
