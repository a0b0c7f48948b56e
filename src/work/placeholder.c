typedef int myr_work_placeholder;
