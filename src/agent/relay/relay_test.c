/*
 * A relay between a controller and agents, all of them in one loop, as one text
 * (tests/kept/agent-relay.txt): what each side hears, who is dropped, when it is tried again.
 * Clocks are the test's own.
 */
#include "relay/relay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "disk/files.h"
#include "kept.h"
#include "leaks.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 0;

enum { QUIET = 8, PATIENCE = 20000, AGENTS = 6 };

static int64_t clock_ns = 1000000000000; /* stands still, unless the test moves it */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *ret)
{
    if (which == CLOCK_REALTIME) {
        return (int)syscall(SYS_clock_gettime, which, ret);
    }
    *ret = (struct timespec){clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

/* One end of a connection, and what it was told since somebody looked. */
struct end {
    const char *name;
    struct myr_io_stream *stream;
    struct myr_wire_sender sender;
    struct myr_wire_receiver reader; /* of what the relay says itself */
    struct myr_buf bytes, told;
    uint64_t sequence;
    uint32_t closed, frames;
    bool quiet, reading; /* frames are counted only; 'reader' is there */
};

static struct relay *relay;
static struct myr_relay settings = {.folder = "/nonexistent", .name = "relay-1", .agents_max = 5};
static struct end controller = {.name = "controller"}, agents[AGENTS];
static struct myr_io_listener *listener;
static uint16_t port;
static uint32_t accepted;
static struct myr_buf story;
static char said_path[] = "/tmp/myr-relay-XXXXXX";
static int said_fd;
static off_t said_at;

/* --- what is put down */

static void put_text(const char *text)
{
    while (*text) {
        size_t digits = strspn(text, "0123456789");
        bool number = digits > 0 && story.len && story.data[story.len - 1] == ':';
        if (number) { /* a port, of this run alone */
            myr_buf_puts(&story, "PORT");
            text += digits;
        } else {
            myr_buf_putc(&story, *text++);
        }
    }
}

static void read_anew(struct end *end, bool reading)
{
    if (end->reading) {
        myr_wire_receiver_done(&end->reader);
    }
    if (reading) {
        myr_wire_receiver_init(&end->reader);
    }
    end->reading = reading;
}

/* Its own words are read; to an agent these are leases alone. */
static void put_fields(struct end *end, const struct myr_wire_head *head, struct myr_str payload)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_message message;
    bool lease = head->type == MYR_WIRE_LEASE || (head->type == MYR_WIRE_SCHEMA && payload.len &&
                                                  payload.data[0] == MYR_WIRE_LEASE);
    if (end == &controller ? head->node != MYR_WIRE_NO_NODE : !lease) {
        return;
    }
    myr_wire_frame_put(&bytes, head, payload);
    myr_wire_feed(&end->reader, (struct myr_str){bytes.data, bytes.len});
    if (myr_wire_next(&end->reader, &message, NULL) <= 0) {
        return;
    }
    const struct myr_wire_table *table = myr_wire_table_of(head->type);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct myr_wire_field *field = &table->fields[i];
        const void *at = (const char *)message.body + field->offset;
        const struct myr_str *text = at;
        myr_buf_printf(&end->told, " %s=", field->name);
        if (field->kind == MYR_WIRE_TEXT) {
            myr_buf_printf(&end->told, "'%.*s'", (int)text->len, text->len ? text->data : "");
        } else {
            bool narrow = field->kind == MYR_WIRE_U32;
            long long number = narrow ? *(const uint32_t *)at : *(const int64_t *)at;
            myr_buf_printf(&end->told, "%lld", number);
        }
    }
}

static void put_frame(struct end *end, const struct myr_wire_head *head, struct myr_str payload)
{
    end->frames++;
    if (end->quiet) {
        return;
    }
    myr_buf_printf(&end->told, "  %s: %s of %d epoch %u number %llu", end->name,
                   myr_wire_type_name(head->type), (int)head->node, head->epoch,
                   (unsigned long long)head->sequence);
    put_fields(end, head, payload);
    bool text = head->type == MYR_WIRE_HELLO || head->type == MYR_WIRE_REFUSED;
    for (size_t i = 0; text && i < payload.len; i++) { /* names are told as they are */
        char c = payload.data[i];
        if (c >= ' ' && c <= '~') {
            myr_buf_putc(&end->told, c);
        }
    }
    myr_buf_printf(&end->told, "%s\n", head->type == MYR_WIRE_SCHEMA ? "" : ".");
}

/* Each side apart: which of two hears of something first is chance. */
static void look(const char *what)
{
    char text[4096];
    ssize_t got;
    for (uint32_t i = 0; i <= AGENTS; i++) {
        struct end *end = i == 0 ? &controller : &agents[i - 1];
        if (end->told.len) {
            put_text(end->told.data);
            myr_buf_clear(&end->told);
        }
    }
    while ((got = pread(said_fd, text, sizeof(text) - 1, said_at)) > 0) {
        text[got] = '\0';
        said_at += got;
        put_text(text);
    }
    myr_buf_printf(&story, "%s: %u lines, up %llu, down %llu, beats %llu, failures %u%s%s%s\n",
                   what, relay->line_count, (unsigned long long)relay->count.frames_up,
                   (unsigned long long)relay->count.frames_down,
                   (unsigned long long)relay->count.beats, relay->failures,
                   relay->up ? ", connected" : "", relay->welcomed ? ", welcome" : "",
                   relay->paused ? ", paused" : "");
    if (uv_is_active((uv_handle_t *)&relay->retry)) {
        myr_buf_printf(&story, "  again after %llu ms\n",
                       (unsigned long long)(relay->retry.timeout - uv_now(&relay->loop)));
    }
}

/* --- ends */

static void on_open(void *context, struct myr_io_stream *stream)
{
    assert_true(context && stream);
}

static void on_data(void *context, struct myr_io_stream *stream, struct myr_str bytes)
{
    struct end *end = context;
    struct myr_wire_head head;
    struct myr_str payload;
    size_t at = 0;
    if (stream != end->stream) {
        return;
    }
    myr_buf_put(&end->bytes, bytes.data, bytes.len);
    while (frame_next(&end->bytes, &at, &head, &payload, NULL) > 0) {
        put_frame(end, &head, payload);
    }
    frames_read(&end->bytes, &at);
}

static void on_closed(void *context, struct myr_io_stream *stream, const struct myr_err *why)
{
    struct end *end = context;
    (void)why;
    if (stream == end->stream) {
        end->stream = NULL;
        end->closed++;
        read_anew(end, false);
        myr_buf_done(&end->bytes);
        myr_buf_printf(&end->told, "  %s: closed\n", end->name);
    }
}

static const struct myr_io_calls calls = {on_open, on_data, on_closed};

static void *on_accept(void *context, struct myr_io_stream *stream)
{
    struct end *end = context;
    accepted++;
    end->stream = stream;
    end->sequence = 0;
    read_anew(end, true);
    myr_wire_sender_init(&end->sender);
    return end;
}

static void say_as(struct end *end, enum myr_wire_type type, uint32_t node, const void *message)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_wire_sender fresh; /* each channel has a sender of its own */
    bool channel = end == &controller && node != MYR_WIRE_NO_NODE;
    myr_wire_sender_init(&fresh);
    myr_wire_send(channel ? &fresh : &end->sender, &bytes, type, node, 3, ++end->sequence, message);
    myr_io_write(end->stream, (struct myr_str){bytes.data, bytes.len});
}

static uint64_t happened(void)
{
    uint64_t count = controller.frames + controller.closed + accepted;
    for (uint32_t i = 0; i < AGENTS; i++) {
        count += agents[i].frames + agents[i].closed;
    }
    return count;
}

static void turn(void)
{
    for (uint32_t i = 0; i < 10; i++) {
        (void)uv_run(&relay->loop, UV_RUN_NOWAIT);
    }
}

/* Turns until nothing comes for a while. */
static void settle(void)
{
    for (uint32_t quiet = 0, turns = 0; quiet < QUIET && turns < PATIENCE; turns++) {
        uint64_t before = happened();
        turn();
        quiet = before == happened() ? quiet + 1 : 0;
        usleep(200);
    }
}

static void later(int64_t ms, void (*look_at)(struct relay *relay))
{
    clock_ns += ms * 1000000;
    look_at(relay);
    settle();
}

static void seconds(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        clock_ns += 1000000000;
        settle();
        above_second(relay);
        below_second(relay);
        settle();
    }
}

/* Until the wait before the next try is over. */
static void pass_retry(void)
{
    assert_true(uv_is_active((uv_handle_t *)&relay->retry));
    uv_update_time(&relay->loop);
    uint64_t now = uv_now(&relay->loop), due = relay->retry.timeout;
    clock_ns += (int64_t)(due > now ? due - now : 0) * 1000000;
    settle();
}

static void comes(uint32_t number)
{
    static const char *const names[AGENTS] = {"agent-0", "agent-1", "agent-2",
                                              "agent-3", "agent-4", "agent-5"};
    struct end *end = &agents[number];
    struct myr_err err = {};
    read_anew(end, false);
    *end = (struct end){.name = names[number], .bytes = end->bytes, .told = end->told};
    read_anew(end, true);
    myr_wire_sender_init(&end->sender);
    assert_int_equal(myr_io_connect(&relay->loop, "127.0.0.1", myr_io_port(relay->listener), NULL,
                                    &calls, end, &end->stream, &err),
                     MYR_OK);
    settle();
}

static void says_hello(uint32_t number)
{
    struct myr_wire_hello hello = {
        .name = myr_str_from(agents[number].name), .version_min = 1, .boot = 77};
    say_as(&agents[number], MYR_WIRE_HELLO, MYR_WIRE_NO_NODE, &hello);
    settle();
}

static void controller_listens(void)
{
    const struct myr_io_service service = {
        .calls = calls, .accept = on_accept, .context = &controller, .streams_max = 4};
    struct myr_err err = {};
    assert_int_equal(
        myr_io_listen(&relay->loop, "127.0.0.1", port, NULL, &service, &listener, &err), MYR_OK);
    port = myr_io_port(listener);
}

static void controller_welcomes(uint32_t channel, uint32_t node, uint32_t beat_ms)
{
    struct myr_wire_welcome welcome = {.node = node, .boot = 2, .beat_ms = beat_ms};
    say_as(&controller, MYR_WIRE_WELCOME, channel, &welcome);
    settle();
}

/* --- lives */

static void nobody_above(void)
{
    controller_listens();
    myr_io_listener_close(listener);
    settle();
    snprintf(relay->servers.host, sizeof(relay->servers.host), "127.0.0.1");
    relay->servers.port = port;
    above_choose(relay, 0);
    above_start(relay);
    settle();
    for (uint32_t i = 0; i < 6; i++) {
        look("nobody above");
        pass_retry();
    }
    comes(0);
    says_hello(0);
    comes(1);
    static char bulk[70000];
    myr_io_write(agents[1].stream, (struct myr_str){bulk, 64 << 10}); /* as much as may be */
    settle();
    look("two agents wait");
    myr_io_write(agents[1].stream, (struct myr_str){bulk, 1});
    settle();
    look("one of them said too much");
    controller_listens();
    pass_retry();
    look("somebody above");
}

static void a_cluster(void)
{
    controller_welcomes(MYR_WIRE_NO_NODE, 0, 0);
    look("the relay is welcome");
    controller_welcomes(0, 41, 1000);
    look("the agent is");
    struct myr_wire_beat beat = {.time_ns = 5};
    struct myr_wire_result result = {.job = 9, .code = 0};
    say_as(&agents[0], MYR_WIRE_BEAT, 41, &beat);
    say_as(&agents[0], MYR_WIRE_STARTED, 41, &result);
    settle();
    look("a beat stays, a word passes");
    comes(1);
    says_hello(1);
    say_as(&agents[1], MYR_WIRE_BEAT, MYR_WIRE_NO_NODE, &beat);
    settle();
    look("another one, whose beats pass before its welcome");
    controller_welcomes(1, 42, 1000);
    struct myr_wire_stop stop = {.job = 9, .grace_s = 3};
    say_as(&controller, MYR_WIRE_STOP, 0, &stop);
    say_as(&controller, MYR_WIRE_STOP, 1, &stop);
    say_as(&controller, MYR_WIRE_STOP, 2, &stop); /* nobody's */
    say_as(&controller, MYR_WIRE_STOP, 65536, &stop);
    settle();
    look("orders");
    for (uint32_t i = 0; i < 6; i++) {
        say_as(&controller, MYR_WIRE_LEASE, MYR_WIRE_NO_NODE, &beat);
        settle();
    }
    look("six leases: one in five is an agent's");
}

static void silence(void)
{
    struct myr_wire_beat beat = {.time_ns = 5};
    seconds(3);
    look("three seconds");
    later(250, below_second);
    look("and a quarter");
    later(1, below_second);
    look("a moment more: both are silent");
    seconds(1);
    look("which is said once");
    say_as(&agents[0], MYR_WIRE_BEAT, 41, &beat);
    settle();
    look("one is back");
    comes(2);
    says_hello(2);
    comes(3);
    for (uint32_t i = 0; i < 15; i++) {
        say_as(&controller, MYR_WIRE_LEASE, MYR_WIRE_NO_NODE, &beat);
        say_as(&agents[0], MYR_WIRE_BEAT, 41, &beat);
        seconds(2);
    }
    look("thirty seconds: two were never welcome");
    say_as(&controller, MYR_WIRE_LEASE, MYR_WIRE_NO_NODE, &beat);
    seconds(1);
    look("and are dropped");
}

static void too_many(void)
{
    struct myr_wire_result result = {.job = 9};
    comes(2);
    says_hello(2);
    controller_welcomes(65536 + 3, 43, 1000); /* the place that was left last */
    look("a channel is given again, and is another");
    comes(3);
    comes(4);
    comes(5);
    look("five are enough");
    controller.quiet = true;
    clock_ns += 1000000000;
    for (uint32_t i = 0; i < 1999; i++) { /* and a schema */
        say_as(&agents[2], MYR_WIRE_STARTED, 43, &result);
    }
    settle();
    controller.quiet = false;
    look("two thousand in a second");
    say_as(&agents[2], MYR_WIRE_STARTED, 43, &result);
    settle();
    look("one more");
    struct myr_wire_detach detach = {65536 + 2};
    say_as(&controller, MYR_WIRE_DETACH, MYR_WIRE_NO_NODE, &detach);
    detach.channel = 3;
    say_as(&controller, MYR_WIRE_DETACH, MYR_WIRE_NO_NODE, &detach);
    settle();
    look("one is sent away");
    myr_io_write(agents[4].stream, MYR_STR("nonsense, nonsense, nonsense, nonsense\n"));
    settle();
    look("one says nonsense");
}

static void the_controller_goes(void)
{
    struct myr_wire_result result = {.job = 9};
    struct myr_wire_beat beat = {.time_ns = 5};
    comes(5);
    says_hello(5);
    myr_io_close(controller.stream);
    settle();
    look("the controller goes: who was welcome waits");
    say_as(&agents[0], MYR_WIRE_STOPPED, 41, &result);
    settle();
    myr_io_write(agents[1].stream, MYR_STR("nonsense, nonsense, nonsense, nonsense\n"));
    settle();
    look("what is said meanwhile is said again later, and nonsense is nonsense");
    pass_retry();
    controller_welcomes(MYR_WIRE_NO_NODE, 0, 500);
    look("it is back: the agent is introduced");
    say_as(&agents[0], MYR_WIRE_BEAT, 41, &beat);
    settle();
    look("its beats stay");
    seconds(13);
    look("thirteen seconds without a word from above");
    seconds(2);
    look("fifteen");
    later(1, above_second);
    look("a moment more");
    pass_retry();
    seconds(15);
    look("connected, and fifteen without a welcome");
    later(1, above_second);
    look("and no more");
    pass_retry();
    struct myr_wire_refused refused = {.code = 2, .text = MYR_STR("not of this cluster")};
    say_as(&controller, MYR_WIRE_REFUSED, MYR_WIRE_NO_NODE, &refused);
    myr_io_write(controller.stream, MYR_STR("MY")); /* a frame begins, and never ends */
    settle();
    myr_io_close(controller.stream);
    settle();
    look("refused: not at once again");
    pass_retry();
    myr_io_write(controller.stream, MYR_STR("nonsense, nonsense, nonsense, nonsense\n"));
    settle();
    look("nonsense from above");
    pass_retry();
    controller_welcomes(MYR_WIRE_NO_NODE, 0, 1000);
    controller_welcomes(2 * 65536, 41, 1000);
    look("all is well");
}

/* A controller that reads nothing: agents are read no more, and then again. */
static void one_that_does_not_read(void)
{
    static char text[60000];
    memset(text, 'z', sizeof(text));
    struct myr_wire_output output = {.job = 1, .data = {text, sizeof(text)}};
    myr_io_pause(controller.stream, true);
    for (uint32_t i = 0; i < 400 && !relay->paused; i++) {
        say_as(&agents[0], MYR_WIRE_OUTPUT, 41, &output);
        clock_ns += 20000000;
        turn();
    }
    assert_true(relay->paused);
    assert_in_range(myr_io_pending(relay->up), (8 << 20) + 1, 9 << 20);
    controller.quiet = true;
    myr_io_pause(controller.stream, false);
    for (uint32_t i = 0; i < PATIENCE && relay->paused; i++) {
        clock_ns += 20000000;
        (void)uv_run(&relay->loop, UV_RUN_NOWAIT);
    }
    assert_false(relay->paused);
    assert_true(myr_io_pending(relay->up) < 1 << 20);
}

/* An agent that reads nothing is dropped, and not a byte before its limit. */
static void an_agent_that_does_not_read(void)
{
    static char bulk[60000], said[4096];
    struct myr_wire_output output = {.job = 1, .data = {bulk, sizeof(bulk)}};
    struct line *line = relay->lines;
    uint32_t channel = line->channel;
    myr_io_pause(agents[0].stream, true);
    for (uint32_t i = 0; i < 1000 && (line = below_find(relay, channel)) && !line->over; i++) {
        assert_true(myr_io_pending(line->stream) <= 8 << 20);
        say_as(&controller, MYR_WIRE_OUTPUT, channel, &output);
        turn();
    }
    assert_true(!line || line->over);
    myr_io_abort(agents[0].stream); /* it would never see the end */
    settle();
    assert_int_equal(relay->line_count, 0);
    assert_true(pread(said_fd, said, sizeof(said) - 1, said_at) > 0);
    assert_non_null(strstr(said, " takes nothing any more\n"));
}

static void a_relay(void **state)
{
    (void)state;
    struct myr_err err = {};
    said_fd = mkstemp(said_path);
    int kept = dup(STDERR_FILENO);
    assert_true(said_fd >= 0 && kept >= 0 && dup2(said_fd, STDERR_FILENO) >= 0);
    relay = myr_xcalloc(1, sizeof(*relay));
    relay->settings = &settings;
    assert_int_equal(uv_loop_init(&relay->loop), 0);
    assert_int_equal(below_listen(relay, "127.0.0.1", 0, &err), MYR_OK);
    nobody_above();
    a_cluster();
    silence();
    too_many();
    the_controller_goes();
    one_that_does_not_read();
    an_agent_that_does_not_read();
    relay->ending = true;
    myr_io_listener_close(relay->listener);
    myr_io_listener_close(listener);
    above_end(relay);
    for (struct line *line = relay->lines; line; line = line->next) {
        below_close(line);
    }
    for (uint32_t i = 0; i < PATIENCE && uv_loop_alive(&relay->loop); i++) {
        clock_ns += 20000000;
        (void)uv_run(&relay->loop, UV_RUN_NOWAIT);
        usleep(100);
    }
    assert_int_equal(uv_loop_close(&relay->loop), 0);
    assert_int_equal(relay->line_count, 0);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(said_fd);
    (void)unlink(said_path);
    myr_vec_done(&relay->places);
    myr_vec_done(&relay->free_places);
    free(relay);
    for (uint32_t i = 0; i <= AGENTS; i++) {
        struct end *end = i == 0 ? &controller : &agents[i - 1];
        myr_buf_done(&end->told);
        myr_buf_done(&end->bytes);
        read_anew(end, false);
    }
    assert_kept("agent-relay.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_relay),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
