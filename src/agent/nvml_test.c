/*
 * What a node says of its GPUs where each call of the driver's library fails, or is not there; and
 * what is heard of their errors (tests/kept/agent-nvml.txt).
 */
#include "nvml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kept.h"

static struct myr_buf story;
static const char *fails; /* the call that does */
static unsigned gpus = 2, shutdowns;
static char devices[80];

static int rc_of(const char *call)
{
    return fails && strcmp(fails, call) == 0 ? 15 : 0;
}

static unsigned index_of(const void *device)
{
    unsigned index = (unsigned)((const char *)device - devices);
    assert_true(index < sizeof(devices));
    return index;
}

static int on_shutdown(void)
{
    shutdowns++;
    return 0;
}

static int on_driver(char *version, unsigned length)
{
    snprintf(version, length, "570.1");
    return rc_of("driver");
}

static int on_count(unsigned *count)
{
    *count = gpus;
    return rc_of("count");
}

static int on_device(unsigned index, void **device)
{
    *device = &devices[index];
    return index == 1 ? rc_of("device") : 0;
}

static int on_name(void *device, char *name, unsigned length)
{
    assert_int_equal(length, 96);
    snprintf(name, length, "H%u", 100 + index_of(device));
    return rc_of("name");
}

static int on_uuid(void *device, char *uuid, unsigned length)
{
    assert_int_equal(length, 96);
    snprintf(uuid, length, "GPU-%u", index_of(device));
    return rc_of("uuid");
}

static int on_serial(void *device, char *serial, unsigned length)
{
    assert_int_equal(length, 96);
    snprintf(serial, length, "S-%u", index_of(device));
    return rc_of("serial");
}

static int on_memory(void *device, struct nvml_memory *memory)
{
    *memory = (struct nvml_memory){1000 + index_of(device), 2, 3};
    return rc_of("memory");
}

static int on_pci(void *device, struct nvml_pci *pci)
{
    memset(pci->bus_id, 'x', sizeof(pci->bus_id)); /* without an end */
    memcpy(pci->bus_id, "0000:", 5);
    pci->bus_id[5] = (char)('0' + index_of(device));
    return rc_of("pci");
}

/* Links 0, 5 and 17 of each. */
static int on_link_state(void *device, unsigned link, unsigned *active)
{
    assert_true(link < 18);
    *active = link == 5 ? 0 : link == 17 ? 2 : 1;
    (void)index_of(device);
    return link == 0 || link == 5 || link == 17 ? rc_of("link_state") : 3;
}

static int on_link_errors(void *device, unsigned link, unsigned counter, unsigned long long *value)
{
    assert_true(counter < 4);
    *value = 1000 * (index_of(device) + 1) + 10 * link + counter;
    return counter == 2 ? rc_of("link_errors") : 0;
}

static int on_index(void *device, unsigned *index)
{
    *index = index_of(device) + 40;
    return index_of(device) == 7 ? 6 : 0;
}

static int on_events(void **set)
{
    *set = &story;
    return rc_of("events");
}

static unsigned registered;

static int on_register(void *device, unsigned long long types, void *set)
{
    assert_ptr_equal(set, &story);
    assert_int_equal(types, 8);
    registered |= 1U << index_of(device);
    return index_of(device) == 0 ? rc_of("register") : 0;
}

/* Nothing for a while, what is no error of ours, one that nobody knows, two, and then the end. */
static int on_wait(void *set, struct nvml_event *event, unsigned timeout_ms)
{
    static unsigned at;
    static const struct {
        int rc;
        unsigned device;
        unsigned long long type, data;
    } all[] = {{10, 0, 8, 1}, {0, 0, 4, 2},  {0, 7, 8, 3},
               {0, 1, 8, 79}, {10, 0, 0, 0}, {0, 0, 8, 18446744073709551615ULL},
               {999, 0, 8, 5}};
    assert_ptr_equal(set, &story);
    assert_int_equal(timeout_ms, 60000);
    unsigned now = at;
    at = (at + 1) % MYR_ARRAY_COUNT(all);
    *event = (struct nvml_event){&devices[all[now].device], all[now].type, all[now].data, 0, 0};
    return all[now].rc;
}

static const struct nvml whole = {NULL,      on_shutdown, on_driver,     on_count,
                                  on_device, on_name,     on_uuid,       on_serial,
                                  on_memory, on_pci,      on_link_state, on_index,
                                  on_events, on_register, on_wait,       on_link_errors};

static void put_answer(const char *what, const struct nvml *nvml, const char *why, bool facts)
{
    struct myr_arena arena;
    struct myr_answer answer;
    struct myr_answer_form form = {.format = facts ? MYR_FORMAT_TABLE : MYR_FORMAT_JSON};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "test", 1);
    shutdowns = 0;
    nvml_tell(nvml, why, &answer);
    assert_int_equal(myr_answer_write(&answer, &form, &text, &err), MYR_OK);
    if (facts) { /* the GPUs are its rows */
        form.format = MYR_FORMAT_CSV;
        assert_int_equal(myr_answer_write(&answer, &form, &text, &err), MYR_OK);
    }
    myr_buf_printf(&story, "%s, ended %u times\n", what, shutdowns);
    for (const char *c = text.data; *c; c++) {
        bool left_out = !facts && (*c == '\n' || (*c == ' ' && c[1] == ' '));
        if (!left_out && !(!facts && *c == ' ' && c > text.data && c[-1] == ' ')) {
            myr_buf_putc(&story, *c);
        }
    }
    myr_buf_puts(&story, facts ? "" : "\n");
    myr_arena_done(&arena);
}

static void what_is_told(void **state)
{
    static const char *const calls[] = {"driver", "count",  "device", "name",       "uuid",
                                        "serial", "memory", "pci",    "link_state", "link_errors"};
    (void)state;
    put_answer("as it should be", &whole, NULL, false);
    put_answer("for people", &whole, NULL, true);
    put_answer("without a library", &(struct nvml){}, "no library", false);
    put_answer("for people, without a library", &(struct nvml){}, "no library", true);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(calls); i++) {
        char what[64];
        snprintf(what, sizeof(what), "%s fails", calls[i]);
        fails = calls[i];
        put_answer(what, &whole, NULL, false);
    }
    fails = NULL;
    struct nvml older = whole;
    older.driver = NULL;
    older.serial = NULL;
    older.memory = NULL;
    older.pci = NULL;
    older.link_errors = NULL;
    put_answer("an older one", &older, NULL, false);
    older.link_state = NULL;
    put_answer("a still older one", &older, NULL, false);
    gpus = 66;
    put_answer("66 GPUs, of which 64 can be named", &older, NULL, true);
    gpus = 2;
}

static void listen_to(const char *what, const struct nvml *nvml, bool heard)
{
    int pipes[2];
    char text[200];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    registered = 0;
    int full = heard ? pipes[1] : open("/dev/full", O_WRONLY | O_CLOEXEC);
    int rc = nvml_listen(nvml, full);
    if (!heard) {
        close(full);
    }
    close(pipes[1]);
    ssize_t got = read(pipes[0], text, sizeof(text) - 1);
    text[got > 0 ? got : 0] = '\0';
    close(pipes[0]);
    for (char *c = text; *c; c++) {
        *c = *c == '\n' ? ';' : *c;
    }
    myr_buf_printf(&story, "%s: ends with %d, GPUs %x, '%s'\n", what, rc, registered, text);
}

static void what_is_heard(void **state)
{
    (void)state;
    listen_to("as it should be", &whole, true);
    static const char *const calls[] = {"events", "count", "device", "register"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(calls); i++) {
        fails = calls[i];
        listen_to(calls[i], &whole, true);
    }
    gpus = 1;
    listen_to("none can be watched", &whole, true);
    gpus = 0;
    fails = NULL;
    listen_to("there is none", &whole, true);
    gpus = 2;
    struct nvml less = whole;
    less.index = NULL;
    listen_to("no index", &less, true);
    less = whole;
    less.events = NULL;
    listen_to("no events", &less, true);
    less = whole;
    less.register_events = NULL;
    listen_to("no registering", &less, true);
    less = whole;
    less.wait_event = NULL;
    listen_to("no waiting", &less, true);
    listen_to("nobody reads", &whole, false);
    assert_kept("agent-nvml.txt", &story);
    myr_buf_done(&story);
}

/* --- what a library has to have */

static const char *missing;
static int init_rc;

static int on_init(void)
{
    return init_rc;
}

/* Each has an address of its own, which nobody calls but for the first. */
static void *find_symbol(void *library, const char *symbol)
{
    static char places[16][64];
    int (*init)(void) = on_init;
    void *found = NULL;
    assert_ptr_equal(library, devices);
    if (missing && strcmp(symbol, missing) == 0) {
        return NULL;
    }
    if (strcmp(symbol, "nvmlInit_v2") == 0) {
        memcpy(&found, &init, sizeof(found));
        return found;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(places); i++) {
        if (!places[i][0]) {
            snprintf(places[i], sizeof(places[i]), "%s", symbol);
        }
        if (strcmp(places[i], symbol) == 0) {
            return places[i];
        }
    }
    return NULL;
}

#define PLACE(name) offsetof(struct nvml, name)

static void a_library_has_what_is_needed(void **state)
{
    static const struct {
        const char *symbol;
        size_t at;
        bool needed;
    } all[] = {
        {"nvmlShutdown", PLACE(shutdown), true},
        {"nvmlDeviceGetCount_v2", PLACE(count), true},
        {"nvmlDeviceGetHandleByIndex_v2", PLACE(device), true},
        {"nvmlDeviceGetName", PLACE(name), true},
        {"nvmlDeviceGetUUID", PLACE(uuid), true},
        {"nvmlSystemGetDriverVersion", PLACE(driver), false},
        {"nvmlDeviceGetSerial", PLACE(serial), false},
        {"nvmlDeviceGetMemoryInfo", PLACE(memory), false},
        {"nvmlDeviceGetPciInfo_v3", PLACE(pci), false},
        {"nvmlDeviceGetNvLinkState", PLACE(link_state), false},
        {"nvmlDeviceGetIndex", PLACE(index), false},
        {"nvmlEventSetCreate", PLACE(events), false},
        {"nvmlDeviceRegisterEvents", PLACE(register_events), false},
        {"nvmlEventSetWait_v2", PLACE(wait_event), false},
        {"nvmlDeviceGetNvLinkErrorCounter", PLACE(link_errors), false},
    };
    struct nvml nvml = {};
    const char *symbol;
    (void)state;
    assert_string_equal(nvml_load(&nvml, NULL, find_symbol), "no NVML library here");
    for (size_t i = 0; i <= MYR_ARRAY_COUNT(all); i++) {
        missing = i < MYR_ARRAY_COUNT(all) ? all[i].symbol : NULL;
        memset(&nvml, 0x5A, sizeof(nvml));
        const char *why = nvml_load(&nvml, devices, find_symbol);
        if (missing && all[i].needed) {
            assert_string_equal(why, "the NVML library is of another kind");
            continue;
        }
        assert_null(why);
        for (size_t k = 0; k < MYR_ARRAY_COUNT(all); k++) {
            memcpy(&symbol, (const char *)&nvml + all[k].at, sizeof(symbol));
            if (k == i) {
                assert_null(symbol);
            } else {
                assert_string_equal(symbol, all[k].symbol);
            }
        }
    }
    missing = "nvmlInit_v2";
    assert_string_equal(nvml_load(&nvml, devices, find_symbol),
                        "the NVML library is of another kind");
    missing = NULL;
    init_rc = 9;
    assert_string_equal(nvml_load(&nvml, devices, find_symbol), "NVML finds no driver");
    init_rc = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_has_what_is_needed),
        cmocka_unit_test(what_is_told),
        cmocka_unit_test(what_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
