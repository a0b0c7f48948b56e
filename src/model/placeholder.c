typedef int myr_model_placeholder;
