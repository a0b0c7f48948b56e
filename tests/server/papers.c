/*
 * Certificates for tests, good ones and others, so that no other program is needed:
 *
 *     papers ca DIR                  an authority: ca.pem, ca-key.pem
 *     papers csr NAME DIR            a key and a request: key.pem, csr.pem
 *     papers sign CADIR DAYS NAME DIR    a key, and a certificate of that authority: cert.pem
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/io.h"

/* Static: held until the end, which no checker takes for a leak. */
static struct myr_buf ca, ca_key, key, csr, cert;

static void check(int rc, const struct myr_err *err)
{
    if (rc < 0) {
        fprintf(stderr, "papers: %s\n", err->message);
        exit(1);
    }
}

static void put(const char *folder, const char *name, const struct myr_buf *text)
{
    char path[1024];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    check(myr_file_write(path, text, &err), &err);
}

static void get(const char *folder, const char *name, struct myr_buf *ret)
{
    char path[1024];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    check(myr_file_read(path, 1 << 20, ret, &err), &err);
}

static void make_csr(const char *name, const char *folder)
{
    struct myr_err err = {};
    check(myr_io_csr_create(name, &key, &csr, &err), &err);
    put(folder, "key.pem", &key);
    put(folder, "csr.pem", &csr);
}

int main(int argc, char **argv)
{
    struct myr_err err = {};
    if (argc == 3 && strcmp(argv[1], "ca") == 0) {
        check(myr_io_ca_create("another authority", 30, &ca, &ca_key, &err), &err);
        put(argv[2], "ca.pem", &ca);
        put(argv[2], "ca-key.pem", &ca_key);
    } else if (argc == 4 && strcmp(argv[1], "csr") == 0) {
        make_csr(argv[2], argv[3]);
    } else if (argc == 6 && strcmp(argv[1], "sign") == 0) {
        uint64_t days = 0;
        if (!myr_str_to_u64(myr_str_from(argv[3]), &days)) {
            return 2;
        }
        get(argv[2], "ca.pem", &ca);
        get(argv[2], "ca-key.pem", &ca_key);
        make_csr(argv[4], argv[5]);
        struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                                   .ca_key = {ca_key.data, ca_key.len},
                                   .days = (uint32_t)days};
        check(myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, NULL, NULL, &err),
              &err);
        put(argv[5], "cert.pem", &cert);
    } else {
        fprintf(stderr, "usage: papers ca DIR | csr NAME DIR | sign CADIR DAYS NAME DIR\n");
        return 2;
    }
    return 0;
}
