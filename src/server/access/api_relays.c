/*
 * Relays as the API tells of them: who is connected, how many agents are behind each, and the end
 * of one whose certificate is not to count any more.
 */
#include "api.h"
#include "link.h"

/* Those that have said hello; NULL is a relay that is away, with nobody behind it. */
static uint32_t agents_of(const struct session *session)
{
    uint32_t count = 0;
    for (size_t i = 0; session && session->carrier && i < session->carrier->sessions.count; i++) {
        const struct session *one = session->carrier->sessions.items[i];
        MYR_ASSERT(!one || (one->via == session && !one->carrier));
        count += one && one->node != MYR_NONE && !one->over;
    }
    return count;
}

/* A connection that is ending counts as none. */
static struct said_relay shown(const struct relay_row *row)
{
    const struct session *session = row->session && !row->session->over ? row->session : NULL;
    MYR_ASSERT(!session || session->carrier);
    return (struct said_relay){.name = row->name,
                               .connected = session != NULL,
                               .address = session ? session_address(session) : NULL,
                               .agents = agents_of(session),
                               .revoked = row->revoked};
}

/* All that ever enrolled, also those that are away. */
int api_relays(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct rows *rows = &request->server->rows;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    uint32_t count = (uint32_t)rows->relays.count;
    struct said_relay *relays = MYR_ARENA_NEW(&arena, struct said_relay, count + 1);
    (void)err;
    for (uint32_t i = 0; i < count; i++) {
        relays[i] = shown(&rows->relays.items[i]);
    }
    api_give(&said_relays_record, &(struct said_relays){{relays, count}}, ret);
    return MYR_OK;
}

/* The row goes first: a relay that comes again at once is refused by it. */
int api_relay_revoke(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    uint32_t id = rows_relay(server, request->words[2], false);
    if (id == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "no relay '%.70s'", request->words[2]);
    }
    MYR_TRY(api_writable(server, err));
    server->rows.relays.items[id].revoked = true;
    rows_put_relay(server, id);
    MYR_TRY(desk_run(server, err));
    /* Asked for after the desk has run, which may have ended it. */
    struct session *session = server->rows.relays.items[id].session;
    MYR_ASSERT(!session || (session->carrier && session->carrier->row == id));
    if (session && !session->over) {
        session_refuse(session, MYR_WIRE_REFUSED_REVOKED,
                       "the certificate of relay '%s' was revoked",
                       server->rows.relays.items[id].name);
    }
    const struct said_relay said = shown(&server->rows.relays.items[id]);
    api_give(&said_relay_record, &said, ret);
    return MYR_OK;
}
