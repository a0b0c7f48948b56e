myriad bench gpu --dry-run --quick
myriad bench gpu --dry-run --quick --device h100 -o json
myriad bench gpu --dry-run --device h1000
