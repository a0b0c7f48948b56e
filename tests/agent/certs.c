/*
 * Certificates for tests, so that no other program is needed:
 *
 *     certs make DIR    an authority and a server's certificate; prints the fingerprint
 *     certs sign DIR DAYS    the request on standard input, signed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/io.h"

static void die(const struct myr_err *err)
{
    fprintf(stderr, "certs: %s\n", err->message);
    exit(1);
}

static void put(const char *folder, const char *name, const struct myr_buf *text)
{
    char path[1024];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (myr_file_write(path, text, &err) < 0) {
        die(&err);
    }
}

static struct myr_str get(const char *folder, const char *name, struct myr_buf *buf)
{
    char path[1024];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (myr_file_read(path, 1 << 20, buf, &err) < 0) {
        die(&err);
    }
    return (struct myr_str){buf->data, buf->len};
}

static void make(const char *folder)
{
    /* Static: held until the end, which no checker takes for a leak. */
    static struct myr_buf ca, ca_key, key, csr, cert, name, serial;
    struct myr_err err = {};
    char fingerprint[65];
    if (myr_io_ca_create("test authority", 30, &ca, &ca_key, &err) < 0 ||
        myr_io_csr_create("server", &key, &csr, &err) < 0) {
        die(&err);
    }
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 30,
                               .server = true,
                               .alt_names = "IP:127.0.0.1"};
    if (myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, &name, &serial, &err) <
            0 ||
        myr_io_fingerprint((struct myr_str){ca.data, ca.len}, fingerprint, &err) < 0) {
        die(&err);
    }
    put(folder, "ca.pem", &ca);
    put(folder, "ca.key", &ca_key);
    put(folder, "server.key", &key);
    myr_buf_put(&cert, ca.data, ca.len); /* strangers know the authority by its fingerprint */
    put(folder, "server.pem", &cert);
    printf("%s\n", fingerprint);
}

static void sign_one(const char *folder, const char *days)
{
    /* Static: held until the end, which no checker takes for a leak. */
    static struct myr_buf ca, ca_key, csr, cert, name, serial;
    struct myr_err err = {};
    uint64_t count = 0;
    if (!myr_str_to_u64(myr_str_from(days), &count) ||
        myr_file_read("-", 1 << 20, &csr, &err) < 0) {
        die(&err);
    }
    struct myr_io_sign sign = {.ca_certificate = get(folder, "ca.pem", &ca),
                               .ca_key = get(folder, "ca.key", &ca_key),
                               .days = (uint32_t)count};
    if (myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, &name, &serial, &err) <
        0) {
        die(&err);
    }
    fwrite(cert.data, 1, cert.len, stdout);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        make(argv[2]);
    } else if (argc == 4 && strcmp(argv[1], "sign") == 0) {
        sign_one(argv[2], argv[3]);
    } else {
        fprintf(stderr, "usage: certs make DIR | certs sign DIR DAYS\n");
        return 2;
    }
    return 0;
}
