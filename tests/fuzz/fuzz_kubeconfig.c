/* A kubeconfig: an address and credentials, or one clear line. */
#include "fuzz.h"
#include "myriad/kube/access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {};
    struct myr_kube_access access;
    int rc = myr_kube_access_read("kubeconfig", (struct myr_str){(const char *)data, size}, NULL,
                                  &access, &err);
    if (rc < 0) {
        fuzz_note_error(&err);
        MYR_ASSERT(err.code == rc && err.message[0] && !strchr(err.message, '\n'));
        return 0;
    }
    fuzz_note("%s %u %s %s %s", access.host, (unsigned)access.port, access.url, access.space,
              access.token ? access.token : "no token");
    MYR_ASSERT(access.host[0] && access.port && access.url[0] && access.space[0]);
    MYR_ASSERT(!access.certificate == !access.key);
    for (const char *c = access.token ? access.token : ""; *c; c++) {
        MYR_ASSERT((unsigned char)*c > 0x20); /* it goes into a head */
    }
    myr_kube_access_done(&access);
    return 0;
}
