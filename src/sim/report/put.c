#include "report/internal.h"

/* A storage server's number has its own space: "storage-3" is no GPU. */
void report_put_rank(struct myr_buf *buf, uint32_t rank)
{
    if (rank & MYR_MESSAGE_STORAGE) {
        myr_buf_put_lit(buf, "storage-");
    }
    myr_buf_put_u64(buf, myr_message_number(rank));
}

/* Picoseconds as microseconds, exactly. */
void report_put_us(struct myr_buf *buf, myr_ps ps)
{
    myr_buf_put_u64(buf, (uint64_t)(ps / MYR_PS_PER_US));
    myr_buf_putc(buf, '.');
    myr_buf_put_u64_pad(buf, (uint64_t)(ps % MYR_PS_PER_US), 6);
}
