/* myriad.yaml: a configuration within its limits, or one clear line. */
#include <string.h>

#include "../../src/server/server.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {0};
    struct config config;
    int rc = config_parse("config", (struct myr_str){(const char *)data, size}, &config, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "config");
        return 0;
    }
    MYR_ASSERT(config.node_count > 0 && config.spares < config.node_count);
    MYR_ASSERT(config.gpus_per_node >= 1 && config.gpus_per_node <= 64);
    MYR_ASSERT(config.http_address[0] && config.agents_address[0] && config.speed > 0);
    config_done(&config);
    return 0;
}
