typedef int myr_text_placeholder;
