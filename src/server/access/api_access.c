/* Tokens and tenants: who may ask, and whose share is how large. */
#include <stdio.h>
#include <string.h>

#include "api.h"

/* 48 bits of the digest, enough to tell a server's tokens apart. */
enum { ID_DIGITS = 12, WEIGHT_MAX = 1000000 };

/* A token is named by the beginning of its digest, which tells nothing of the token. */
static struct said_token shown(const struct token_row *token, struct myr_arena *arena)
{
    MYR_ASSERT(token->role < ROLE_COUNT);
    return (struct said_token){.id = myr_arena_strndup(arena, token->digest, ID_DIGITS),
                               .user = token->user,
                               .role = role_names[token->role],
                               .unix_user = token->unix_user[0] ? token->unix_user : NULL};
}

int api_tokens(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct rows *rows = &request->server->rows;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    uint32_t count = (uint32_t)rows->tokens.count;
    struct said_token *tokens = MYR_ARENA_NEW(&arena, struct said_token, count + 1);
    (void)err;
    for (uint32_t i = 0; i < count; i++) {
        tokens[i] = shown(&rows->tokens.items[i], &arena);
    }
    api_give(&said_tokens_record, &(struct said_tokens){{tokens, count}}, ret);
    return MYR_OK;
}

/* The whole id and nothing shorter: a slip of the hand revokes nobody. */
static uint32_t find_token(const struct rows *rows, const char *id)
{
    for (uint32_t i = 0; i < rows->tokens.count; i++) {
        if (strlen(id) == ID_DIGITS && strncmp(rows->tokens.items[i].digest, id, ID_DIGITS) == 0) {
            return i;
        }
    }
    return MYR_NONE;
}

/* Pages that were logged in with it are out as well: login.c asks for the token each time. */
int api_token_revoke(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    struct rows *rows = &server->rows;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    uint32_t at = find_token(rows, request->words[2]), admins = 0;
    if (at == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "no token '%.40s'", request->words[2]);
    }
    MYR_TRY(api_writable(server, err));
    /* A copy: dropping it puts another in its place. */
    const struct token_row token = rows->tokens.items[at];
    for (size_t i = 0; i < rows->tokens.count; i++) {
        admins += rows->tokens.items[i].role == ROLE_ADMIN;
    }
    /* Only an administrator makes tokens: without one the cluster could not be managed again. */
    if (token.role == ROLE_ADMIN && admins == 1) {
        return myr_err_set(err, MYR_ESTALE,
                           "it is the last one of an administrator: nobody could make another");
    }
    rows_drop_token(server, at);
    if (desk_run(server, err) < 0) {
        rows_put_token(server, &token, false); /* it is not gone while that is not kept */
        return err->code;
    }
    const struct said_token said = shown(&token, &arena);
    api_give(&said_token_record, &said, ret);
    return MYR_OK;
}

/* Names of tenants stand in keys of the store and in lines for people. */
static bool is_name(const char *name)
{
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c <= ' ' || *c == 0x7F) {
            return false;
        }
    }
    return name[0] && strlen(name) < SERVER_NAME;
}

/* Weights are relative: twice as much is twice the share. */
int api_tenant(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    const char *name = request->words[2];
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct ask_tenant ask;
    uint64_t weight = 0;
    MYR_TRY(api_take(request_body(request), &ask_tenant_record, &arena, &ask, err));
    if (!myr_str_to_u64(myr_str_from(ask.weight), &weight) || weight < 1 || weight > WEIGHT_MAX) {
        return myr_err_set(err, MYR_ERANGE, "'weight' is '%s', 1 to %d is expected", ask.weight,
                           WEIGHT_MAX);
    }
    /* It comes from the path, and so from anywhere. */
    if (!is_name(name)) {
        return myr_err_set(err, MYR_EINVAL, "'%.70s' is no name of a tenant", name);
    }
    MYR_TRY(api_writable(server, err));
    /* A tenant that is not known yet is made: its weight may be set before its first job. */
    uint32_t id = rows_tenant(server, name);
    if (id == MYR_NONE) {
        return myr_err_set(err, MYR_ERANGE, "%d tenants are all that there is room for",
                           SERVER_TENANTS);
    }
    server->rows.tenants.items[id].weight = (uint32_t)weight;
    rows_put_tenant(server, id);
    /* The core has weights of its own: the row is for people, the event decides. */
    desk_post(server,
              &(struct myr_event){.kind = MYR_EVENT_WEIGHT, .count = id, .value = (int64_t)weight});
    MYR_TRY(desk_run(server, err));
    api_give(&said_tenant_record, &(struct said_tenant){name, (uint32_t)weight}, ret);
    return MYR_OK;
}
