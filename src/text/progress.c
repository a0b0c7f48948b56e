#include "myriad/text/progress.h"

#include <unistd.h>

/*
 * Integers only, so that a line can be compared byte by byte in a test. The rate is over the whole
 * time, not a moving one: the time left then jumps less, and converges to the truth.
 */
static const int64_t SECOND_NS = 1000000000;

/* Quicker work shows nothing; a terminal is redrawn ten times a second; a log gets few lines. */
#define QUIET_NS  SECOND_NS
#define REDRAW_NS (SECOND_NS / 10)
#define LOG_NS    (10 * SECOND_NS)

void myr_progress_init(struct myr_progress *progress, const char *what, uint64_t total,
                       bool terminal, int64_t now_ns)
{
    *progress = (struct myr_progress){
        .what = what,
        .total = total,
        .start_ns = now_ns,
        .shown_ns = now_ns,
        .terminal = terminal,
    };
}

/* a * b / c without overflow on the way; saturates. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    MYR_ASSERT(c > 0);
    unsigned __int128 value = (unsigned __int128)a * b / c;
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* Two or three digits say enough: "4.1 k/s", "412 k/s", "7 /s"; what is slower, "7 /min". */
static void put_rate(struct myr_buf *buf, uint64_t done, uint64_t elapsed_ns)
{
    static const char units[] = " kMGTPE";
    static const struct {
        uint64_t seconds;
        const char *name;
    } times[] = {{1, "/s"}, {60, "/min"}, {3600, "/h"}, {86400, "/d"}};
    /* The shortest time in which at least one was done. */
    uint32_t of = 0;
    uint64_t rate = scale(done, (uint64_t)SECOND_NS, elapsed_ns);
    while (rate == 0 && of + 1 < MYR_ARRAY_COUNT(times)) {
        rate = scale(done, times[++of].seconds * (uint64_t)SECOND_NS, elapsed_ns);
    }
    uint64_t unit = 1;
    uint32_t step = 0;
    while (rate / unit >= 1000 && step + 2 < sizeof(units)) {
        unit *= 1000;
        step++;
    }
    uint64_t whole = rate / unit;
    myr_buf_put_u64(buf, whole);
    /* One more digit where there is only one. */
    if (step > 0 && whole < 10) {
        myr_buf_putc(buf, '.');
        myr_buf_put_u64(buf, rate % unit / (unit / 10));
    }
    myr_buf_putc(buf, ' ');
    if (step > 0) {
        myr_buf_putc(buf, units[step]);
    }
    myr_buf_puts(buf, times[of].name);
}

/* "0:07", "12:30", "1:02:03": hours only where there are some. */
static void put_duration(struct myr_buf *buf, uint64_t seconds)
{
    uint64_t hours = seconds / 3600;
    if (hours > 0) {
        myr_buf_put_u64(buf, hours);
        myr_buf_putc(buf, ':');
    }
    myr_buf_put_u64_pad(buf, seconds / 60 % 60, hours > 0 ? 2 : 1);
    myr_buf_putc(buf, ':');
    myr_buf_put_u64_pad(buf, seconds % 60, 2);
}

/* Percent and total only where the total is known; padded, so that the line does not jump. */
static void put_counts(const struct myr_progress *progress, uint64_t done, struct myr_buf *ret)
{
    char number[32];
    if (progress->total > 0) {
        uint64_t percent = scale(done, 100, progress->total);
        myr_buf_put_lit(ret, "  ");
        myr_buf_puts(ret, percent < 10 ? "  " : percent < 100 ? " " : "");
        myr_buf_put_u64(ret, percent);
        myr_buf_put_lit(ret, " %");
    }
    myr_buf_put_lit(ret, "  ");
    myr_buf_puts(ret, myr_u64_grouped(done, number));
    if (progress->total > 0) {
        myr_buf_putc(ret, '/');
        myr_buf_puts(ret, myr_u64_grouped(progress->total, number));
    }
}

/* Rate and time left only when something has been done: before that both would be guesses. */
void myr_progress_line(const struct myr_progress *progress, uint64_t done, int64_t now_ns,
                       struct myr_buf *ret)
{
    MYR_ASSERT(now_ns >= progress->start_ns);
    uint64_t elapsed_ns = (uint64_t)(now_ns - progress->start_ns);
    if (progress->total > 0 && done > progress->total) {
        done = progress->total; /* an estimate that was too low is no reason for 103 % */
    }
    myr_buf_puts(ret, progress->what);
    put_counts(progress, done, ret);
    if (done == 0 || elapsed_ns == 0) {
        return;
    }
    myr_buf_put_lit(ret, "  ");
    put_rate(ret, done, elapsed_ns);
    if (progress->total > done) {
        uint64_t left_ns = scale(progress->total - done, elapsed_ns, done);
        myr_buf_put_lit(ret, "  ");
        /* Rounded up: it never says 0:00 while there is something left. */
        put_duration(ret, left_ns / (uint64_t)SECOND_NS + (left_ns % (uint64_t)SECOND_NS > 0));
        myr_buf_put_lit(ret, " left");
    }
}

static void write_stderr(const struct myr_buf *line)
{
    /* One call a line, so that lines of several writers do not mix; losing one is no error. */
    ssize_t put = write(STDERR_FILENO, line->data, line->len);
    (void)put;
}

void myr_progress_update(struct myr_progress *progress, uint64_t done, int64_t now_ns)
{
    /* Called in hot loops: the two comparisons come before anything that costs. */
    int64_t pause_ns = progress->terminal ? REDRAW_NS : LOG_NS;
    if (now_ns - progress->start_ns < QUIET_NS || now_ns - progress->shown_ns < pause_ns) {
        return;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    myr_buf_puts(&line, progress->terminal ? "\r" : "");
    myr_progress_line(progress, done, now_ns, &line);
    myr_buf_puts(&line, progress->terminal ? "\033[K" : "\n");
    write_stderr(&line);
    progress->shown_ns = now_ns;
    progress->shown = true;
}

/* Takes the line off the terminal; a log keeps what it has. */
void myr_progress_done(struct myr_progress *progress)
{
    if (progress->terminal && progress->shown) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
        myr_buf_put_lit(&line, "\r\033[K");
        write_stderr(&line);
    }
    progress->shown = false;
}
