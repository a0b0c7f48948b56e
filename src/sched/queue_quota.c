#include "queue_impl.h"

int myr_tenants_check(const struct myr_tenant *tenants, uint32_t count,
                      const struct myr_place_shape *shape, struct myr_err *err)
{
    (void)tenants;
    (void)count;
    (void)shape;
    (void)err;
    return MYR_OK;
}
