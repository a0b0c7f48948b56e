/*
 * rates: shares of the peaks that products, attention and memory reach, fitted by generation, or
 * told from a data sheet where no run was fitted.
 */
#include "cost/rates.h"

#define BENCHMARK_BF16 0.803 /* the best product of an H100, of its peaks (devices.csv) */
#define BENCHMARK_FP8  0.709

/*
 * What a device that no run was fitted on makes of its sheet: of the best that a benchmark found on
 * it training reaches as much as it does on the H100, where both are known.
 */
static double sheet_share(const struct fit_work *w, bool low)
{
    const struct myr_device *device = w->it->device;
    double found = low && device->gemm_fp8 > 0 ? device->gemm_fp8 : device->gemm;
    double known = low && device->gemm_fp8 > 0 ? BENCHMARK_FP8 : BENCHMARK_BF16;
    double reached = w->c[low && device->gemm_fp8 > 0 ? FIT_GEMM_HOPPER_FP8 : FIT_GEMM_HOPPER];
    return found > 0 ? found * reached / known : reached;
}

void fit_work_rates(struct fit_work *w)
{
    static const uint8_t gemm[] = {FIT_GEMM_AMPERE, FIT_GEMM_HOPPER, FIT_GEMM_BLACKWELL};
    static const uint8_t fp8[] = {FIT_GEMM_AMPERE, FIT_GEMM_HOPPER_FP8, FIT_GEMM_BLACKWELL_FP8};
    static const uint8_t flash[] = {FIT_FLASH_AMPERE, FIT_FLASH_HOPPER, FIT_FLASH_BLACKWELL};
    static const uint8_t hbm[] = {FIT_HBM_AMPERE, FIT_HBM_HOPPER, FIT_HBM_BLACKWELL};
    const struct myr_device *device = w->it->device;
    enum myr_generation g = device->generation;
    bool sheet = device->extrapolated;
    if (!sheet) { /* a benchmark ran under the limit already */
        w->kernel *= 1 + w->c[FIT_POWER] * (device->power_w / device->usual_power_w - 1);
    }
    double share = sheet ? sheet_share(w, false) : w->c[gemm[g]];
    /* Of a device that only a benchmark tells of nothing is told faster than its best product. */
    w->best = sheet ? BENCHMARK_BF16 / w->c[FIT_GEMM_HOPPER] : 1e9;
    w->flops = device->bf16_flops * share * w->kernel;
    w->low_flops = w->flops;
    /* Devices that no run was measured on take the constant that a kernel sweep has pinned. */
    bool ampere = g == MYR_GENERATION_AMPERE && !device->extrapolated;
    double depth = w->c[ampere ? FIT_DEPTH_AMPERE : FIT_DEPTH];
    w->depth = depth / 700e12 * 132 / device->sm_count;
    switch (w->layout->precision) {
    case MYR_PRECISION_FP8:
    case MYR_PRECISION_MXFP8:
        w->low_flops =
            device->fp8_flops * (sheet ? sheet_share(w, true) : w->c[fp8[g]]) * w->kernel;
        w->cast_bytes =
            w->c[w->layout->precision == MYR_PRECISION_MXFP8                  ? FIT_CAST_MX
                 : w->recipe->of[MYR_CAPABILITY_SCALES] == MYR_SCALES_DELAYED ? FIT_CAST_FP8
                                                                              : FIT_CAST_CURRENT];
        break;
    case MYR_PRECISION_NVFP4:
        w->low_flops = device->fp4_flops * w->c[FIT_GEMM_BLACKWELL_FP4] * w->kernel;
        w->cast_bytes = w->c[FIT_CAST_MX];
        break;
    case MYR_PRECISION_FP32:
        w->flops /= 2; /* tf32 */
        w->low_flops = w->flops;
        break;
    case MYR_PRECISION_BF16:
    case MYR_PRECISION_FP16:
        break;
    }
    w->flash_flops = sheet ? w->flops * w->c[FIT_FLASH_HOPPER] / w->c[FIT_GEMM_HOPPER]
                           : device->bf16_flops * w->c[flash[g]] * w->kernel;
    if (w->it->stack->era == MYR_ERA_TORCH && w->cast_bytes > 0) {
        w->cast_bytes = w->c[FIT_CAST_TORCH];
    }
    if (w->it->stack->era == MYR_ERA_FSDP || w->it->stack->era == MYR_ERA_TORCH) {
        w->flash_flops *=
            w->c[w->it->stack->era == MYR_ERA_FSDP ? FIT_FLASH_PORTABLE : FIT_FLASH_TORCH];
    }
    w->bytes_per_s = device->memory_bytes_per_s * w->c[hbm[g]];
    w->passes = w->it->stack->era == MYR_ERA_FSDP ? w->c[FIT_EAGER_PASSES] : 1;
}
