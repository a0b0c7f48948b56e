myriad completion bash > completion
. ./completion
# What the shell offers after these words; the last one is being typed.
offer() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _myriad
    echo "$*: ${COMPREPLY[*]-}"
}
offer myriad pl
offer myriad plan -o j
offer myriad plan --ex
offer myriad fit --model ''
offer myriad fit --device ''
offer myriad fit --schedule ''
