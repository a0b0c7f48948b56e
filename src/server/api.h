/* What the parts of the API share: requests become questions to the core, answers JSON. */
#pragma once

#include "http.h"
#include "said/said.h"

extern const struct route api_routes[];
extern const size_t api_route_count;

#define ROUTE(method, path, role, call, ...) \
    int call(struct request *request, struct myr_buf *ret, struct myr_err *err);
#include "routes.rec"
#undef ROUTE

/* openapi.c */
void openapi_write(const struct route *routes, size_t count, const char *version,
                   enum myr_json_style style, struct myr_buf *ret);

/* One job, with its file as it was submitted. */
void api_put_job(const struct server *server, uint32_t id, struct myr_buf *ret);
void backup_stop(struct server *server);

/* "" where the store does not name it. */
const char *api_tenant_of(const struct server *server, const struct job_row *row);
/* Changes are refused while nothing can be kept. */
MYR_MUST_USE int api_writable(const struct server *server, struct myr_err *err);
