#include "myriad/plan.h"

void myr_plan_svg(const struct myr_design *design, struct myr_buf *buf)
{
    struct myr_svg svg;
    myr_svg_begin(&svg, buf, 100, 100, myr_design_str(design, design->head->name));
    myr_svg_end(&svg);
}
