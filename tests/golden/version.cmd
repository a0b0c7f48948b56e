myriad --version | sed -E 's/[0-9]+(\.[0-9]+){2}( \([0-9a-f]{7}\))?$/VERSION/'
