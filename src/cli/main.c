/*
 * main: the command as a process. All else gets its environment as a function, so that tests can
 * give it another one.
 */
#include <signal.h>
#include <stdlib.h>

#include "cli.h"

static const char *environment(const char *name)
{
    return getenv(name); /* read only, before anything else runs */
}

int main(int argc, char **argv)
{
    /*
     * 'myriad ... | head' closes the pipe: cli_print() then sees an error, and the verb ends in
     * order.
     */
    signal(SIGPIPE, SIG_IGN);
    return cli_main(argc, (const char *const *)argv, environment);
}
