/*
 * devices: which GPUs a job must not see, and how the kernel is told so.
 *
 * CUDA_VISIBLE_DEVICES is a request: a program may overwrite it. What the group refuses cannot be
 * opened by anybody in it, and what cannot be opened is not listed by CUDA at all.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/shim.h"

/* The driver's GPUs have this number in every release; its control files have others. */
enum { NVIDIA_MAJOR = 195, BUS_ID_BYTES = 32 };

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The folders are named by bus address, and NVML counts the GPUs in the order of these. */
static uint32_t list_gpus(const char *proc, char ids[DEVICES_MAX][BUS_ID_BYTES])
{
    uint32_t count = 0;
    DIR *dir = opendir(proc);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        size_t len = strlen(entry->d_name);
        /* "0000:17:00.0" */
        if (entry->d_name[0] == '.' || len >= BUS_ID_BYTES) {
            continue;
        }
        if (count == DEVICES_MAX) {
            count = 0; /* more than a bit each can name: nothing is known of them */
            break;
        }
        memcpy(ids[count++], entry->d_name, len + 1);
    }
    if (dir) {
        closedir(dir);
    }
    MYR_ASSERT(count <= DEVICES_MAX);
    qsort(ids, count, BUS_ID_BYTES, compare_ids);
    return count;
}

/* The number of the device file, which need not be in the order of the addresses. */
static bool find_minor(const char *proc, const char *id, uint32_t *ret)
{
    static const char key[] = "Device Minor:";
    char folder[AGENT_PATH_MAX];
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t minor;
    int len = snprintf(folder, sizeof(folder), "%s/%s", proc, id);
    if (len >= (int)sizeof(folder) || file_get(folder, "information", &text, NULL) < 0) {
        return false;
    }
    const char *at = strstr(text.data, key);
    if (!at) {
        return false;
    }
    at += strlen(key);
    at += strspn(at, " \t");
    /* "Device Minor: 0", with blanks or tabs between. */
    struct myr_str word = {at, strcspn(at, " \t\r\n")};
    if (!myr_str_to_u64(word, &minor) || minor >= 1U << 20) {
        return false;
    }
    *ret = (uint32_t)minor;
    return true;
}

/* An order for GPUs that the driver does not have is not guessed at. */
bool devices_of_others(const char *proc, uint64_t gpus, struct device ret[DEVICES_MAX],
                       uint32_t *ret_count)
{
    char ids[DEVICES_MAX][BUS_ID_BYTES];
    uint32_t count = list_gpus(proc, ids);
    *ret_count = 0;
    /* A shift by all 64 bits would be undefined. */
    if (count == 0 || (count < DEVICES_MAX && gpus >> count != 0)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct device device = {.major = NVIDIA_MAJOR};
        if (!find_minor(proc, ids[i], &device.minor)) {
            return false; /* a wrong guess would take a GPU from its owner */
        }
        if (!(gpus >> i & 1)) {
            ret[(*ret_count)++] = device;
        }
    }
    MYR_ASSERT(*ret_count + (uint32_t)__builtin_popcountll(gpus) == count); /* each is somebody's */
    return true;
}

/* --- the filter: a program that the kernel runs when a device is opened or made */

/* Five before the first device, two for each, and two for each of the ends. */
struct code {
    struct bpf_insn insns[9 + 2 * DEVICES_MAX];
    uint32_t count;
};

static void put(struct code *code, struct bpf_insn insn)
{
    MYR_ASSERT(code->count < MYR_ARRAY_COUNT(code->insns));
    code->insns[code->count++] = insn;
}

/* As macros: a register's number is four bits wide, and only a constant is seen to fit. */
#define LOAD(reg, field)                                  \
    ((struct bpf_insn){.code = BPF_LDX | BPF_MEM | BPF_W, \
                       .dst_reg = (reg),                  \
                       .src_reg = BPF_REG_1,              \
                       .off = (int16_t)offsetof(struct bpf_cgroup_dev_ctx, field)})
#define JUMP(op, reg, value, from, to)                    \
    ((struct bpf_insn){.code = BPF_JMP | (op) | BPF_K,    \
                       .dst_reg = (reg),                  \
                       .off = (int16_t)((to) - (from)-1), \
                       .imm = (int32_t)(value)})

/* 1 allows, 0 refuses. */
static void put_end(struct code *code, int32_t value)
{
    put(code, (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = value});
    put(code, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
}

/* Everything is allowed but the character devices of the list. */
static void compose(struct code *code, const struct device *devices, uint32_t count)
{
    /* Instructions before the first device; two each follow, then the two ends. */
    const uint32_t head = 5;
    const uint32_t yes = head + 2 * count;
    const uint32_t no = yes + 2;
    MYR_ASSERT(code->count == 0 && no + 2 <= MYR_ARRAY_COUNT(code->insns));
    put(code, LOAD(BPF_REG_2, access_type));
    put(code, LOAD(BPF_REG_3, major));
    put(code, LOAD(BPF_REG_4, minor));
    /* The upper half says what is wanted of it, the lower one whether it is a block device. */
    put(code, (struct bpf_insn){
                  .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = BPF_REG_2, .imm = 0xFFFF});
    put(code, JUMP(BPF_JNE, BPF_REG_2, BPF_DEVCG_DEV_CHAR, code->count, yes));
    MYR_ASSERT(code->count == head);
    for (uint32_t i = 0; i < count; i++) {
        put(code, JUMP(BPF_JNE, BPF_REG_3, devices[i].major, code->count, code->count + 2));
        put(code, JUMP(BPF_JEQ, BPF_REG_4, devices[i].minor, code->count, no));
    }
    MYR_ASSERT(code->count == yes);
    put_end(code, 1);
    MYR_ASSERT(code->count == no);
    put_end(code, 0);
}

/* The program stays with the group when both descriptors are closed, and goes with it. */
bool device_filter(const char *group, const struct device *devices, uint32_t count)
{
    struct code code = {};
    MYR_ASSERT(count <= DEVICES_MAX);
    compose(&code, devices, count);
    union bpf_attr load = {.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
                           .insn_cnt = code.count,
                           .insns = (uintptr_t)code.insns,
                           .license = (uintptr_t) "none"};
    int program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
    int folder = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Beside those of a service manager, which go on to hold. */
    union bpf_attr attach = {.target_fd = (uint32_t)folder,
                             .attach_bpf_fd = (uint32_t)program,
                             .attach_type = BPF_CGROUP_DEVICE,
                             .attach_flags = BPF_F_ALLOW_MULTI};
    bool good = program >= 0 && folder >= 0 &&
                syscall(SYS_bpf, BPF_PROG_ATTACH, &attach, sizeof(attach)) == 0;
    if (program >= 0) {
        close(program);
    }
    if (folder >= 0) {
        close(folder);
    }
    return good;
}
