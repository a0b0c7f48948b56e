/* constants: the fitted numbers of the cost model, by name. Private to the module. */
#pragma once

/* id, name, unit, prior, least, most, spread of its logarithm, meaning */
#define FIT_CONSTANTS(X)                                                                           \
    X(GEMM_AMPERE, "gemm.ampere", "1", 0.80, 0.5, 0.98, 0.1,                                       \
      "share of the bf16 peak that large products reach")                                          \
    X(GEMM_HOPPER, "gemm.hopper", "1", 0.71, 0.5, 0.98, 0.05,                                      \
      "the same on Hopper, under its power limit")                                                 \
    X(GEMM_HOPPER_FP8, "gemm.hopper-fp8", "1", 0.66, 0.4, 0.98, 0.05, "share of the fp8 peak")     \
    X(GEMM_BLACKWELL, "gemm.blackwell", "1", 0.72, 0.4, 0.98, 0.1, "share of the bf16 peak")       \
    X(GEMM_BLACKWELL_FP8, "gemm.blackwell-fp8", "1", 0.65, 0.35, 0.98, 0.1,                        \
      "share of the fp8 peak")                                                                     \
    X(GEMM_BLACKWELL_FP4, "gemm.blackwell-fp4", "1", 0.50, 0.2, 0.98, 0.2,                         \
      "share of the fp4 peak")                                                                     \
    X(DEPTH, "depth", "1", 95, 20, 1000, 0.6,                                                      \
      "inner dimension at which a product reaches half its rate, Hopper in bf16")                  \
    X(DEPTH_AMPERE, "depth.ampere", "1", 200, 20, 2000, 0.6,                                       \
      "the same on Ampere, whose kernels fill and drain more slowly")                              \
    X(ACCUMULATE, "accumulate", "B", 6, 0.5, 40, 0.5,                                              \
      "traffic of one weight's gradient, each micro-batch")                                        \
    X(WAVE, "wave", "1", 0.5, 0.0, 1.0, 0.5,                                                       \
      "share of tile and wave quantisation that is not hidden")                                    \
    X(HBM_AMPERE, "hbm.ampere", "1", 0.80, 0.4, 1.0, 0.15,                                         \
      "share of the memory bandwidth reached")                                                     \
    X(HBM_HOPPER, "hbm.hopper", "1", 0.85, 0.4, 1.0, 0.1, "the same on Hopper")                    \
    X(HBM_BLACKWELL, "hbm.blackwell", "1", 0.70, 0.3, 1.0, 0.15, "the same on Blackwell")          \
    X(FLASH_AMPERE, "flash.ampere", "1", 0.50, 0.2, 0.8, 0.2,                                      \
      "share of the bf16 peak of fused attention, forward")                                        \
    X(FLASH_HOPPER, "flash.hopper", "1", 0.55, 0.15, 0.85, 0.1, "the same on Hopper")              \
    X(FLASH_BLACKWELL, "flash.blackwell", "1", 0.50, 0.15, 0.9, 0.2, "the same on Blackwell")      \
    X(FLASH_PORTABLE, "flash.portable", "1", 0.7, 0.3, 1.0, 0.3,                                   \
      "rate of portable (Triton, ALiBi) attention against the vendor's")                           \
    X(POWER, "power", "1", 0.5, 0.01, 1.5, 0.5,                                                    \
      "gain in sustained rate for a power limit above the generation's, as a share of it")         \
    X(FLASH_BACKWARD, "flash.backward", "1", 0.8, 0.4, 1.1, 0.2,                                   \
      "rate of the backward pass against the forward one")                                         \
    X(SCORE_GEMM, "score.gemm", "1", 0.45, 0.15, 0.8, 0.3,                                         \
      "share of the peak of attention that is not fused")                                          \
    X(SCORE_BYTES, "score.bytes", "B", 10, 3, 40, 0.4, "traffic of one stored score, forward")     \
    X(WHOLE_PASSES, "passes.hidden", "1", 12, 3, 40, 0.4,                                          \
      "reads and writes of the hidden state in a layer, forward")                                  \
    X(FFN_PASSES, "passes.ffn", "1", 3, 1, 12, 0.4,                                                \
      "reads and writes of the widened state, forward")                                            \
    X(BACKWARD_PASSES, "passes.backward", "1", 1.6, 0.8, 4.0, 0.3,                                 \
      "traffic of memory-bound operators backward against forward")                                \
    X(EAGER_PASSES, "passes.unfused", "1", 1.5, 0.8, 4.0, 0.3,                                     \
      "the same of stacks without fused kernels, against fused ones")                              \
    X(VOCAB_PASSES, "passes.vocabulary", "B", 16, 4, 60, 0.5,                                      \
      "traffic of one logit, forward and backward")                                                \
    X(CAST_FP8, "cast.fp8", "B", 4, 0.5, 20, 0.5,                                                  \
      "traffic of one cast activation, fp8 with one scale a tensor")                               \
    X(CAST_MX, "cast.mx", "B", 6, 0.5, 30, 0.5, "the same with one scale a block")                 \
    X(LAUNCH_EAGER, "launch.eager", "us", 700, 200, 2500, 0.3,                                     \
      "least time of one layer forward, early Megatron and DeepSpeed")                             \
    X(LAUNCH_FUSED, "launch.fused", "us", 350, 60, 1500, 0.4, "the same of later stacks")          \
    X(LAUNCH_TENSOR, "launch.tensor", "1", 1.1, 1.0, 2.0, 0.2,                                     \
      "the same with tensor parallelism, against without")                                         \
    X(LAUNCH_MICRO, "launch.micro", "ms", 1, 0.01, 30, 1.0, "of one micro-batch outside layers")   \
    X(NVLINK, "link.domain", "1", 0.75, 0.4, 1.0, 0.15, "share of the scale-up bandwidth reached") \
    X(NVLINK_LATENCY, "latency.domain", "us", 12, 1, 80, 0.6,                                      \
      "of one collective inside a scale-up domain")                                                \
    X(NIC, "link.nic", "1", 0.75, 0.3, 1.0, 0.15, "share of the NIC's bandwidth reached")          \
    X(NIC_LATENCY, "latency.nic", "us", 12, 2, 120, 0.6,                                           \
      "of one collective over NICs, for each doubling of the group")                               \
    X(NIC_CROWD, "link.crowd", "1", 0.03, 0.0001, 0.4, 1.0,                                        \
      "NIC bandwidth lost for each doubling of the servers of a group")                            \
    X(NIC_RAILS, "link.rails", "1", 0.5, 0.0001, 4.0, 0.3,                                         \
      "the same past two servers, early stacks: groups of some GPUs of servers that share NICs")   \
    X(TENSOR_EAGER, "exposed.tensor", "1", 1.0, 0.6, 1.2, 0.1,                                     \
      "share of tensor-parallel time seen without overlap")                                        \
    X(TENSOR_OVERLAP, "exposed.tensor-overlap", "1", 0.4, 0.02, 1.0, 0.4, "the same with overlap") \
    X(CONTEXT_SEEN, "exposed.context", "1", 0.4, 0.02, 1.5, 0.5,                                   \
      "share of context-parallel time seen")                                                       \
    X(PIPELINE_SEEN, "exposed.pipeline", "1", 0.8, 0.05, 2.0, 0.4,                                 \
      "share of transfers between stages seen, without interleaving")                              \
    X(PIPELINE_INTERLEAVED, "exposed.pipeline-interleaved", "1", 0.3, 0.01, 2.0, 0.5,              \
      "the same with interleaving")                                                                \
    X(DATA_HIDE, "hidden.data", "1", 0.7, 0.05, 1.2, 0.4,                                          \
      "share of a pass that hides data-parallel transfers")                                        \
    X(DATA_FLOOR, "exposed.data", "1", 0.1, 0.005, 0.8, 0.6,                                       \
      "share of data-parallel time seen however long the pass")                                    \
    X(DATA_EAGER, "exposed.data-eager", "1", 1.0, 0.4, 1.5, 0.2,                                   \
      "share seen by stacks without overlap")                                                      \
    X(ZERO3_HIDE, "hidden.zero3", "1", 0.8, 0.1, 1.2, 0.3,                                         \
      "share of a layer that hides its parameters' gathering")                                     \
    X(ZERO3_FLOOR, "exposed.zero3", "1", 0.1, 0.005, 0.9, 0.6,                                     \
      "share of that gathering seen in any case")                                                  \
    X(ZERO3_EARLY, "link.zero3-early", "1", 0.3, 0.05, 1.0, 0.5,                                   \
      "bandwidth of that gathering by early stacks, against later ones")                           \
    X(EXPERT_EARLY, "exposed.expert-early", "1", 1.0, 0.3, 2.0, 0.3,                               \
      "share of all-to-all time seen, first expert kernels")                                       \
    X(EXPERT_LATE, "exposed.expert-late", "1", 0.6, 0.02, 1.5, 0.4, "the same, later ones")        \
    X(GROUPED_EARLY, "experts.early", "1", 0.6, 0.2, 1.0, 0.3,                                     \
      "rate of experts' products against single ones, first kernels")                              \
    X(GROUPED_LATE, "experts.late", "1", 0.8, 0.3, 1.1, 0.3, "the same, later kernels")            \
    X(GROUPED_ROWS, "experts.rows", "1", 128, 4, 1500, 0.8,                                        \
      "tokens of an expert at which its product reaches half its rate")                            \
    X(PERMUTE, "experts.passes", "1", 8, 2, 60, 0.5,                                               \
      "reads and writes of one routed token, forward")                                             \
    X(EXPERT_FUSED, "experts.fused", "1", 0.5, 0.1, 1.0, 0.4,                                      \
      "the same where products, activation and casts are one kernel, against apart")               \
    X(EXPERT_BIAS, "experts.bias", "1", 2, 0.5, 12, 0.5,                                           \
      "passes over what an expert with biases makes, forward: its activation is not fused")        \
    X(EXPERT_LAUNCH_EARLY, "launch.experts-early", "us", 900, 50, 5000, 0.6,                       \
      "least time of an expert layer forward beyond a dense one, first kernels")                   \
    X(EXPERT_LAUNCH_LATE, "launch.experts-late", "us", 300, 5, 2000, 0.6,                          \
      "the same, later kernels")                                                                   \
    X(OPTIMISER_BYTES, "optimiser.bytes", "B", 30, 14, 120, 0.4,                                   \
      "traffic of one parameter's update")                                                         \
    X(STEP, "step", "ms", 4, 1, 100, 0.3, "of each step outside everything else")                  \
    X(STRAGGLER_AMPERE, "straggler.ampere", "1", 0.006, 0.0002, 0.04, 0.6,                         \
      "spread of ranks' speed, machines with Ampere")                                              \
    X(STRAGGLER_LATER, "straggler.later", "1", 0.004, 0.0001, 0.03, 0.6,                           \
      "the same, later machines")                                                                  \
    X(SERVERS_AMPERE, "servers.ampere", "1", 0.004, 0.00001, 0.05, 0.7,                            \
      "step time added for each doubling of the servers, Ampere")                                  \
    X(SERVERS_LATER, "servers.later", "1", 0.002, 0.00001, 0.05, 0.7, "the same, later machines")  \
    X(SERVERS_SCALES, "servers.scales", "1", 2, 1, 6, 0.4,                                         \
      "both where all ranks agree on fp8 scales each micro-batch, against once a step")            \
    X(K_EARLY, "kernel.megatron-early", "1", 1.0, 0.7, 1.4, 0.05,                                  \
      "rate of this release's kernels against its peers")                                          \
    X(K_2023, "kernel.megatron-2023", "1", 1.0, 0.7, 1.4, 0.05, "the same")                        \
    X(K_MEGASCALE, "kernel.megascale", "1", 1.1, 0.7, 1.5, 0.1,                                    \
      "the same; its parallel block and windowed attention included")                              \
    X(K_2024, "kernel.megatron-2024", "1", 1.0, 0.7, 1.4, 0.05, "the same")                        \
    X(K_ZERO3, "kernel.deepspeed-zero3", "1", 0.85, 0.6, 1.4, 0.05, "the same")                    \
    X(K_FSDP, "kernel.fsdp", "1", 0.9, 0.7, 1.4, 0.05, "the same")                                 \
    X(K_HAI, "kernel.hai-llm", "1", 1.0, 0.5, 1.6, 0.05, "the same")                               \
    X(K_2502, "kernel.nemo-25.02", "1", 1.0, 0.7, 1.4, 0.05, "the same")                           \
    X(K_2505, "kernel.nemo-25.05", "1", 1.0, 0.7, 1.4, 0.05, "the same")                           \
    X(K_2509, "kernel.bridge-25.09", "1", 1.0, 0.7, 1.4, 0.05, "the same")                         \
    X(K_2511, "kernel.bridge-25.11", "1", 1.05, 0.7, 1.4, 0.05, "the same")                        \
    X(K_2604, "kernel.bridge-26.04", "1", 1.05, 0.7, 1.4, 0.05, "the same")                        \
    X(K_2606, "kernel.bridge-26.06", "1", 1.1, 0.7, 1.5, 0.1, "the same")

enum fit_constant {
#define FIT_CONSTANT_ENUM(id, ...) FIT_##id,
    FIT_CONSTANTS(FIT_CONSTANT_ENUM)
#undef FIT_CONSTANT_ENUM
        FIT_CONSTANT_COUNT
};
