/*
 * client: what the verbs that ask a server share. A server's answer goes into the answer's tree
 * with the server's own keys; the verbs lay tables over it.
 */
#pragma once

#include "cli.h"
#include "myriad/io/http.h"

/* A server, and who asks it; filled by client_open(), in the arena of the verb. */
struct client {
    struct cli *cli;
    const char *url;        /* without a '/' at its end */
    const char *ca, *token; /* NULL: not given */
};

/* A verb without options of its own. */
extern const struct client_none {
    char none;
} client_no_options;
#define CLIENT_NO_OPTIONS                                                      \
    .defaults = &client_no_options, .values_bytes = sizeof(client_no_options), \
    .common = &cli_client_table

/* A call: the method, the path with its question, and what is sent along. */
struct client_call {
    const char *method, *path;
    struct myr_str body;    /* JSON unless 'type' says otherwise */
    const char *type, *key; /* key: calls with the same one count once; NULL: none */
};

/* Where the server is and who asks, from options and variables; nothing is sent yet. */
MYR_MUST_USE int client_open(struct cli *cli, struct client *ret, struct myr_err *err);
/* The same server as words of a command to paste, a blank in front; empty where none was named. */
const char *client_where(struct cli *cli);
/* The answer's tree, in the arena of the verb. An error of the server's becomes the verb's. */
MYR_MUST_USE int client_call(const struct client *client, const struct client_call *call,
                             const struct myr_doc **ret, struct myr_err *err);
MYR_MUST_USE int client_get(const struct client *client, const char *path,
                            const struct myr_doc **ret, struct myr_err *err);
/* An answer that is no JSON, as it is. */
MYR_MUST_USE int client_bytes(struct cli *cli, const char *path, struct myr_buf *ret,
                              struct myr_err *err);
/* Opens and gets in one step, for verbs that ask once. */
MYR_MUST_USE int client_ask(struct cli *cli, const char *method, const char *path,
                            struct myr_str body, const struct myr_doc **ret, struct myr_err *err);

/*
 * One of many rounds of a verb that asks for hours: with memory of its own, which is given back
 * behind the round.
 */
struct client_round {
    struct cli cli;
    struct client client;
};
void client_round_begin(const struct client *client, struct client_round *ret);
void client_round_done(struct client_round *round);

/* A name as one word of a path. */
const char *client_word(struct cli *cli, const char *name);

/* Puts the tree under a key of the answer. */
void client_put(struct cli *cli, const char *key, const struct myr_doc *doc);
/* The list 'key' of the server's answer, as a list of the answer, which is its CSV. */
MYR_MUST_USE int client_put_list(struct cli *cli, const struct myr_doc *doc, const char *key,
                                 struct myr_value **ret, struct myr_err *err);
/* One object as a list of one, so that "jobs" is a list wherever it is met. */
struct myr_value *client_put_one(struct cli *cli, const struct myr_doc *doc, const char *key);

/* Members of the server's answer for people: "" and 0 when absent. */
const char *client_text(struct cli *cli, const struct myr_doc *doc, const char *key);
int64_t client_i64(const struct myr_doc *doc, const char *key);
/* "2026-11-16 02:24:00Z", or "-" for a time that has not been. */
const char *client_time(struct cli *cli, const struct myr_doc *doc, const char *key);

extern const struct cli_verb cli_job_verb, cli_job_list_verb, cli_job_show_verb, cli_job_logs_verb,
    cli_job_cancel_verb, cli_job_hold_verb, cli_job_release_verb, cli_job_top_verb,
    cli_job_explain_verb;
extern const struct cli_verb cli_node_verb, cli_node_list_verb, cli_node_show_verb,
    cli_node_drain_verb, cli_node_resume_verb, cli_node_revoke_verb;
extern const struct cli_verb cli_submit_verb, cli_queue_verb, cli_usage_verb, cli_inject_verb,
    cli_top_verb;
extern const struct cli_verb cli_token_verb, cli_token_new_verb, cli_token_list_verb,
    cli_token_revoke_verb, cli_enrol_verb, cli_tenant_verb, cli_tenant_set_verb;
extern const struct cli_verb cli_doctor_verb, cli_backup_verb, cli_restore_verb, cli_agent_verb;
