/*
 * nvml: GPUs as NVIDIA's library sees them, and the errors that their driver reports. The library
 * is loaded by name and never linked: the same program runs on nodes without a driver.
 */
#include "nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "myriad/text.h"

/* The few things of the library's interface that are used here; their shapes are fixed by it. */
enum {
    NVML_OK = 0,
    NVML_TIMEOUT = 10,
    NVML_EVENT_XID = 8,
    NVML_WAIT_MS = 60000,
    NVML_NAME_BYTES = 96,
    NVML_LINKS = 18
};

static const struct {
    const char *symbol;
    size_t at;
    bool needed;
} symbols[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init), true},
    {"nvmlShutdown", offsetof(struct nvml, shutdown), true},
    {"nvmlSystemGetDriverVersion", offsetof(struct nvml, driver), false},
    {"nvmlDeviceGetCount_v2", offsetof(struct nvml, count), true},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, device), true},
    {"nvmlDeviceGetName", offsetof(struct nvml, name), true},
    {"nvmlDeviceGetUUID", offsetof(struct nvml, uuid), true},
    {"nvmlDeviceGetSerial", offsetof(struct nvml, serial), false},
    {"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory), false},
    {"nvmlDeviceGetPciInfo_v3", offsetof(struct nvml, pci), false},
    {"nvmlDeviceGetNvLinkState", offsetof(struct nvml, link_state), false},
    {"nvmlDeviceGetIndex", offsetof(struct nvml, index), false},
    {"nvmlEventSetCreate", offsetof(struct nvml, events), false},
    {"nvmlDeviceRegisterEvents", offsetof(struct nvml, register_events), false},
    {"nvmlEventSetWait_v2", offsetof(struct nvml, wait_event), false},
    {"nvmlDeviceGetNvLinkErrorCounter", offsetof(struct nvml, link_errors), false},
};

/* What is missing, or NULL. */
const char *nvml_load(struct nvml *nvml, void *library,
                      void *(*find)(void *library, const char *symbol))
{
    if (!library) {
        return "no NVML library here";
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(symbols); i++) {
        void *found = find(library, symbols[i].symbol);
        if (!found && symbols[i].needed) {
            return "the NVML library is of another kind";
        }
        /* A function's address as bytes: C does not convert it from a void pointer. */
        memcpy((char *)nvml + symbols[i].at, &found, sizeof(found));
    }
    return nvml->init() == NVML_OK ? NULL : "NVML finds no driver";
}

/* As nvml_load(), from where the variable says or the system has it. */
static const char *load(struct nvml *nvml)
{
    const char *path = getenv("MYRIAD_AGENT_NVML");
    return nvml_load(
        nvml, dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), dlsym);
}

/* Links that this GPU does not have answer with an error and are left out. */
static void put_links(struct myr_answer *answer, const struct nvml *nvml, void *device)
{
    myr_answer_list(answer, "nvlinks");
    for (unsigned link = 0; nvml->link_state && link < NVML_LINKS; link++) {
        unsigned active = 0;
        if (nvml->link_state(device, link, &active) != NVML_OK) {
            continue;
        }
        /* In the order of the library's counters; one that it does not keep counts as 0. */
        unsigned long long errors[4] = {};
        for (unsigned i = 0; nvml->link_errors && i < MYR_ARRAY_COUNT(errors); i++) {
            if (nvml->link_errors(device, link, i, &errors[i]) != NVML_OK) {
                errors[i] = 0;
            }
        }
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "link", link);
        myr_answer_bool(answer, "up", active == 1);
        myr_answer_u64(answer, "replay_errors", errors[0]);
        myr_answer_u64(answer, "recovery_errors", errors[1]);
        myr_answer_u64(answer, "crc_flit_errors", errors[2]);
        myr_answer_u64(answer, "crc_data_errors", errors[3]);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* Every key is there, null where the GPU does not say: a broken one is counted too. */
static void put_gpu(struct myr_answer *answer, const struct nvml *nvml, unsigned index)
{
    char text[NVML_NAME_BYTES] = "";
    struct nvml_memory memory = {};
    struct nvml_pci pci = {};
    void *device = NULL;
    myr_answer_object(answer, NULL);
    myr_answer_u64(answer, "index", index);
    bool good = nvml->device(index, &device) == NVML_OK;
    bool known = good && nvml->name(device, text, sizeof(text)) == NVML_OK;
    myr_answer_text(answer, "name", known ? text : NULL);
    known = good && nvml->uuid(device, text, sizeof(text)) == NVML_OK;
    myr_answer_text(answer, "uuid", known ? text : NULL);
    known = good && nvml->serial && nvml->serial(device, text, sizeof(text)) == NVML_OK;
    myr_answer_text(answer, "serial", known ? text : NULL);
    known = good && nvml->memory && nvml->memory(device, &memory) == NVML_OK;
    myr_answer_u64(answer, "memory_bytes", known ? memory.total : 0);
    known = good && nvml->pci && nvml->pci(device, &pci) == NVML_OK;
    /* From a library that somebody else wrote: it is ended here whatever it holds. */
    pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
    myr_answer_text(answer, "pci", known ? pci.bus_id : NULL);
    if (good) {
        put_links(answer, nvml, device);
    } else {
        myr_answer_null(answer, "nvlinks"); /* it is counted, and does not answer */
    }
    myr_answer_end(answer);
}

/* What is missing, or NULL; then it was begun, and is ended here. */
void nvml_tell(const struct nvml *nvml, const char *why, struct myr_answer *answer)
{
    static const struct myr_answer_column columns[] = {
        {.key = "index", .title = "GPU"},   {.key = "name", .title = "KIND"},
        {.key = "uuid", .title = "UUID"},   {.key = "memory_bytes", .title = "MEMORY bytes"},
        {.key = "pci", .title = "ADDRESS"},
    };
    unsigned count = 0;
    char driver[80] = "";
    bool begun = !why;
    if (begun && nvml->count(&count) != NVML_OK) {
        why = "NVML does not say how many GPUs there are";
    }
    if (!why && nvml->driver && nvml->driver(driver, sizeof(driver)) != NVML_OK) {
        driver[0] = '\0';
    }
    myr_answer_text(answer, "driver", driver[0] ? driver : NULL);
    myr_answer_text(answer, "nvml", why ? why : "ok");
    const struct myr_value *gpus = myr_answer_list(answer, "gpus");
    /* An order has a bit for each of 64. */
    for (unsigned i = 0; !why && i < count && i < 64; i++) {
        put_gpu(answer, nvml, i);
    }
    myr_answer_end(answer);
    myr_answer_fact(answer, "GPUs", "%s%s%s", MYR_GROUPED(why ? 0 : count), why ? ": " : "",
                    why ? why : "");
    myr_answer_table(answer, gpus, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, gpus);
    if (begun) {
        (void)nvml->shutdown();
    }
}

/* A node without a driver has no GPUs and a word about why: that is no error. */
void nvml_collect(struct myr_answer *answer)
{
    struct nvml nvml = {};
    const char *why = load(&nvml);
    nvml_tell(&nvml, why, answer);
}

/* How many GPUs will be heard; one that cannot be watched does not keep the others from it. */
static unsigned register_all(const struct nvml *nvml, void *set)
{
    unsigned count = 0;
    unsigned good = 0;
    if (nvml->count(&count) != NVML_OK) {
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        void *device;
        good += nvml->device(i, &device) == NVML_OK &&
                nvml->register_events(device, NVML_EVENT_XID, set) == NVML_OK;
    }
    return good;
}

int nvml_listen(const struct nvml *nvml, int fd)
{
    void *set = NULL;
    if (!nvml->index || !nvml->events || !nvml->register_events || !nvml->wait_event ||
        nvml->events(&set) != NVML_OK || register_all(nvml, set) == 0) {
        return 0;
    }
    for (;;) {
        struct nvml_event event = {};
        int rc = nvml->wait_event(set, &event, NVML_WAIT_MS);
        unsigned index = 0;
        char line[64];
        /* Nothing happened for a minute, which is the rule. */
        if (rc == NVML_TIMEOUT) {
            continue;
        }
        if (rc != NVML_OK) {
            return 3; /* the driver is gone: asked again in a minute */
        }
        if (event.type == NVML_EVENT_XID && nvml->index(event.device, &index) == NVML_OK) {
            int len = snprintf(line, sizeof(line), "xid %u %llu\n", index, event.data);
            if (write(fd, line, (size_t)len) != len) {
                return 0;
            }
        }
    }
}

/* 0 where there is nothing to watch or nobody reads, 3 when the driver is gone. */
int nvml_watch(int fd)
{
    struct nvml nvml = {};
    return load(&nvml) ? 0 : nvml_listen(&nvml, fd);
}
