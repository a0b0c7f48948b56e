/*
 * nvml: the GPUs of this node by NVIDIA's management library, loaded at run time; and its CPUs and
 * PCIe by hwloc.
 */
#pragma once

#include "myriad/text/answer.h"

/* Laid out as nvml.h has it; of its fields only the last is read. */
struct nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_event {
    void *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

/*
 * The calls that are used. Those that nvml.c does not need may be NULL: older libraries lack
 * them.
 */
struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver)(char *version, unsigned length);
    int (*count)(unsigned *count);
    int (*device)(unsigned index, void **device);
    int (*name)(void *device, char *name, unsigned length);
    int (*uuid)(void *device, char *uuid, unsigned length);
    int (*serial)(void *device, char *serial, unsigned length);
    int (*memory)(void *device, struct nvml_memory *memory);
    int (*pci)(void *device, struct nvml_pci *pci);
    int (*link_state)(void *device, unsigned link, unsigned *active);
    int (*index)(void *device, unsigned *index);
    int (*events)(void **set);
    int (*register_events)(void *device, unsigned long long types, void *set);
    int (*wait_event)(void *set, struct nvml_event *event, unsigned timeout_ms);
    int (*link_errors)(void *device, unsigned link, unsigned counter, unsigned long long *value);
};

/*
 * All calls of a library, by their names, and the first of them called; NULL is no library. What is
 * missing, or NULL.
 */
const char *nvml_load(struct nvml *nvml, void *library,
                      void *(*find)(void *library, const char *symbol));
/* What 'why' says is missing, or what the library says. */
void nvml_tell(const struct nvml *nvml, const char *why, struct myr_answer *answer);
/* As nvml_watch(), by a library that is loaded. */
int nvml_listen(const struct nvml *nvml, int fd);

/* The lists 'gpus' (empty where there is no library), 'nvlinks'; 'driver', and 'nvml' with why. */
void nvml_collect(struct myr_answer *answer);
/*
 * Writes a line "xid GPU CODE" to 'fd' for each critical event of the driver, for ever. Returns the
 * exit status when there is nothing to wait for, or nobody reads.
 */
int nvml_watch(int fd);
/* The lists 'numa' and 'pcie'. */
void topology_collect(struct myr_answer *answer);
