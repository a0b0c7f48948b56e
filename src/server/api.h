/* What the parts of the API share: requests become questions to the core, answers JSON. */
#pragma once

#include "http.h"

extern const struct route api_routes[];
extern const size_t api_route_count;

/* api_nodes.c */
int api_nodes(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_node(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_drain(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_resume(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_revoke(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_frame(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_cluster(struct request *request, struct myr_buf *ret, struct myr_err *err);

/* api_jobs.c */
int api_jobs(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_job(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_submit(struct request *request, struct myr_buf *ret, struct myr_err *err);
/* One job, with its file as it was submitted. */
void api_put_job(const struct server *server, uint32_t id, struct myr_buf *ret);
int api_cancel(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_hold(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_release(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_top(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_logs(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_explain(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_queue(struct request *request, struct myr_buf *ret, struct myr_err *err);

/* api_admin.c */
int api_state(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_health(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_usage(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_inject(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_enrol(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_token(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_metrics(struct request *request, struct myr_buf *ret, struct myr_err *err);

/* access/api_access.c */
int api_tokens(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_token_revoke(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_tenant(struct request *request, struct myr_buf *ret, struct myr_err *err);

/* access/api_relays.c */
int api_relays(struct request *request, struct myr_buf *ret, struct myr_err *err);
int api_relay_revoke(struct request *request, struct myr_buf *ret, struct myr_err *err);

/* api_design.c */
int api_design(struct request *request, struct myr_buf *ret, struct myr_err *err);

/* api_backup.c */
int api_backup(struct request *request, struct myr_buf *ret, struct myr_err *err);
void backup_stop(struct server *server);

/* Numbers of the jobs of one submission: after a failure on the way the rest has later ones. */
static inline void api_put_ids(const uint32_t *ids, uint32_t count, struct myr_json *json)
{
    myr_json_list(json, "ids");
    for (uint32_t i = 0; i < count; i++) {
        myr_json_u64(json, NULL, ids[i]);
    }
    myr_json_end(json);
}
/* Changes are refused while nothing can be kept. */
MYR_MUST_USE int api_writable(const struct server *server, struct myr_err *err);
/* A text of the request's body, which may be empty; NULL-terminated into 'ret'. */
MYR_MUST_USE int api_body_text(const struct request *request, const char *key, bool needed,
                               char *ret, size_t size, struct myr_err *err);
