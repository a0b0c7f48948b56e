/*
 * access: where the API server is, whom to believe there, and what to show.
 *
 * From a kubeconfig file (its present context, or a named one), or inside of a cluster from the
 * service account of the pod. Certificates are text, whether the file names files or holds them.
 * Programs that make tokens (exec, auth-provider) are not run: a token in a file is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

#define MYR_KUBE_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

struct myr_kube_access {
    struct myr_arena arena;
    const char *url;   /* "https://10.0.0.1:6443", without a '/' at its end */
    const char *host;  /* "10.0.0.1" */
    const char *path;  /* of the URL: "" or "/k8s/clusters/c-1" */
    const char *named; /* the name in the server's certificate, where it is not the host's */
    uint16_t port;
    bool plain;                         /* http: for a proxy on this machine */
    const char *ca, *certificate, *key; /* PEM text, or NULL */
    const char *token;                  /* or NULL */
    const char *token_file;             /* read anew now and then; or NULL */
    const char *from;                   /* what it was read from, for messages */
    const char *space;                  /* the namespace of the context; "default" */
};

/* Where to look: the first that is there. 'lookup_env' is getenv() or a test's. */
struct myr_kube_where {
    const char *kubeconfig; /* or NULL: $KUBECONFIG, ~/.kube/config, then the service account */
    const char *context;    /* or NULL: the file's present one */
    const char *account;    /* folder of the service account; NULL: the usual one */
    const char *(*lookup_env)(const char *name);
};

MYR_MUST_USE int myr_kube_access_find(const struct myr_kube_where *where,
                                      struct myr_kube_access *ret, struct myr_err *err);
/* A kubeconfig's text; files that it names are looked for beside 'file'. */
MYR_MUST_USE int myr_kube_access_read(const char *file, struct myr_str text, const char *context,
                                      struct myr_kube_access *ret, struct myr_err *err);
void myr_kube_access_done(struct myr_kube_access *access);

/* One request and its answer, blocking, for a command. */
struct myr_kube_question {
    const char *method, *path; /* "POST", "/apis/batch/v1/namespaces/default/jobs" */
    struct myr_str body;       /* JSON */
    uint32_t timeout_s;        /* 0: 30 */
};

/* MYR_OK when the status is 2xx; else what the API server says, in one line. */
MYR_MUST_USE int myr_kube_ask(const struct myr_kube_access *access,
                              const struct myr_kube_question *question, struct myr_buf *ret,
                              struct myr_err *err);
