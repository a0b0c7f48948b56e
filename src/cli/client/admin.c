/*
 * token new, enrol: who may come in. Tokens are for people, enrolments for nodes and relays; the
 * server makes both, and shows each of them once.
 */
#include "client/client.h"
#include "myriad/text/json.h"

/* From the least rights to the most, in the server's words. */
static const char *const roles[] = {"viewer", "user", "operator", "admin"};

struct token_options {
    const char *user, *unix_user;
    uint32_t role;
};
/* A user: who may submit, and cancel own jobs. */
static const struct token_options token_defaults = {.role = 1};

static const struct myr_option token_rows[] = {
    CLI_TEXT("user", "NAME", struct token_options, user, "whose it is; needed"),
    CLI_CHOICE("role", "ROLE", struct token_options, role, roles, "what its owner may do"),
    CLI_TEXT("unix-user", "NAME", struct token_options, unix_user,
             "as whom the ranks of its jobs run; never root"),
};

static const struct myr_command token_new_command = {
    .name = "token new",
    .operands = "",
    .summary = "make a token for somebody",
    .details = "The token is shown once and kept nowhere: the server keeps its digest. Its owner "
               "puts it into a file of mode 0600 and names that in MYRIAD_TOKEN_FILE. A viewer "
               "sees, a user submits and cancels own jobs, an operator drains nodes and cancels "
               "all jobs, an admin makes tokens and enrols nodes. CSV output has one row.",
    .example = "myriad token new --user ada --unix-user ada --dir lab",
    CLI_CLIENT_OPTIONS(token_rows, token_defaults),
};

/* Whose it is has no default: it has to be said. */
static int token_new_run(struct cli *cli, struct myr_err *err)
{
    const struct token_options *options = cli->options;
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    const struct myr_doc *doc;
    struct myr_json json;
    if (!options->user) {
        int rc = myr_err_set(err, MYR_EINVAL, "'myriad token new' needs --user NAME");
        myr_err_hint(err, "myriad token new --help");
        return rc;
    }
    myr_json_init(&json, &body, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "user", options->user);
    myr_json_text(&json, "role", roles[options->role]);
    if (options->unix_user) {
        myr_json_text(&json, "unix_user", options->unix_user);
    }
    myr_json_end(&json);
    MYR_TRY(
        client_ask(cli, "POST", "/v1/tokens", (struct myr_str){body.data, body.len}, &doc, err));
    client_put_one(cli, doc, "tokens");
    myr_answer_fact(&cli->answer, "token", "%s", client_text(cli, doc, "token"));
    myr_answer_fact(&cli->answer, "of", "%s, %s", options->user, roles[options->role]);
    return MYR_OK;
}

const struct cli_verb cli_token_new_verb = {.row = &token_new_command, .run = token_new_run};

static const struct myr_answer_column token_columns[] = {
    {"id", "ID", 0, 0},
    {"user", "USER", 0, 0},
    {"role", "ROLE", 0, 0},
    {"unix_user", "UNIX USER", 0, 0},
};

static const struct myr_command token_list_command = {
    .name = "token list",
    .operands = "",
    .summary = "list whose tokens there are",
    .details = "Tokens themselves are kept nowhere; an id is the beginning of a token's digest, "
               "which 'token revoke' takes. CSV output lists the tokens.",
    .example = "myriad token list --dir lab",
    CLIENT_NO_OPTIONS,
};

/* Ids are beginnings of digests: from a list nobody can make a token. */
static int token_list_run(struct cli *cli, struct myr_err *err)
{
    const struct myr_doc *doc;
    struct myr_value *tokens;
    MYR_TRY(client_ask(cli, "GET", "/v1/tokens", (struct myr_str){}, &doc, err));
    MYR_TRY(client_put_list(cli, doc, "tokens", &tokens, err));
    myr_answer_table(&cli->answer, tokens, token_columns, MYR_ARRAY_COUNT(token_columns));
    return MYR_OK;
}

const struct cli_verb cli_token_list_verb = {.row = &token_list_command, .run = token_list_run};

static const struct myr_command token_revoke_command = {
    .name = "token revoke",
    .operands = "ID",
    .summary = "make a token worth nothing, and the page's logins that it began",
    .details = "The last token of an administrator stays: nobody could make another. CSV output "
               "has one row.",
    .example = "myriad token revoke 0f3a9c5e7b21 --dir lab",
    CLIENT_NO_OPTIONS,
    .operand_min = 1,
    .operand_max = 1,
};

static int token_revoke_run(struct cli *cli, struct myr_err *err)
{
    const struct myr_doc *doc;
    const char *path = myr_arena_printf(&cli->arena, "/v1/tokens/%s/revoke",
                                        client_word(cli, cli->operands.items[0]));
    MYR_TRY(client_ask(cli, "POST", path, (struct myr_str){}, &doc, err));
    client_put_one(cli, doc, "tokens");
    myr_answer_fact(&cli->answer, "revoked", "%s, of %s, %s", client_text(cli, doc, "id"),
                    client_text(cli, doc, "user"), client_text(cli, doc, "role"));
    return MYR_OK;
}

const struct cli_verb cli_token_revoke_verb = {.row = &token_revoke_command,
                                               .run = token_revoke_run};

static const struct myr_command *const subcommands[] = {&token_new_command, &token_list_command,
                                                        &token_revoke_command};

static const struct myr_command token_command = {
    .name = "token",
    .operands = "",
    .summary = "make, list and revoke tokens of people who ask a server",
    .example = "myriad token new --user ada --unix-user ada --dir lab",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_token_verb = {&token_command, NULL, .group = CLI_RUN_GROUP};

struct enrol_options {
    const char *relay;
};
static const struct enrol_options enrol_defaults = {};

static const struct myr_option enrol_rows[] = {
    CLI_TEXT("relay", "NAME", struct enrol_options, relay,
             "for a relay of that name, which then speaks for the agents behind it"),
};

static const struct myr_command enrol_command = {
    .name = "enrol",
    .operands = "[NODE]",
    .summary = "make a token by which one node's agent enrols, once",
    .details = "With a name, for that node alone; else for whichever comes first. The agent gets "
               "its certificate for it; the token carries the authority's fingerprint, so that "
               "the agent knows whom to believe. CSV output has one row.",
    .example = "myriad enrol gpu-01 --dir lab",
    CLI_CLIENT_OPTIONS(enrol_rows, enrol_defaults),
    .operand_max = 1,
};

/* A token is for a node, for a relay or for whoever comes first: never for two of them. */
static int enrol_run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    const struct myr_doc *doc;
    struct myr_json json;
    const struct enrol_options *options = cli->options;
    const char *node = cli->operands.count > 0 ? cli->operands.items[0] : NULL;
    if (node && options->relay) {
        return myr_err_set(err, MYR_EINVAL, "'%s' and --relay %s: one of the two is expected", node,
                           options->relay);
    }
    myr_json_init(&json, &body, MYR_JSON_COMPACT);
    myr_json_object(&json, NULL);
    if (node) {
        myr_json_text(&json, "node", node);
    }
    if (options->relay) {
        myr_json_text(&json, "relay", options->relay);
    }
    myr_json_end(&json);
    MYR_TRY(client_ask(cli, "POST", "/v1/enrol", (struct myr_str){body.data, body.len}, &doc, err));
    client_put_one(cli, doc, "tokens");
    myr_answer_fact(&cli->answer, "token", "%s", client_text(cli, doc, "token"));
    myr_answer_fact(&cli->answer, "for", "%s%s, once", options->relay ? "relay " : "",
                    options->relay ? options->relay
                    : node         ? node
                                   : "any node");
    return MYR_OK;
}

const struct cli_verb cli_enrol_verb = {&enrol_command, enrol_run, .group = CLI_RUN_GROUP};
