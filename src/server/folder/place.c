/*
 * place: where the server of a folder is reached: by the address that it has written when it began,
 * else by the one that its configuration gives it.
 */
#include <stdio.h>
#include <string.h>

#include "myriad/server/folder.h"
#include "server.h"

static bool starts_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Who listens everywhere is reached here too. */
static const char *reached(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(host, "::") == 0 ? "::1" : host;
}

/*
 * No server has written where it is: the address that it would have. Port 0 is known only while one
 * runs.
 */
static int from_config(const char *folder, struct myr_server_place *ret, struct myr_err *err)
{
    struct config config;
    char path[MYR_SERVER_PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/myriad.yaml", folder);
    MYR_TRY(config_read(path, &config, err));
    const char *host = config.http_address;
    bool six = strchr(host, ':') != NULL;
    bool plain = starts_with(host, "127.") || strcmp(host, "::1") == 0;
    host = reached(host);
    uint16_t port = config.http_port;
    snprintf(ret->url, sizeof(ret->url), "%s://%s%s%s:%u", plain ? "http" : "https", six ? "[" : "",
             host, six ? "]" : "", port);
    config_done(&config);
    if (port == 0) {
        int rc =
            myr_err_set(err, MYR_EAWAY, "%s: no server runs there: it has no port yet", folder);
        char word[160];
        myr_err_hint(err, "myriad serve %s", myr_shell_word(folder, word, sizeof(word)));
        return rc;
    }
    return MYR_OK;
}

/* 'said': by a server that runs, or was killed; else it is guessed from the configuration. */
int myr_server_find(const char *folder, struct myr_server_place *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[MYR_SERVER_PATH_MAX + 16];
    *ret = (struct myr_server_place){};
    if (strlen(folder) + 16 >= sizeof(ret->ca)) {
        return myr_err_set(err, MYR_ERANGE, "a folder's name of %zu bytes", strlen(folder));
    }
    snprintf(ret->ca, sizeof(ret->ca), "%.4000s/ca.pem", folder);
    snprintf(ret->token, sizeof(ret->token), "%.4000s/admin.token", folder);
    snprintf(path, sizeof(path), "%s/server.url", folder);
    if (myr_file_read(path, sizeof(ret->url) - 1, &text, NULL) < 0 || text.len == 0) {
        return from_config(folder, ret, err);
    }
    /* The server has written its own address, which may stand for all of this machine's. */
    text.data[strcspn(text.data, "\r\n")] = '\0';
    static const struct {
        const char *everywhere, *here;
    } hosts[] = {{"https://0.0.0.0:", "https://127.0.0.1:"}, {"https://[::]:", "https://[::1]:"}};
    const char *begin = "", *rest = text.data;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(hosts); i++) {
        if (starts_with(text.data, hosts[i].everywhere)) {
            begin = hosts[i].here;
            rest = text.data + strlen(hosts[i].everywhere);
        }
    }
    snprintf(ret->url, sizeof(ret->url), "%s%s", begin, rest);
    ret->said = true;
    return MYR_OK;
}
