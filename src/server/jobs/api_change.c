/*
 * api_change: what is asked of a job that is there: to end, to be held or let go, to be the first.
 * The answer is the job as it is then.
 */
#include <stdio.h>
#include <string.h>

#include "api.h"

/* A job that this caller may change, by its number in the path; 'verb' is for the refusal. */
static int job_to_change(struct request *request, const char *verb, uint32_t *ret,
                         struct myr_err *err)
{
    MYR_TRY(request_job(request, ret, err));
    const struct job_row *row = rows_job(request->server, *ret);
    if (request->who.role < ROLE_OPERATOR && strcmp(row->user, request->who.user) != 0) {
        return myr_err_set(err, MYR_EDENIED, "job %u is %s's; an operator may %s it too", *ret,
                           row->user, verb);
    }
    MYR_TRY(api_writable(request->server, err));
    return MYR_OK;
}

/* What is over stays as it ended. */
static int refuse_over(const struct server *server, uint32_t id, struct myr_err *err)
{
    enum myr_control_job_state state = rows_job_view(server, id).state;
    return state >= MYR_CONTROL_DONE ? myr_err_set(err, MYR_ESTALE, "job %u is over: %s", id,
                                                   myr_control_job_state_name(state))
                                     : MYR_OK;
}

/* Said twice it is the same: the answer is the job as it is. */
static int change_job(struct request *request, uint32_t id, const struct myr_event *event,
                      struct myr_buf *ret, struct myr_err *err)
{
    MYR_TRY(refuse_over(request->server, id, err));
    desk_post(request->server, event);
    MYR_TRY(desk_run(request->server, err));
    api_put_job(request->server, id, ret);
    return MYR_OK;
}

int api_hold(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    uint32_t id;
    MYR_TRY(job_to_change(request, "hold", &id, err));
    struct myr_event event = {.kind = MYR_EVENT_HOLD_JOB, .job = id, .code = 1};
    return change_job(request, id, &event, ret, err);
}

int api_release(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    uint32_t id;
    MYR_TRY(job_to_change(request, "release", &id, err));
    struct myr_event event = {.kind = MYR_EVENT_HOLD_JOB, .job = id};
    return change_job(request, id, &event, ret, err);
}

/* Before all that wait now: one above the highest priority among them, as far as that goes. */
int api_top(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct server *server = request->server;
    uint32_t id;
    MYR_TRY(job_to_change(request, "put first", &id, err));
    int32_t priority = rows_job_view(server, id).spec.priority;
    for (uint32_t i = 0; i < myr_control_jobs(server->control); i++) {
        struct myr_control_job other = rows_job_view(server, i);
        if (i != id && other.state == MYR_CONTROL_QUEUED && other.spec.priority >= priority) {
            priority = other.spec.priority + (other.spec.priority < MYR_PRIORITY_MAX);
        }
    }
    struct myr_event event = {.kind = MYR_EVENT_PRIORITY, .job = id, .value = priority};
    return change_job(request, id, &event, ret, err);
}

/* Of one that is cancelled already the answer is the same again. */
int api_cancel(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    uint32_t id;
    MYR_TRY(job_to_change(request, "cancel", &id, err));
    struct job_row *row = rows_job(server, id);
    if (row->state == MYR_CONTROL_DONE || row->state == MYR_CONTROL_FAILED) {
        return refuse_over(server, id, err);
    }
    if (row->state < MYR_CONTROL_DONE) { /* said twice, it is the same */
        snprintf(row->reason, sizeof(row->reason), "cancelled by %s", request->who.user);
    }
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = id});
    MYR_TRY(desk_run(server, err));
    api_put_job(server, id, ret);
    return MYR_OK;
}
