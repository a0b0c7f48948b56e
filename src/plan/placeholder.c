typedef int myr_plan_placeholder;
