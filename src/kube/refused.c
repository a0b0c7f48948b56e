/*
 * refused: what an API server says when it will not, as one line; one question for a command; and
 * the words that paths are put together from.
 */
#include <stdio.h>

#include "client.h"

/* The message of a Status object; "" where the body is none. */
static void message_of(struct myr_str body, char *ret, size_t size)
{
    const struct myr_doc *top;
    struct myr_arena scratch = {};
    ret[0] = '\0';
    if (body.len < (1U << 20) &&
        myr_doc_read_json(&scratch, "answer", body, &top, NULL) == MYR_OK) {
        struct myr_str text = kube_text(top, "message");
        size_t length = text.len < size - 1 ? text.len : size - 1;
        myr_str_put((struct myr_str){text.data, length}, ret);
        for (char *c = ret; *c; c++) {
            *c = (unsigned char)*c < 0x20 ? ' ' : *c; /* one line */
        }
    }
    myr_arena_done(&scratch);
}

/* A path of which it knows nothing at all: "coordination.k8s.io/v1/namespaces/...". */
static int not_served(const struct myr_kube_access *access, const char *path, struct myr_err *err)
{
    size_t group = strcspn(path, "/");
    size_t length = group + (path[group] ? 1 + strcspn(path + group + 1, "/?") : 0);
    int rc = myr_err_set(err, MYR_EVERSION, "%s: does not serve %.*s (404)", access->url,
                         (int)(length < 100 ? length : 100), path);
    myr_err_hint(err, "another version of Kubernetes, or one that was told not to"
                      " (--runtime-config)");
    return rc;
}

/*
 * The code says what would help: other credentials (401), rights (403), another look (404, 409),
 * time (429); what is no fault of the request counts as an API server that is away.
 */
int kube_refused(const struct myr_kube_access *access, const struct client_request *request,
                 uint32_t status, struct myr_str body, struct myr_err *err)
{
    char text[300];
    size_t path = strcspn(request->path, "?");
    message_of(body, text, sizeof(text));
    if (status == 401) {
        int rc = myr_err_set(err, MYR_EUNKNOWN,
                             "%s: the credentials of %s are not accepted (401 Unauthorized)",
                             access->url, access->from);
        myr_err_hint(err, "kubectl create token myriad -n myriad makes a new one");
        return rc;
    }
    if (status == 403) {
        int rc =
            myr_err_set(err, MYR_EDENIED, "%s: forbidden: %s", access->url, text[0] ? text : "403");
        myr_err_hint(err, "kubectl apply -f packaging/kubernetes/rbac.yaml gives what is needed");
        return rc;
    }
    /* An object that is not there is named; of a path that nobody serves no more is said. */
    bool nobody =
        text[0] == '\0' || strcmp(text, "the server could not find the requested resource") == 0;
    if (status == 404 && nobody && strncmp(request->path, "/apis/", 6) == 0) {
        return not_served(access, request->path + 6, err);
    }
    int code = status == 404                    ? MYR_ENOENT
               : status == 409                  ? MYR_ESTALE
               : status == 429                  ? MYR_EOFTEN
               : status >= 400 && status <= 499 ? MYR_EINVAL
                                                : MYR_EAWAY;
    return myr_err_set(err, code, "%s: %s %.*s: status %u%s%s", access->url, request->method,
                       (int)(path < 120 ? path : 120), request->path, status, text[0] ? ": " : "",
                       text);
}

/* A question of a command, which has no loop of its own: one is made for it. */
struct asking {
    bool over;
    int rc;
    struct client client;
    const struct myr_kube_access *access;
    const struct client_request *request;
    struct myr_buf *ret;
    struct myr_err *err;
};

static void on_answer(void *context, const struct client_answer *answer)
{
    struct asking *a = context;
    a->over = true;
    a->rc = answer->rc;
    if (answer->rc < 0) {
        *a->err = *answer->err;
    } else if (answer->status < 200 || answer->status > 299) {
        a->rc = kube_refused(a->access, a->request, answer->status, answer->body, a->err);
    } else {
        myr_buf_put(a->ret, answer->body.data, answer->body.len);
    }
}

/* The loop runs until the answer is there, and once more so that all handles are closed. */
int myr_kube_ask(const struct myr_kube_access *access, const struct myr_kube_question *question,
                 struct myr_buf *ret, struct myr_err *err)
{
    uv_loop_t loop;
    struct myr_err own = {};
    struct asking a = {.access = access, .ret = ret, .err = err ? err : &own};
    MYR_CLEANUP(myr_buf_done) struct myr_buf token = {};
    /* It goes into a head as it is: blanks and ends of lines would make another request of it. */
    for (const char *c = question->path; *c; c++) {
        if ((unsigned char)*c <= 0x20 || *c == 0x7F || c - question->path > 2000) {
            return myr_err_set(err, MYR_EINVAL, "'%.60s' is no path", question->path);
        }
    }
    /* Read here only to tell a token file that cannot be read; the client reads it for itself. */
    MYR_TRY(kube_token(access, &token, err));
    struct client_request request = {.method = question->method,
                                     .type = question->body.len ? "application/json" : NULL,
                                     .path = kube_path("%s", question->path),
                                     .done = on_answer,
                                     .context = &a};
    myr_buf_put(&request.body, question->body.data, question->body.len);
    /* The other one is the client's from kube_ask() on: messages have their own. */
    MYR_CLEANUP(myr_free_at) char *path = kube_path("%s", question->path);
    const struct client_request shown = {.method = question->method, .path = path};
    a.request = &shown;
    int rc = uv_loop_init(&loop);
    MYR_ASSERT(rc == 0);
    rc = kube_begin(&a.client, &loop, access, question->timeout_s ? question->timeout_s : 30, err);
    if (rc < 0) {
        free(request.path);
        myr_buf_done(&request.body);
        uv_loop_close(&loop);
        return rc;
    }
    kube_ask(&a.client, &request);
    while (!a.over) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    kube_end(&a.client);
    uv_run(&loop, UV_RUN_DEFAULT);
    rc = uv_loop_close(&loop);
    MYR_ASSERT(rc == 0);
    return a.rc;
}

/* --- paths */

/* To be freed, or handed on. What goes into it are names that were checked: it always fits. */
char *kube_path(const char *fmt, ...)
{
    struct myr_buf buf = {};
    char text[4096];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    MYR_ASSERT(length > 0 && length < (int)sizeof(text));
    myr_buf_put(&buf, text, (size_t)length);
    return buf.data;
}

/* Plain is what RFC 3986 leaves unreserved. */
void kube_put_word(struct myr_buf *buf, struct myr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        if (plain) {
            myr_buf_putc(buf, (char)c);
        } else {
            myr_buf_printf(buf, "%%%02X", c);
        }
    }
}
