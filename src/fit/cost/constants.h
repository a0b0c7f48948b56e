/*
 * constants: the fitted numbers of the cost model, by name. Private to the module.
 *
 * A fit starts from the prior and is drawn back to it, the more the smaller the spread; it never
 * leaves least and most. Values that were fitted are in catalog/profiles/fitted.yaml; one that is
 * not there has its prior. No constant belongs to a run or to a publisher, and releases that ship
 * the same kernels share one. Hopper's products, memory and attention have priors that were
 * measured on an H200 (docs/fit.md, "Fitting").
 */
#pragma once

/* id, name, unit, prior, least, most, spread of its logarithm, meaning */
#define FIT_CONSTANTS(X)                                                                           \
    X(GEMM_AMPERE, "gemm.ampere", "1", 0.80, 0.5, 0.98, 0.1,                                       \
      "share of the bf16 peak that large products reach on Ampere")                                \
    X(GEMM_HOPPER, "gemm.hopper", "1", 0.71, 0.5, 0.98, 0.05,                                      \
      "share of the bf16 peak that large products reach on Hopper, under its power limit")         \
    X(GEMM_HOPPER_FP8, "gemm.hopper-fp8", "1", 0.66, 0.4, 0.98, 0.05,                              \
      "share of the fp8 peak that large products reach on Hopper")                                 \
    X(GEMM_BLACKWELL, "gemm.blackwell", "1", 0.72, 0.4, 0.98, 0.1,                                 \
      "share of the bf16 peak that large products reach on Blackwell")                             \
    X(GEMM_BLACKWELL_FP8, "gemm.blackwell-fp8", "1", 0.69, 0.35, 0.98, 0.1,                        \
      "share of the fp8 peak that large products reach on Blackwell")                              \
    X(GEMM_BLACKWELL_FP4, "gemm.blackwell-fp4", "1", 0.60, 0.2, 0.98, 0.15,                        \
      "share of the fp4 peak that large products reach on Blackwell")                              \
    X(DEPTH, "depth", "1", 95, 20, 1000, 0.6,                                                      \
      "inner dimension at which a product reaches half its rate, Hopper in bf16")                  \
    X(DEPTH_AMPERE, "depth.ampere", "1", 200, 20, 2000, 0.6,                                       \
      "inner dimension at which a product reaches half its rate on Ampere")                        \
    X(WAVE, "wave", "1", 0.5, 0.0, 1.0, 0.5,                                                       \
      "share of tile and wave quantisation that is not hidden")                                    \
    X(HBM_AMPERE, "hbm.ampere", "1", 0.80, 0.4, 1.0, 0.15,                                         \
      "share of the memory bandwidth reached on Ampere")                                           \
    X(HBM_HOPPER, "hbm.hopper", "1", 0.85, 0.4, 1.0, 0.1,                                          \
      "share of the memory bandwidth reached on Hopper")                                           \
    X(HBM_BLACKWELL, "hbm.blackwell", "1", 0.70, 0.3, 1.0, 0.15,                                   \
      "share of the memory bandwidth reached on Blackwell")                                        \
    X(FLASH_AMPERE, "flash.ampere", "1", 0.60, 0.2, 0.95, 0.1,                                     \
      "share of the bf16 peak that fused attention reaches forward on Ampere")                     \
    X(FLASH_HOPPER, "flash.hopper", "1", 0.55, 0.15, 0.85, 0.1,                                    \
      "share of the bf16 peak that fused attention reaches forward on Hopper")                     \
    X(FLASH_BLACKWELL, "flash.blackwell", "1", 0.50, 0.15, 0.9, 0.2,                               \
      "share of the bf16 peak that fused attention reaches forward on Blackwell")                  \
    X(FLASH_PORTABLE, "flash.portable", "1", 0.7, 0.3, 1.0, 0.3,                                   \
      "rate of portable (Triton, ALiBi) attention against the vendor's")                           \
    X(FLASH_TORCH, "flash.torch", "1", 1.3, 0.6, 2.0, 0.2,                                         \
      "rate of PyTorch's attention against other trainers'")                                       \
    X(POWER, "power", "1", 0.9, 0.01, 1.5, 0.25,                                                   \
      "gain in sustained rate for a power limit above the generation's, as a share of it")         \
    X(FLASH_BACKWARD, "flash.backward", "1", 0.86, 0.5, 1.1, 0.05,                                 \
      "rate of fused attention backward against forward")                                          \
    X(SCORE_GEMM, "score.gemm", "1", 0.45, 0.15, 0.8, 0.3,                                         \
      "share of the peak that attention reaches where it is not fused")                            \
    X(SCORE_BYTES, "score.bytes", "B", 10, 3, 40, 0.4, "traffic of one stored score, forward")     \
    X(WHOLE_PASSES, "passes.hidden", "1", 12, 3, 40, 0.4,                                          \
      "reads and writes of the hidden state in a layer, forward")                                  \
    X(FFN_PASSES, "passes.ffn", "1", 3, 1, 12, 0.4,                                                \
      "reads and writes of the widened state, forward")                                            \
    X(BACKWARD_PASSES, "passes.backward", "1", 2.0, 0.8, 8.0, 0.1,                                 \
      "traffic of memory-bound operators backward against forward")                                \
    X(EAGER_PASSES, "passes.unfused", "1", 1.5, 0.8, 4.0, 0.3,                                     \
      "traffic of memory-bound operators without fused kernels against with them")                 \
    X(VOCAB_PASSES, "passes.vocabulary", "B", 16, 4, 60, 0.5,                                      \
      "traffic of one logit, forward and backward")                                                \
    X(CAST_FP8, "cast.fp8", "B", 6, 0.5, 20, 0.2,                                                  \
      "traffic of one cast activation, fp8 with one scale a tensor")                               \
    X(CAST_CURRENT, "cast.current", "B", 6, 0.5, 30, 0.2,                                          \
      "traffic of one cast activation, fp8 with a scale of its own each time")                     \
    X(CAST_TORCH, "cast.torch", "B", 12, 2, 40, 0.4,                                               \
      "traffic of one cast activation, fp8 in PyTorch")                                            \
    X(CAST_MX, "cast.mx", "B", 6, 0.5, 30, 0.2,                                                    \
      "traffic of one cast activation, fp8 with one scale a block")                                \
    X(LAUNCH_EAGER, "launch.eager", "us", 700, 200, 2500, 0.3,                                     \
      "least time of one layer forward that the host takes, early Megatron and DeepSpeed")         \
    X(LAUNCH_FUSED, "launch.fused", "us", 350, 60, 1500, 0.4,                                      \
      "least time of one layer forward that the host takes, later stacks")                         \
    X(LAUNCH_MICRO, "launch.micro", "ms", 1, 0.01, 30, 1.0,                                        \
      "time of one micro-batch outside its layers")                                                \
    X(NVLINK, "link.domain", "1", 0.75, 0.4, 1.0, 0.15, "share of the scale-up bandwidth reached") \
    X(NVLINK_LATENCY, "latency.domain", "us", 12, 1, 80, 0.6,                                      \
      "latency of one collective inside a scale-up domain")                                        \
    X(NIC, "link.nic", "1", 0.75, 0.3, 1.0, 0.15, "share of the NIC's bandwidth reached")          \
    X(NIC_LATENCY, "latency.nic", "us", 12, 2, 120, 0.6,                                           \
      "latency of one collective over NICs, for each doubling of the group")                       \
    X(NIC_CROWD, "link.crowd", "1", 0.03, 0.0001, 0.4, 1.0,                                        \
      "NIC bandwidth lost for each doubling of the servers of a group")                            \
    X(NIC_RAILS, "link.rails", "1", 0.5, 0.0001, 4.0, 0.3,                                         \
      "NIC bandwidth lost past two servers by early stacks where some GPUs of servers share NICs") \
    X(TENSOR_OVERLAP, "exposed.tensor-overlap", "1", 0.4, 0.02, 1.0, 0.4,                          \
      "share of tensor-parallel time seen with overlap")                                           \
    X(CONTEXT_SEEN, "exposed.context", "1", 0.4, 0.02, 1.5, 0.5,                                   \
      "share of context-parallel time seen")                                                       \
    X(PIPELINE_SEEN, "exposed.pipeline", "1", 0.8, 0.05, 2.0, 0.4,                                 \
      "share of transfers between stages seen")                                                    \
    X(DATA_HIDE, "hidden.data", "1", 0.7, 0.05, 1.2, 0.4,                                          \
      "share of a pass that hides data-parallel transfers")                                        \
    X(DATA_FLOOR, "exposed.data", "1", 0.2, 0.005, 0.8, 0.6,                                       \
      "share of data-parallel time seen however long the pass")                                    \
    X(ZERO3_FLOOR, "exposed.zero3", "1", 0.2, 0.005, 0.9, 0.6,                                     \
      "share of the gathering of parameters seen in any case (ZeRO-3)")                            \
    X(ZERO3_EARLY, "link.zero3-early", "1", 0.3, 0.05, 1.0, 0.5,                                   \
      "bandwidth of gathering parameters by early stacks against later ones (ZeRO-3)")             \
    X(EXPERT_SEEN, "exposed.expert", "1", 0.9, 0.2, 2.0, 0.3, "share of all-to-all time seen")     \
    X(EXPERT_SEEN_OVERLAP, "exposed.expert-overlap", "1", 0.3, 0.02, 1.0, 0.4,                     \
      "share of all-to-all time seen where another micro-batch covers it")                         \
    X(GROUPED, "experts.rate", "1", 0.95, 0.3, 1.4, 0.2,                                           \
      "rate of experts' grouped products against single ones")                                     \
    X(GROUPED_LOOP, "experts.loop", "1", 0.6, 0.2, 1.0, 0.3,                                       \
      "rate of experts' products one by one against single ones")                                  \
    X(EXPERT_LAUNCH, "launch.experts", "us", 900, 50, 5000, 0.6,                                   \
      "least time of an expert layer forward beyond a dense one, its sizes known to the device "   \
      "alone")                                                                                     \
    X(EXPERT_LAUNCH_STATIC, "launch.experts-static", "us", 500, 5, 5000, 0.6,                      \
      "least time of an expert layer forward beyond a dense one, its sizes fixed "                 \
      "as tokens are dropped")                                                                     \
    X(EXPERT_EACH, "launch.expert", "us", 12, 1, 200, 0.6,                                         \
      "time of one launch for one expert of the rank: products, casts and biases are launched "    \
      "one "                                                                                       \
      "by one")                                                                                    \
    X(EXPERT_BIAS, "experts.bias", "1", 1, 0.3, 4, 0.3,                                            \
      "traffic of experts' biases and of their activation against what is counted for it")         \
    X(LAUNCH_PARTS, "launch.parts", "1", 0.6, 0.05, 1.0, 0.4,                                      \
      "least time of a layer where graphs hold parts of it, against none")                         \
    X(STRAGGLER, "straggler", "1", 0.005, 0.0001, 0.04, 0.6, "spread of ranks' speed")             \
    X(PERMUTE, "experts.passes", "1", 8, 2, 60, 0.5,                                               \
      "reads and writes of one routed token, forward")                                             \
    X(EXPERT_FUSED, "experts.fused", "1", 0.5, 0.1, 1.0, 0.4,                                      \
      "traffic of routed tokens where products, activation and casts are one kernel, against "     \
      "apart")                                                                                     \
    X(TORCH_EAGER, "torch.hidden-eager", "B", 520, 100, 1500, 0.3,                                 \
      "traffic of one hidden element of a layer in a step, PyTorch eager")                         \
    X(TORCH_COMPILED, "torch.hidden-compiled", "B", 50, 10, 400, 0.4,                              \
      "traffic of one hidden element of a layer in a step, PyTorch compiled")                      \
    X(TORCH_LOGIT, "torch.logit-eager", "B", 46, 10, 120, 0.3,                                     \
      "traffic of one logit in a step, PyTorch eager")                                             \
    X(TORCH_LOGIT_COMPILED, "torch.logit-compiled", "B", 8, 2, 60, 0.4,                            \
      "traffic of one logit in a step, PyTorch compiled")                                          \
    X(TORCH_HOST, "torch.launch-eager", "us", 800, 200, 3000, 0.4,                                 \
      "least time of one layer forward that the host takes, PyTorch eager")                        \
    X(TORCH_HOST_COMPILED, "torch.launch-compiled", "us", 400, 50, 2000, 0.4,                      \
      "least time of one layer forward that the host takes, PyTorch compiled")                     \
    X(STEP, "step", "ms", 4, 1, 100, 0.3, "time of each step outside everything else")             \
    X(SERVERS_AMPERE, "servers.ampere", "1", 0.004, 0.00001, 0.05, 0.7,                            \
      "share of the step added for each doubling of the servers, Ampere")                          \
    X(SERVERS_LATER, "servers.later", "1", 0.002, 0.00001, 0.05, 0.7,                              \
      "share of the step added for each doubling of the servers, after Ampere")                    \
    X(SERVERS_SCALES, "servers.scales", "1", 2, 1, 6, 0.4,                                         \
      "stragglers and servers where all ranks agree on fp8 scales each micro-batch, against once " \
      "a step")                                                                                    \
    X(K_2023, "kernel.megatron-2023", "1", 1.0, 0.7, 1.4, 0.05,                                    \
      "rate of all kernels against other stacks: Megatron-LM 2023")                                \
    X(K_MEGASCALE, "kernel.megascale", "1", 1.1, 0.7, 1.5, 0.1,                                    \
      "rate of all kernels against other stacks: MegaScale, its parallel block and window "        \
      "included")                                                                                  \
    X(K_2024, "kernel.megatron-2024", "1", 1.0, 0.7, 1.4, 0.05,                                    \
      "rate of all kernels against other stacks: Megatron-LM 2024, Megatron-Core 0.8, NeMo 24.07") \
    X(K_2502, "kernel.nemo-25", "1", 1.0, 0.7, 1.4, 0.05,                                          \
      "rate of all kernels against other stacks: NeMo 25.02 and 25.05")                            \
    X(K_2509, "kernel.bridge-25", "1", 1.0, 0.7, 1.4, 0.05,                                        \
      "rate of all kernels against other stacks: Megatron-Bridge 25.09 to 26.02")                  \
    X(K_MINDSPEED, "kernel.mindspeed", "1", 1.0, 0.6, 1.4, 0.1,                                    \
      "rate of all kernels against other stacks: MindSpeed-LLM on Ascend")                         \
    X(K_2604, "kernel.bridge-26.04", "1", 1.05, 0.7, 1.4, 0.05,                                    \
      "rate of all kernels against other stacks: Megatron-Bridge 26.04 and later")

/* In the order of the table: a constant's number is its place in myr_profiles.constants. */
enum fit_constant {
#define FIT_CONSTANT_ENUM(id, ...) FIT_##id,
    FIT_CONSTANTS(FIT_CONSTANT_ENUM)
#undef FIT_CONSTANT_ENUM
        FIT_CONSTANT_COUNT
};
