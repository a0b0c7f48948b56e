typedef int myr_fabric_placeholder;
