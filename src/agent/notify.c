/* notify: systemd's protocol, one datagram to the socket that its variable names. */
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Without a manager, or one that does not listen, nothing is said, and nothing fails. */
void notify_manager(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof(to.sun_path)) {
        return;
    }
    memcpy(to.sun_path, path, strlen(path));
    /* An '@' stands for the NUL in front of an abstract name, which has no file. */
    to.sun_path[0] = to.sun_path[0] == '@' ? '\0' : to.sun_path[0];
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
        close(fd);
    }
}
