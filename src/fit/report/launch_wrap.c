#include "myriad/fit/launch.h"

enum { WIDTH = 76 };

/* Words of 'text' on lines; the lines after the first begin with 'start'. */
static void put_words(struct myr_buf *buf, struct myr_str text, const char *end, const char *start)
{
    size_t column = 0, start_len = strlen(start), end_len = strlen(end);
    for (size_t at = 0; at < text.len;) {
        size_t to = at;
        while (to < text.len && text.data[to] != ' ') {
            to++;
        }
        size_t len = to - at;
        bool first = column == 0;
        if (!first && column + 1 + len + end_len > WIDTH) {
            myr_buf_printf(buf, "%s\n%s", end, start);
            column = start_len;
        } else if (!first) {
            myr_buf_putc(buf, ' ');
            column++;
        }
        myr_buf_put(buf, text.data + at, len);
        column += len;
        at = to;
        while (at < text.len && text.data[at] == ' ') {
            at++;
        }
    }
    myr_buf_putc(buf, '\n');
}

void myr_launch_write_wrapped(struct myr_buf *buf, enum myr_trainer trainer,
                              const struct myr_layout *layout, const struct myr_model *model)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {0};
    myr_launch_write(&line, trainer, layout, model);
    const char *comment = strstr(line.data, " # ");
    size_t len = comment ? (size_t)(comment - line.data) : line.len;
    /* DeepSpeed's is a JSON file, in which lines go on by themselves. */
    const char *end = trainer == MYR_TRAINER_DEEPSPEED ? "" : " \\";
    put_words(buf, (struct myr_str){line.data, len}, end, "    ");
    if (comment) {
        put_words(buf, myr_str_from(comment + 1), "", "# ");
    }
}
