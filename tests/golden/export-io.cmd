# Storage on the network of the GPUs, and tables of it: whom a subnet manager takes for what.
