/* fields: reads and writes maps by tables of rows. */
#include "fields.h"

#include "draw.h"

/* As many keys as the longest map of a scenario, its top, has. */
enum { KEYS_MAX = 40, DAY_MS = 86400000 };

static double unit_ms(enum field_unit unit)
{
    return unit == FIELD_MIN ? 60e3 : unit == FIELD_H ? 3600e3 : 1e3;
}

/* Checked against its limits, and stored as whole units. */
static int read_one(const struct myr_doc *node, const struct field *row, char *base,
                    struct myr_err *err)
{
    double value = 0;
    /* What lies there is of the row's type. */
    void *to = base + row->at;
    if (row->unit == FIELD_CHOICE) {
        return myr_doc_choice(node, row->key, row->names, row->name_count, to, err);
    }
    /* Whole numbers are read as such: a double would lose digits of a large one. */
    if (row->unit == FIELD_U32 || row->unit == FIELD_U64) {
        uint64_t whole;
        int rc = myr_doc_u64(node, row->key, (uint64_t)row->min, (uint64_t)row->max, &whole, err);
        if (rc == MYR_OK && row->unit == FIELD_U32) {
            *(uint32_t *)to = (uint32_t)whole;
        } else if (rc == MYR_OK) {
            *(uint64_t *)to = whole;
        }
        return rc;
    }
    int rc = myr_doc_double(node, row->key, row->min, row->max, &value, err);
    if (rc < 0) {
        return rc;
    }
    if (row->unit == FIELD_I32) {
        *(int32_t *)to = (int32_t)value;
    } else if (row->unit == FIELD_WHOLE_S) {
        *(int64_t *)to = (int64_t)value;
    } else if (row->unit == FIELD_PER_DAY) {
        /*
         * Rounded up; what is written subtracts half of that, so that reading it gives the same
         * again.
         */
        double every_ms = value > 0 ? DAY_MS / value : -1;
        *(int64_t *)to =
            every_ms < (double)DRAW_MEAN_MAX_MS ? (int64_t)every_ms + 1 : DRAW_MEAN_MAX_MS;
    } else {
        *(int64_t *)to = (int64_t)(value * unit_ms(row->unit) + 0.5);
    }
    return MYR_OK;
}

int scene_read(const struct myr_doc *map, const char *what, const struct field *rows,
               uint32_t count, const char *const *others, uint32_t other_count, void *ret,
               struct myr_err *err)
{
    /* Known keys are those of the rows and those that the caller reads itself. */
    const char *keys[KEYS_MAX];
    MYR_ASSERT(count + other_count <= KEYS_MAX);
    /* A section that is not there keeps its defaults. */
    if (!map) {
        return MYR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = rows[i].key;
    }
    for (uint32_t i = 0; i < other_count; i++) {
        keys[count + i] = others[i];
    }
    int rc = myr_doc_expect(map, MYR_DOC_MAP, what ? what : "scenario", err);
    if (rc < 0) {
        return rc;
    }
    /* Before anything is stored: a misspelt key must not pass for a default. */
    rc = myr_doc_check_keys(map, what, keys, count + other_count, err);
    for (uint32_t i = 0; i < count && rc == MYR_OK; i++) {
        const struct myr_doc *node = myr_doc_get(map, rows[i].key);
        rc = node ? read_one(node, &rows[i], ret, err) : MYR_OK;
    }
    return rc;
}

/* Milliseconds as a decimal number of the unit, exactly. */
static void put_ms(struct myr_buf *buf, int64_t ms, enum field_unit unit)
{
    myr_buf_printf(buf, "%.9g", (double)ms / unit_ms(unit));
}

void scene_write(const struct field *rows, uint32_t count, const void *from, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < count; i++) {
        const void *at = (const char *)from + rows[i].at;
        myr_buf_printf(buf, "%s%s: ", i > 0 ? ", " : "", rows[i].key);
        switch (rows[i].unit) {
        case FIELD_U32:
            myr_buf_put_u64(buf, *(const uint32_t *)at);
            break;
        case FIELD_U64:
            myr_buf_put_u64(buf, *(const uint64_t *)at);
            break;
        case FIELD_I32:
            myr_buf_put_i64(buf, *(const int32_t *)at);
            break;
        case FIELD_WHOLE_S:
            myr_buf_put_i64(buf, *(const int64_t *)at);
            break;
        case FIELD_CHOICE:
            myr_buf_puts(buf, rows[i].names[*(const uint32_t *)at]);
            break;
        case FIELD_PER_DAY: {
            /* In the middle of the millisecond that reading rounds up from. */
            int64_t ms = *(const int64_t *)at;
            myr_buf_printf(buf, "%.12g", ms > 0 ? (double)DAY_MS / ((double)ms - 0.5) : 0.0);
            break;
        }
        default:
            put_ms(buf, *(const int64_t *)at, rows[i].unit);
        }
    }
}
