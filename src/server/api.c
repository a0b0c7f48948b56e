/*
 * api: every call, its role, and what it is for. The page and its parts are built into the program
 * and served here too.
 */
#include "api.h"

#include <stdio.h>
#include <string.h>
#include <web_files.h>

#include "myriad/server/records.h"

/* The page's own files have no other kinds; browsers are told not to guess. */
static const char *type_of(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".html") == 0  ? "text/html; charset=utf-8"
           : length > 4 && strcmp(name + length - 4, ".css") == 0 ? "text/css; charset=utf-8"
           : length > 4 && strcmp(name + length - 4, ".svg") == 0 ? "image/svg+xml"
           : length > 3 && strcmp(name + length - 3, ".js") == 0  ? "text/javascript; charset=utf-8"
                                                                  : "application/octet-stream";
}

/*
 * Files are built into the program: names are compared with a list, and no path reaches the disk.
 */
static int page(struct request *request, const char *name, struct myr_err *err)
{
    for (size_t i = 0; i < web_files_count; i++) {
        if (strcmp(web_files[i].name, name) == 0) {
            /* Answered here and not by the dispatcher, which sends JSON. */
            request_answer(request, 200, type_of(name),
                           (struct myr_str){(const char *)web_files[i].data, web_files[i].size});
            return HTTP_LATER;
        }
    }
    return myr_err_set(err, MYR_ENOENT, "no such page");
}

int api_index(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    (void)ret;
    return page(request, "web/dist/index.html", err);
}

/* A name that is cut is the name of no file. */
int api_asset(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    (void)ret;
    char name[128];
    snprintf(name, sizeof(name), "web/dist/assets/%.64s", request->words[1]);
    /* A browser may keep them for ten minutes; the page itself is asked for each time. */
    request->cache = "max-age=600";
    return page(request, name, err);
}

const struct route api_routes[] = {
#define ROUTE(verb, url, least, function, in, out, says, ...) \
    {.method = #verb,                                         \
     .path = url,                                             \
     .role = least,                                           \
     .call = function,                                        \
     .takes = in,                                             \
     .gives = out,                                            \
     .summary = says,                                         \
     __VA_ARGS__},
#include "routes.rec"
#undef ROUTE
};
const size_t api_route_count = MYR_ARRAY_COUNT(api_routes);

void myr_server_openapi(const char *version, enum myr_json_style style, struct myr_buf *ret)
{
    openapi_write(api_routes, api_route_count, version, style, ret);
}
