#include <signal.h>
#include <stdlib.h>

#include "cli.h"

static const char *environment(const char *name)
{
    return getenv(name); /* read only, before anything else runs */
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    return cli_main(argc, (const char *const *)argv, environment);
}
