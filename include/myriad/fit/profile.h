/*
 * profile: what the cost model knows of devices and of software, as data.
 *
 * A device is its data sheet. A stack is a release of a trainer: which kernels it has (flash
 * attention, fusion) and what it hides behind arithmetic. What no data sheet says are the fitted
 * constants: each has a name, a unit, bounds and a meaning, and all rows of all publishers share
 * them. catalog/profiles/ holds all three; tools/fit writes the constants.
 */
#pragma once

#include "myriad/fit/recipe.h"

#define MYR_FIT_CONSTANTS_MAX 80 /* more would fit noise; the limit is part of the contract */

enum myr_generation { MYR_GENERATION_AMPERE, MYR_GENERATION_HOPPER, MYR_GENERATION_BLACKWELL };

struct myr_device {
    const char *name;  /* "h100" */
    const char *alias; /* the name in published tables: "H100-SXM" */
    enum myr_generation generation;
    double bf16_flops, fp8_flops, fp4_flops; /* dense peak a second */
    double memory_bytes;
    double memory_bytes_per_s;
    uint32_t domain_gpus;          /* scale-up domain */
    double domain_bytes_per_s;     /* a GPU, one way */
    double nic_gbps;               /* a GPU, unless a run says otherwise */
    double host_bytes_per_s;       /* to the host's memory, one way */
    double power_w, usual_power_w; /* this device's limit, and its generation's usual one */
    uint32_t sm_count, tile_m, tile_n;
    const char *software;  /* the release taken where none is named */
    bool extrapolated;     /* no run was fitted: its data sheet is all that is known, and */
    double gemm, gemm_fp8; /* what a benchmark of products reached of its peaks; 0: nobody says */
};

/* How a stack's kernels are launched and what they share; constants differ by era. */
enum myr_era { MYR_ERA_EAGER, MYR_ERA_FLASH, MYR_ERA_NEMO, MYR_ERA_FSDP, MYR_ERA_TORCH };

struct myr_stack {
    const char *name; /* the 'software' of a published run */
    const char *line; /* releases of one line follow each other: "NeMo" */
    double order;     /* within the line; a later release has a larger one */
    uint32_t since;   /* month (202506) before which a run is of an earlier one; 0: not said */
    enum myr_era era;
    bool flash;               /* attention never stores its scores */
    bool overlap_data;        /* gradient and parameter exchange is hidden */
    uint32_t schedules;       /* a bit of each enum myr_schedule that it runs */
    uint32_t zero[2];         /* of each ZeRO stage, without and with a pipeline */
    bool shared_scales;       /* fp8 scales are agreed on by all ranks, each micro-batch */
    bool low_dispatch;        /* tokens go to experts in fp8 */
    bool fused_loss;          /* one kernel or graph from logits to their gradient */
    bool low_gradients;       /* kept and sent in bf16 */
    bool whole_sequence;      /* tensor groups cannot cut the sequence */
    bool blocks;              /* can make some layers of a chunk again, not only all */
    bool reorders;            /* can put stages before replicas in the order of ranks */
    bool cuts;                /* can give outer stages a number of layers of their own */
    bool shards;              /* can cut state over part of the replicas */
    enum myr_weights weights; /* that it trains with where nothing says otherwise */
    struct myr_recipe recipe; /* where no rule says otherwise */
    int kernel_constant;      /* index of the release's kernel factor, or -1 */
};

/* Dense operations a second in a precision. */
double myr_device_peak(const struct myr_device *device, enum myr_precision precision);

struct myr_constant {
    const char *name, *unit, *meaning;
    double prior, min, max;
    double spread; /* how far from the prior a value costs as much as one badly missed row */
};

/*
 * How wide intervals are: of the logarithm of the error, nine of ten stay below. First a width of
 * its own for dense models and for experts, and what open axes add; then what each unit of distance
 * from a measured run adds (myriad/fit/interval.h).
 */
#define MYR_INTERVALS(X)                                             \
    X(DENSE, "dense")                                                \
    X(EXPERTS, "experts")                                            \
    X(AXES_OPEN, "axes-open")                                        \
    X(FOREIGN, "foreign") /* a trainer of which no run was fitted */ \
    X(GPUS, "gpus")                                                  \
    X(TOKENS, "tokens")                                              \
    X(DEVICE, "device")                                              \
    X(PRECISION, "precision")                                        \
    X(EXPERT_COUNT, "expert-count")                                  \
    X(LINE, "trainer")                                               \
    X(RELEASE, "release")                                            \
    X(GRID, "layout") /* doublings of the axes */

enum myr_interval {
#define MYR_INTERVAL_ENUM(name, text) MYR_INTERVAL_##name,
    MYR_INTERVALS(MYR_INTERVAL_ENUM)
#undef MYR_INTERVAL_ENUM
        MYR_INTERVAL_COUNT,
    MYR_INTERVAL_FIRST_AXIS = MYR_INTERVAL_GPUS
};

const char *myr_interval_name(enum myr_interval interval);

/* Where a run was measured that stands behind the constants. */
struct myr_measured {
    uint32_t device, stack; /* of the profile's lists */
    enum myr_precision precision;
    uint32_t gpus, tokens, experts;
    uint32_t tp, pp, cp, ep;
};

struct myr_profiles {
    struct myr_device *devices;
    struct myr_stack *stacks;
    struct myr_recipe_rule *rules;
    uint32_t device_count, stack_count, rule_count, constant_count;
    uint32_t shipped_count; /* devices that a user's own come behind */
    double constants[MYR_FIT_CONSTANTS_MAX];
    double intervals[MYR_INTERVAL_COUNT]; /* of the logarithm of the error */
    struct myr_measured *measured;
    uint32_t measured_count;
};

const struct myr_constant *myr_fit_constant(uint32_t index);
uint32_t myr_fit_constant_count(void);
/* -1 when there is none of that name. */
int myr_fit_constant_index(struct myr_str name);

/*
 * What a run of the model does, for each precision; 'stated' may be NULL. Returns the capabilities
 * that each layout may leave aside, a bit each: all that nobody stated, of a model for which the
 * release ships no recipe.
 */
uint32_t myr_profiles_recipes(const struct myr_profiles *profiles, const struct myr_stack *stack,
                              const struct myr_device *device, const struct myr_model *model,
                              const struct myr_stated *stated,
                              struct myr_recipe ret[MYR_PRECISION_COUNT]);

/* The built-in profiles. */
MYR_MUST_USE int myr_profiles_init(struct myr_profiles *profiles, struct myr_arena *arena,
                                   struct myr_err *err);
/*
 * Adds the lists 'devices', 'stacks' and 'recipes' of a document, those that it has, in the form of
 * the shipped files. A name that is there already is replaced; rules come after the shipped ones.
 * To be called before anything points to a device or a stack.
 */
MYR_MUST_USE int myr_profiles_extend(struct myr_profiles *profiles, struct myr_arena *arena,
                                     const struct myr_doc *doc, struct myr_err *err);
MYR_MUST_USE int myr_profiles_device(const struct myr_profiles *profiles, struct myr_str name,
                                     const struct myr_device **ret, struct myr_err *err);
/* An unknown release takes the nearest earlier one of its line; '*ret_exact' says so. */
MYR_MUST_USE int myr_profiles_stack(const struct myr_profiles *profiles, struct myr_str name,
                                    const struct myr_stack **ret, bool *ret_exact,
                                    struct myr_err *err);
/* A line whose releases are told apart by the month, named without one: the careful release. */
bool myr_stack_undated(const struct myr_profiles *profiles, const struct myr_stack *stack);
