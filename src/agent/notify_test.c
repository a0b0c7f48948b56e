/* A service manager is told by one datagram, and only where there is one. */
#include "notify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "leaks.h"

/* The C library keeps what the environment has ever held. */
long myr_leaks_allowed = 20;

/* A socket at that address, as a manager has it; '@' stands for a name without a file. */
static int manager(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    memcpy(at.sun_path, name, strlen(name));
    at.sun_path[0] = at.sun_path[0] == '@' ? '\0' : at.sun_path[0];
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&at, size) == 0);
    return fd;
}

static void hears(int fd, const char *expected)
{
    char text[64] = "";
    ssize_t got = recv(fd, text, sizeof(text) - 1, 0);
    assert_int_equal(got, expected ? (ssize_t)strlen(expected) : -1);
    assert_string_equal(text, expected ? expected : "");
}

static void the_manager_is_told(void **state)
{
    (void)state;
    char name[108], folder[] = "/tmp/myr-notify-XXXXXX";
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof(name), "%s/s", folder);
    int fd = manager(name);
    unsetenv("NOTIFY_SOCKET");
    notify_manager("READY=1");
    setenv("NOTIFY_SOCKET", "", 1);
    notify_manager("READY=1");
    hears(fd, NULL);
    setenv("NOTIFY_SOCKET", name, 1);
    notify_manager("READY=1");
    notify_manager("STOPPING=1\n");
    hears(fd, "READY=1");
    hears(fd, "STOPPING=1\n");
    hears(fd, NULL);
    close(fd);
    assert_int_equal(unlink(name), 0);
    notify_manager("nobody is there");
    /* Names without a file, as long as they go and a byte more. */
    snprintf(name, sizeof(name), "@myriad-%d-", (int)getpid());
    memset(name + strlen(name), 'x', sizeof(name) - 1 - strlen(name));
    name[sizeof(name) - 1] = '\0';
    fd = manager(name);
    setenv("NOTIFY_SOCKET", name, 1);
    notify_manager("WATCHDOG=1");
    hears(fd, "WATCHDOG=1");
    char longer[110];
    snprintf(longer, sizeof(longer), "%sx", name);
    setenv("NOTIFY_SOCKET", longer, 1);
    notify_manager("WATCHDOG=1");
    hears(fd, NULL);
    close(fd);
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manager_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
