/*
 * case: what the verbs that ask about a training job share: option rows of a case, and the parts of
 * the tree that several answers have.
 */
#pragma once

#include "cli.h"
#include "myriad/fit.h"

/* The options that make a case; 0, NULL and past the range: not given. */
struct cli_case {
    const char *model, *device, *software, *recipe, *profile, *design, *layout;
    uint64_t gpus, batch, seq;  /* seq in tokens; batch in sequences of a step */
    uint64_t nic, link, memory; /* other parts than the device's: Gb/s, GB/s, GiB */
    uint64_t tp, pp, vp, dp, cp, ep, etp, mbs, zero, shard, recompute_layers, offload_layers;
    uint32_t recompute, schedule, precision, sequence; /* places in the lists of words below */
};

/* Stage 0 is an answer of its own, so "not given" is the number past the last stage. */
#define CLI_CASE_ZERO_OPEN 4
#define CLI_CASE_DEFAULTS          \
    {                              \
        .zero = CLI_CASE_ZERO_OPEN \
    }

extern const char *const cli_case_recomputes[4], *const cli_case_sequences[3];
extern const char *const cli_case_schedules[6];
extern const char *const cli_case_precisions[8];

/* Names for completion. */
void cli_case_models(struct myr_buf *buf);
void cli_case_devices(struct myr_buf *buf);

#define CLI_CASE_MODEL_ROW(holder, of)                           \
    CLI_NAME("model", "NAME", holder, of.model, cli_case_models, \
             "a built-in model, a model file or a config.json")
#define CLI_CASE_DEVICE_ROWS(holder, of)                                                 \
    CLI_NAME("device", "NAME", holder, of.device, cli_case_devices,                      \
             "kind of GPU, as 'myriad fit devices' lists them"),                         \
        CLI_TEXT("software", "NAME", holder, of.software,                                \
                 "release of the trainer, as 'myriad fit stacks' lists them; else the "  \
                 "latest measured on the device, with --pool " MYR_CASE_SOFTWARE),       \
        CLI_TEXT("recipe", "WORDS", holder, of.recipe,                                   \
                 "what the run switches on, such as cuda_graphs=full,tp_overlap=1"),     \
        CLI_COUNT("nic", holder, of.nic, 1, 100000,                                      \
                  "Gb/s of a GPU's NIC, in place of the device's"),                      \
        CLI_COUNT("link", holder, of.link, 1, 100000,                                    \
                  "GB/s of its scale-up links, one way, likewise"),                      \
        CLI_COUNT("memory", holder, of.memory, 1, 65536, "GiB of its memory, likewise"), \
        CLI_PATH("profile", "FILE", holder, of.profile,                                  \
                 "your own constants, as 'fit calibrate' writes them")
#define CLI_CASE_BATCH_ROWS(holder, of)                                        \
    CLI_COUNT("batch", holder, of.batch, 1, 1 << 24, "sequences in one step"), \
        CLI_COUNT("seq", holder, of.seq, 1, 1 << 24,                           \
                  "tokens of a sequence; the model's when absent")
#define CLI_CASE_DESIGN_ROW(holder, of)           \
    CLI_PATH("design", "FILE", holder, of.design, \
             "the planned cluster: GPUs, NICs, levels, contention")
#define CLI_CASE_LAYOUT_ROW(holder, of)           \
    CLI_PATH("layout", "FILE", holder, of.layout, \
             "a layout as 'fit --layout-out' writes it; nothing of it is open then")
#define CLI_CASE_AXIS_ROWS(holder, of)                                                           \
    CLI_COUNT("tp", holder, of.tp, 1, 1024, "fixes tensor parallelism"),                         \
        CLI_COUNT("pp", holder, of.pp, 1, 4096, "fixes pipeline stages"),                        \
        CLI_COUNT("vp", holder, of.vp, 1, 1024, "fixes chunks a stage"),                         \
        CLI_COUNT("dp", holder, of.dp, 1, 1 << 24, "fixes data parallelism"),                    \
        CLI_COUNT("cp", holder, of.cp, 1, 1024, "fixes context parallelism"),                    \
        CLI_COUNT("ep", holder, of.ep, 1, 4096, "fixes expert parallelism"),                     \
        CLI_COUNT("etp", holder, of.etp, 1, 1024, "fixes how experts are cut"),                  \
        CLI_COUNT("mbs", holder, of.mbs, 1, 4096, "fixes the micro-batch"),                      \
        CLI_COUNT("zero", holder, of.zero, 0, 3, "fixes the ZeRO stage"),                        \
        CLI_COUNT("shard", holder, of.shard, 1, 1 << 24, "fixes the ranks that ZeRO cuts over"), \
        CLI_CHOICE("recompute", "WORD", holder, of.recompute, cli_case_recomputes,               \
                   "fixes recomputation"),                                                       \
        CLI_COUNT("recompute-layers", holder, of.recompute_layers, 1, 4096,                      \
                  "with --recompute full: so many of each chunk"),                               \
        CLI_COUNT("offload-layers", holder, of.offload_layers, 1, 4096,                          \
                  "of a stage: their activations wait in the host"),                             \
        CLI_CHOICE("sequence-parallel", "WORD", holder, of.sequence, cli_case_sequences,         \
                   "fixes whether tensor groups cut the sequence"),                              \
        CLI_CHOICE("precision", "WORD", holder, of.precision, cli_case_precisions,               \
                   "of the products; any: all that are faster; bf16, or the layout's, when "     \
                   "absent")
#define CLI_CASE_SCHEDULE_ROW(holder, of)                                   \
    CLI_CHOICE("schedule", "WORD", holder, of.schedule, cli_case_schedules, \
               "fixes the schedule; stack: those that the release runs")

struct myr_case_question cli_case_question(const struct cli_case *of);

/* Keys of an object that is open. */
void cli_put_layout(struct myr_answer *answer, const struct myr_layout *layout);
/* What is switched on, as priced: what the layout allows of it. 'it' NULL: unknown. */
void cli_put_recipe(struct myr_answer *answer, const struct myr_fit_case *it,
                    const struct myr_layout *layout);
/* The measured run that an interval rests on, and what lies between, in words. */
const char *cli_fit_rests_on(struct myr_arena *arena, const struct myr_case *it,
                             const struct myr_layout *layout, const struct myr_fit_spread *spread);
void cli_fit_put_rests_on(struct myr_answer *answer, const struct myr_case *it,
                          const struct myr_layout *layout, const struct myr_fit_spread *spread);
void cli_put_chance(struct myr_answer *answer, const struct myr_fit_memory *memory);
void cli_put_memory(struct myr_answer *answer, const struct myr_fit_memory *memory);
void cli_put_pair(struct myr_answer *answer, const char *key, double low, double high, int digits);
/* Null where it is not known. */
void cli_put_known(struct myr_answer *answer, const char *key, bool known, double value,
                   int digits);

/* The page's words for a layout: "tp 8 pp 4 dp 16, micro-batch 1, ZeRO-1". */
const char *cli_layout_words(struct myr_arena *arena, const struct myr_layout *layout);

/* For MYR_CLEANUP on a case in an arena, whose design is mapped and must be given back. */
static inline void cli_case_close(struct myr_case **it)
{
    myr_case_done(*it);
}

/*
 * The keys that say what was asked about, and all that shaped the answer whoever asked: those of
 * the case alone (null where 'it' is NULL), and with the size of the job. pooled: neither device
 * nor number of GPUs.
 */
void cli_case_put_names(struct myr_answer *answer, const struct myr_case *it, bool pooled);
void cli_fit_put_case(struct myr_answer *answer, const struct myr_case *it, bool pooled);
/* Whether there is a layout; 'why' not, in words, or NULL. The same for people. */
void cli_fit_put_found(struct myr_answer *answer, const struct myr_err *why);
void cli_fit_show_nothing(struct myr_answer *answer, const struct myr_err *why);

/* For people: GPUs that take the place of the design's; nothing where there are none. */
void cli_fit_show_device(struct myr_answer *answer, const struct myr_case *it);

/*
 * For people: the release that stands for the one asked for, what the fabric's slowdowns rest on,
 * and the file where they were measured.
 */
void cli_fit_show_basis(struct myr_answer *answer, const struct myr_case *it);

/* Processor time: what a quiet machine's clock would show, on a busy one too. */
double cli_fit_spent_ms(void);
