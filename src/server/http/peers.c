/*
 * peers: connections of those who ask, from the first byte to the last, and how long one may take
 * to bring a whole request.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "http.h"

enum { WHOLE_MS = 20000 }; /* for a request that comes a byte at a time */

struct peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void peers_notify(void *context, struct MHD_Connection *connection, void **own,
                  enum MHD_ConnectionNotificationCode what)
{
    struct server *server = context;
    struct http *http = server->http;
    struct peer *peer = *own;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        peer = myr_xcalloc(1, sizeof(*peer));
        *peer = (struct peer){connection, steady_ms(), http->peers, NULL};
        if (peer->next) {
            MYR_ASSERT(!peer->next->before); /* it was the first so far */
            peer->next->before = peer;
        }
        http->peers = *own = peer;
    } else if (peer) {
        MYR_ASSERT((peer->before ? peer->before->next : http->peers) == peer);
        *(peer->before ? &peer->before->next : &http->peers) = peer->next;
        if (peer->next) {
            MYR_ASSERT(peer->next->before == peer);
            peer->next->before = peer->before;
        }
        free(peer);
        *own = NULL;
    }
}

/* Any byte keeps the library patient: whoever sends one a second would hold a place for hours. */
void peers_drop_slow(struct http *http)
{
    uint32_t dropped = 0;
    for (struct peer *peer = http->peers; peer; peer = peer->next) {
        MYR_ASSERT(peer->connection && (!peer->next || peer->next->before == peer));
        const union MHD_ConnectionInfo *info =
            mhd.get_connection_info(peer->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (peer->since_ms >= 0 && steady_ms() - peer->since_ms > WHOLE_MS && info) {
            shutdown(info->connect_fd, SHUT_RDWR); /* the library reads its end, and cleans up */
            peer->since_ms = -1;
            dropped++;
        }
    }
    if (dropped) {
        log_say("warning", "http: %s dropped that brought no whole request in %d s",
                MYR_COUNT(dropped, "connection"), WHOLE_MS / 1000);
    }
}

void peer_address(struct MHD_Connection *connection, char *ret, size_t size)
{
    MYR_ASSERT(ret && size > 0);
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *at = info ? info->client_addr : NULL;
    if (at && at->sa_family == AF_INET6) {
        uv_ip6_name((const struct sockaddr_in6 *)at, ret, size);
    } else if (at) {
        uv_ip4_name((const struct sockaddr_in *)at, ret, size);
    }
}
