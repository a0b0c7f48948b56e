/*
 * options: what the agent was told on its command line and in its environment.
 */
#pragma once

#include "enrol.h"

struct options {
    const char *server, *name, *state, *token, *token_file, *pretend, *sockets;
};

enum { OPTIONS_OTHERS = 4 };

struct settings {
    char host[256], name[256], state[512], sockets[512];
    uint16_t port;
    /* Where else a server may lead, tried in turn. */
    struct {
        char host[256];
        uint16_t port;
    } others[OPTIONS_OTHERS];
    uint32_t other_count; /* of 'others' */
    const char *pretend;  /* or NULL */
    struct enrol_token token;
    bool has_token, help; /* 'help': only that was asked for */
    bool plain;           /* without TLS, to this machine itself alone: for tests */
};

/* A token among the arguments is overwritten there: the process list shows them. */
MYR_MUST_USE int options_read(int argc, char **argv, struct settings *ret, struct myr_buf *ret_help,
                              struct myr_err *err);
/* "a:4681,b:4681": the first, and those that may lead in its place. */
MYR_MUST_USE int options_servers(const char *text, struct settings *ret, struct myr_err *err);
/* "head:4681", "[::1]:4681" */
MYR_MUST_USE int options_server(const char *text, struct settings *ret, struct myr_err *err);
