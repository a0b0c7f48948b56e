/*
 * The messages as the version before knew them, for an agent of that age: linked into it in place
 * of src/wire/message.c. Fields that came later are not in its tables, nor are later messages; all
 * else is the agent as it is.
 */
#include "myriad/wire/message.h"

/* src/wire/message.c under other names (CMakeLists.txt). */
const struct myr_wire_table *newest_table_of(uint8_t type);

/* Types whose later fields are cut off, and how many they had; 0: not known at all. */
static const struct {
    uint8_t type;
    uint16_t count;
} before[] = {
    {MYR_WIRE_START, 11}, /* without array_index */
    {MYR_WIRE_SILENT, 1}, /* without channel */
    {MYR_WIRE_BACK, 1},   {MYR_WIRE_ATTACH, 0}, {MYR_WIRE_DETACH, 0},
};

const struct myr_wire_table *myr_wire_table_of(uint8_t type)
{
    static struct myr_wire_table cut[MYR_ARRAY_COUNT(before)];
    const struct myr_wire_table *table = newest_table_of(type);
    for (size_t i = 0; table && i < MYR_ARRAY_COUNT(before); i++) {
        if (before[i].type == type) {
            MYR_ASSERT(before[i].count < table->count);
            cut[i] = *table;
            cut[i].count = before[i].count;
            return before[i].count ? &cut[i] : NULL;
        }
    }
    return table;
}

const char *myr_wire_type_name(uint8_t type)
{
    const struct myr_wire_table *table = myr_wire_table_of(type);
    return table ? table->name : type == MYR_WIRE_SCHEMA ? "schema" : "unknown";
}
