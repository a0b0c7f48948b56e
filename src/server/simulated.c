/* simulated: the other world. */
#include "server.h"

int simulated_begin(struct server *server, struct myr_err *err)
{
    (void)server;
    return myr_err_set(err, MYR_EINVAL, "world: twin is not there yet");
}

void simulated_end(struct server *server)
{
    (void)server;
}
