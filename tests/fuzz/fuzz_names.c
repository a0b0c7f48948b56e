/* A list of node names, as a person writes it: names that are files' and hosts' names, none twice,
 * or one clear line. */
#include <stdlib.h>
#include <string.h>

#include "../../src/server/server.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_err err = {0};
    char **names;
    uint32_t count;
    char *text = strndup((const char *)data, size);
    int rc = names_expand(text, &names, &count, &err);
    if (rc < 0) {
        MYR_ASSERT(err.code == rc && err.message[0]);
    } else {
        MYR_ASSERT(count > 0);
        for (uint32_t i = 0; i < count; i++) {
            MYR_ASSERT(names[i][0] && strlen(names[i]) < SERVER_NAME && !strchr(names[i], '/'));
        }
        names_free(names, count);
    }
    free(text);
    return 0;
}
