/*
 * client: from options to a server's answer, and from there into the tree. Verbs say what they ask;
 * where the server is, who asks, and what an error means is settled here for all of them.
 */
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "myriad/job.h"
#include "myriad/server/folder.h"
#include "myriad/text/kind.h"

const struct client_none client_no_options;

/* Bytes of a token's file. */
enum { TOKEN_MAX = 4096 };

static const char default_url[] = "http://127.0.0.1:4680";

static const char *keep(struct cli *cli, const char *text)
{
    return myr_arena_strndup(&cli->arena, text, strlen(text));
}

/* One word; what stands around it is no part of it. */
static int read_token(struct cli *cli, const char *path, const char **ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_kind_read(path, TOKEN_MAX, MYR_KIND_BIT(SECRET), "a token", &text, err));
    path = myr_file_name(path);
    size_t length = text.len ? strcspn(text.data, " \t\r\n") : 0;
    if (length == 0 || text.data[length + strspn(text.data + length, " \t\r\n")]) {
        int rc =
            myr_err_set(err, MYR_EINVAL, "%s: a file of one word, the token, is expected", path);
        myr_err_hint(err, "myriad token new writes one");
        return rc;
    }
    *ret = myr_arena_strndup(&cli->arena, text.data, length);
    return MYR_OK;
}

const char *client_where(struct cli *cli)
{
    const struct {
        const char *name, *value;
    } given[] = {{"server", cli->common.server},
                 {"token-file", cli->common.token_file},
                 {"ca", cli->common.ca},
                 {"dir", cli->common.dir}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(given); i++) {
        if (given[i].value) {
            myr_buf_printf(&buf, " --%s %s", given[i].name,
                           myr_answer_word(&cli->answer, given[i].value));
        }
    }
    return myr_arena_strndup(&cli->arena, buf.len ? buf.data : "", buf.len);
}

/*
 * What is said one by one goes before what --dir finds in the folder; without both a server on this
 * machine is asked, without a token.
 */
int client_open(struct cli *cli, struct client *ret, struct myr_err *err)
{
    const struct cli_common *common = &cli->common;
    struct myr_server_place place = {};
    const char *token = common->token_file;
    *ret = (struct client){.cli = cli, .url = common->server, .ca = common->ca};
    if (common->dir) {
        MYR_TRY(myr_server_find(common->dir, &place, err));
        ret->url = ret->url ? ret->url : keep(cli, place.url);
        ret->ca = ret->ca ? ret->ca : keep(cli, place.ca);
        token = token ? token : place.token;
    }
    ret->url = ret->url ? ret->url : default_url;
    /* Paths begin with a '/': it must not stand there twice. */
    size_t length = strlen(ret->url);
    while (length > 0 && ret->url[length - 1] == '/') {
        length--;
    }
    ret->url = myr_arena_strndup(&cli->arena, ret->url, length);
    return token ? read_token(cli, token, &ret->token, err) : MYR_OK;
}

/* The house's code for a status, which has the exit status. */
static int code_of(uint32_t status)
{
    static const struct {
        uint32_t status;
        int code;
    } codes[] = {{400, MYR_EINVAL}, {401, MYR_EUNKNOWN}, {403, MYR_EDENIED},  {404, MYR_ENOENT},
                 {409, MYR_ESTALE}, {413, MYR_ERANGE},   {422, MYR_ECORRUPT}, {429, MYR_EOFTEN},
                 {503, MYR_EAWAY},  {507, MYR_ENOMEM}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(codes); i++) {
        if (codes[i].status == status) {
            return codes[i].code;
        }
    }
    return status >= 400 && status < 500 ? MYR_EINVAL : MYR_EIO;
}

/* One line of what a server says, whatever it says. */
static void put_words(const char *text, char *ret, size_t size)
{
    size_t at = 0;
    for (; text[at] && at < size - 1; at++) {
        ret[at] = (unsigned char)text[at] < 0x20 || text[at] == 0x7F ? ' ' : text[at];
    }
    ret[at] = '\0';
}

/*
 * What the server says becomes the error of the verb, with its hint. Of 401 the hint is our own:
 * the server does not know by which options a token is given.
 */
static int refused(const struct client *client, const struct myr_http_answer *answer,
                   struct myr_err *err)
{
    char words[MYR_ERR_MESSAGE_MAX], hint[MYR_ERR_HINT_MAX];
    const struct myr_doc *doc = NULL;
    struct myr_str text = {answer->body.len ? answer->body.data : "", answer->body.len};
    if (myr_doc_read_json(&client->cli->arena, "answer", text, &doc, NULL) < 0) {
        doc = NULL;
    }
    put_words(client_text(client->cli, doc, "error"), words, sizeof(words));
    put_words(client_text(client->cli, doc, "hint"), hint, sizeof(hint));
    int rc = words[0] ? myr_err_set(err, code_of(answer->status), "%s", words)
                      : myr_err_set(err, code_of(answer->status), "%s: status %u and no word why",
                                    client->url, answer->status);
    if (answer->status == 401) {
        myr_err_hint(err, "--token-file FILE, or --dir DIR where the server's folder is here");
    } else if (hint[0]) {
        myr_err_hint(err, "%s", hint);
    }
    return rc;
}

/* Where nobody answers, the folder that was named is the one to be served. */
static int reach(const struct cli *cli, const struct myr_http_request *request,
                 struct myr_http_answer *ret, struct myr_err *err)
{
    int rc = myr_http_ask(request, NULL, NULL, ret, err);
    if (rc == MYR_EAWAY && err && cli->common.dir && !cli->common.server &&
        strcmp(err->hint, "myriad serve DIR") == 0) {
        myr_err_hint(err, "myriad serve %s", myr_answer_word(&cli->answer, cli->common.dir));
    }
    return rc;
}

/* Only 200 has such an answer; whatever else comes is an error in JSON. */
int client_bytes(struct cli *cli, const char *path, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_http_answer_done) struct myr_http_answer answer = {};
    struct client client;
    MYR_TRY(client_open(cli, &client, err));
    struct myr_http_request request = {.method = "GET",
                                       .url =
                                           myr_arena_printf(&cli->arena, "%s%s", client.url, path),
                                       .token = client.token,
                                       .ca = client.ca};
    MYR_TRY(reach(cli, &request, &answer, err));
    if (answer.status != 200) {
        return refused(&client, &answer, err);
    }
    myr_buf_put(ret, answer.body.data, answer.body.len);
    return MYR_OK;
}

/* What is no JSON though it was granted is the server's fault, or another program answers there. */
int client_call(const struct client *client, const struct client_call *call,
                const struct myr_doc **ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_http_answer_done) struct myr_http_answer answer = {};
    struct myr_http_request request = {
        .method = call->method,
        .url = myr_arena_printf(&client->cli->arena, "%s%s", client->url, call->path),
        .token = client->token,
        .ca = client->ca,
        .type = call->type       ? call->type
                : call->body.len ? "application/json"
                                 : NULL,
        .key = call->key,
        .body = call->body};
    MYR_TRY(reach(client->cli, &request, &answer, err));
    if (answer.status < 200 || answer.status > 299) {
        return refused(client, &answer, err);
    }
    struct myr_str text = {answer.body.len ? answer.body.data : "", answer.body.len};
    int rc = myr_doc_read_json(&client->cli->arena, "answer", text, ret, err);
    if (rc < 0) {
        (void)myr_err_wrap(err, "%s", client->url);
        if (err) {
            err->code = MYR_EIO; /* not this user's input */
        }
        return MYR_EIO;
    }
    return MYR_OK;
}

int client_get(const struct client *client, const char *path, const struct myr_doc **ret,
               struct myr_err *err)
{
    return client_call(client, &(struct client_call){.method = "GET", .path = path}, ret, err);
}

int client_ask(struct cli *cli, const char *method, const char *path, struct myr_str body,
               const struct myr_doc **ret, struct myr_err *err)
{
    struct client client;
    MYR_TRY(client_open(cli, &client, err));
    return client_call(&client, &(struct client_call){.method = method, .path = path, .body = body},
                       ret, err);
}

/*
 * A copy of the verb's state with an arena and an answer of its own. 'ret' must not move: the
 * client in it points at it.
 */
void client_round_begin(const struct client *client, struct client_round *ret)
{
    ret->cli = *client->cli;
    ret->client = *client;
    ret->client.cli = &ret->cli;
    myr_arena_init(&ret->cli.arena);
    myr_answer_init(&ret->cli.answer, &ret->cli.arena, "round", 1);
}

void client_round_done(struct client_round *round)
{
    myr_arena_done(&round->cli.arena);
}

/*
 * Names come from users: a '/' or '?' in one must not make another path of it. No name is as long
 * as what is cut off.
 */
const char *client_word(struct cli *cli, const char *name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    for (const char *c = name; *c && buf.len < 300; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || strchr("-._~", *c);
        if (plain) {
            myr_buf_putc(&buf, *c);
        } else {
            myr_buf_printf(&buf, "%%%02X", (unsigned char)*c);
        }
    }
    return buf.len ? myr_arena_strndup(&cli->arena, buf.data, buf.len) : "";
}

/* JSON's kinds are kept: what was quoted stays a text, though it looks like a number. */
static void put_scalar(struct myr_answer *answer, const char *key, const struct myr_doc *doc)
{
    uint64_t whole;
    int64_t negative;
    double number;
    bool plain = !doc->quoted, yes = myr_str_eq(doc->text, MYR_STR("true"));
    if (plain && (yes || myr_str_eq(doc->text, MYR_STR("false")))) {
        myr_answer_bool(answer, key, yes);
    } else if (plain && myr_str_to_u64(doc->text, &whole)) {
        myr_answer_u64(answer, key, whole);
    } else if (plain && myr_str_to_i64(doc->text, &negative)) {
        myr_answer_i64(answer, key, negative);
    } else if (plain && myr_str_to_double(doc->text, &number)) {
        myr_answer_double(answer, key, number, 6);
    } else {
        myr_answer_str(answer, key, doc->text);
    }
}

/* What a server nests deeper than any answer does is left out. */
static void put(struct myr_answer *answer, const char *key, const struct myr_doc *doc)
{
    bool deep = answer->depth + 2 >= MYR_ANSWER_DEPTH_MAX;
    if (doc->kind == MYR_DOC_NULL || (deep && doc->kind != MYR_DOC_SCALAR)) {
        myr_answer_null(answer, key);
    } else if (doc->kind == MYR_DOC_SCALAR) {
        put_scalar(answer, key, doc);
    } else if (doc->kind == MYR_DOC_LIST) {
        myr_answer_list(answer, key);
        for (uint32_t i = 0; i < doc->count; i++) {
            put(answer, NULL, doc->items[i]);
        }
        myr_answer_end(answer);
    } else {
        myr_answer_object(answer, key);
        for (uint32_t i = 0; i < doc->count; i++) {
            const struct myr_doc_entry *entry = &doc->entries[i];
            put(answer, myr_arena_strndup(answer->arena, entry->key.data, entry->key.len),
                entry->value);
        }
        myr_answer_end(answer);
    }
}

void client_put(struct cli *cli, const char *key, const struct myr_doc *doc)
{
    put(&cli->answer, key, doc);
}

int client_put_list(struct cli *cli, const struct myr_doc *doc, const char *key,
                    struct myr_value **ret, struct myr_err *err)
{
    const struct myr_doc *list = myr_doc_get(doc, key);
    /* Rows of a table are objects; a server that sends anything else is not understood. */
    bool fits = list && list->kind == MYR_DOC_LIST;
    for (uint32_t i = 0; fits && i < list->count; i++) {
        fits = list->items[i]->kind == MYR_DOC_MAP;
    }
    if (!fits) {
        return myr_err_set(err, MYR_EIO, "the server's answer has no list of '%s'", key);
    }
    *ret = myr_answer_list(&cli->answer, key);
    for (uint32_t i = 0; i < list->count; i++) {
        put(&cli->answer, NULL, list->items[i]);
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, *ret);
    return MYR_OK;
}

/* What is no object leaves the list empty: there is nothing to show. */
struct myr_value *client_put_one(struct cli *cli, const struct myr_doc *doc, const char *key)
{
    struct myr_value *list = myr_answer_list(&cli->answer, key);
    if (doc->kind == MYR_DOC_MAP) {
        put(&cli->answer, NULL, doc);
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, list);
    return list;
}

const char *client_text(struct cli *cli, const struct myr_doc *doc, const char *key)
{
    const struct myr_doc *node = myr_doc_get(doc, key);
    return node && node->kind == MYR_DOC_SCALAR
               ? myr_arena_strndup(&cli->arena, node->text.data, node->text.len)
               : "";
}

int64_t client_i64(const struct myr_doc *doc, const char *key)
{
    const struct myr_doc *node = myr_doc_get(doc, key);
    int64_t value;
    return node && node->kind == MYR_DOC_SCALAR && myr_str_to_i64(node->text, &value) ? value : 0;
}

/* In UTC, whatever the zone of this machine. */
const char *client_time(struct cli *cli, const struct myr_doc *doc, const char *key)
{
    int64_t ms = client_i64(doc, key);
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    char text[40];
    if (ms <= 0 || !gmtime_r(&seconds, &parts) ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%SZ", &parts) == 0) {
        return "-";
    }
    return keep(cli, text);
}
