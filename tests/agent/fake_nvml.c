/*
 * A management library that pretends: eight GPUs with eighteen links each. MYRIAD_FAKE_NVML names a
 * file with lines that change what it says: "gpus 7", "mute 3" (a GPU that is counted and does not
 * answer), "down 2 17" (a link), "errors 2 17 5" (on a link; one more of each further kind), "xid 4
 * 79" (an event).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, BAD_ARGUMENT = 2, NOT_FOUND = 6, TIMED_OUT = 10, GPU_LOST = 15, LINKS = 18 };

struct pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct memory {
    unsigned long long total, free, used;
};

struct event {
    void *device;
    unsigned long long type, data;
    unsigned instance, compute;
};

static char devices[64];
static unsigned told; /* events of the file that were handed out */

/* The last line with these words: its last number, or 'other'. */
static unsigned ask(const char *words, unsigned other)
{
    char line[128];
    unsigned found = other;
    const char *path = getenv("MYRIAD_FAKE_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    while (file && fgets(line, sizeof(line), file)) {
        size_t len = strlen(words);
        if (strncmp(line, words, len) == 0 && (line[len] == ' ' || line[len] == '\n')) {
            const char *last = strrchr(line, ' ');
            found = (unsigned)strtoul(last ? last : "", NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static unsigned index_of(const void *device)
{
    return (unsigned)((const char *)device - devices);
}

static int is_mute(unsigned index)
{
    char words[32];
    snprintf(words, sizeof(words), "mute %u", index);
    return ask(words, 1000) != 1000;
}

#define API __attribute__((visibility("default")))

API int nvmlInit_v2(void);
API int nvmlShutdown(void);
API int nvmlSystemGetDriverVersion(char *text, unsigned length);
API int nvmlDeviceGetCount_v2(unsigned *count);
API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
API int nvmlDeviceGetName(void *device, char *text, unsigned length);
API int nvmlDeviceGetUUID(void *device, char *text, unsigned length);
API int nvmlDeviceGetSerial(void *device, char *text, unsigned length);
API int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
API int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci);
API int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *active);
API int nvmlDeviceGetNvLinkErrorCounter(void *device, unsigned link, unsigned counter,
                                        unsigned long long *value);
API int nvmlDeviceGetIndex(void *device, unsigned *index);
API int nvmlEventSetCreate(void **set);
API int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
API int nvmlEventSetWait_v2(void *set, struct event *event, unsigned timeout_ms);

int nvmlInit_v2(void)
{
    return OK;
}

int nvmlShutdown(void)
{
    return OK;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
    snprintf(text, length, "999.1");
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = ask("gpus", 8);
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index >= ask("gpus", 8)) {
        return BAD_ARGUMENT;
    }
    if (is_mute(index)) {
        return GPU_LOST;
    }
    *device = &devices[index];
    return OK;
}

int nvmlDeviceGetIndex(void *device, unsigned *index)
{
    *index = index_of(device);
    return OK;
}

int nvmlDeviceGetName(void *device, char *text, unsigned length)
{
    (void)device;
    snprintf(text, length, "Pretended GPU");
    return OK;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned length)
{
    snprintf(text, length, "GPU-00000000-0000-0000-0000-%012u", index_of(device));
    return OK;
}

int nvmlDeviceGetSerial(void *device, char *text, unsigned length)
{
    snprintf(text, length, "serial-%u", index_of(device));
    return OK;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
    (void)device;
    *memory = (struct memory){80ULL << 30, 79ULL << 30, 1ULL << 30};
    return OK;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
    *pci = (struct pci){.bus = 16 + index_of(device)};
    snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
    return OK;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *active)
{
    char words[64];
    if (link >= LINKS) {
        return BAD_ARGUMENT;
    }
    snprintf(words, sizeof(words), "down %u %u", index_of(device), link);
    *active = ask(words, 1000) == 1000;
    return OK;
}

int nvmlDeviceGetNvLinkErrorCounter(void *device, unsigned link, unsigned counter,
                                    unsigned long long *value)
{
    char words[64];
    snprintf(words, sizeof(words), "errors %u %u", index_of(device), link);
    unsigned errors = ask(words, 0);
    *value = errors ? errors + counter : 0;
    return OK;
}

int nvmlEventSetCreate(void **set)
{
    *set = devices;
    return OK;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
    (void)device;
    (void)types;
    (void)set;
    return OK;
}

int nvmlEventSetWait_v2(void *set, struct event *event, unsigned timeout_ms)
{
    char line[128];
    unsigned seen = 0;
    const char *path = getenv("MYRIAD_FAKE_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    (void)set;
    usleep(timeout_ms < 50 ? timeout_ms * 1000 : 50000); /* tests do not wait for long */
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "xid ", 4) == 0 && seen++ == told) {
            char *rest;
            unsigned long index = strtoul(line + 4, &rest, 10);
            *event = (struct event){&devices[index & 63], 8, strtoul(rest, NULL, 10), 0, 0};
            told++;
            fclose(file);
            return OK;
        }
    }
    if (file) {
        fclose(file);
    }
    return TIMED_OUT;
}
