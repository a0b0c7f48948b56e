# bash completion for myriad
_myriad() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} words= names=
    COMPREPLY=()
    # '--name=value' comes as three words.
    if [[ $cur == '=' ]]; then
        cur=
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if ((COMP_CWORD == 1)); then
        command=
    elif ((COMP_CWORD > 2)); then
        case "$command ${COMP_WORDS[2]}" in
        esac
    fi
    case $command in
    '') names='fit plain' ;;
    'fit')
        case $prev in
        -g | --gpus) return ;;
        --free) return ;;
        -m | --model) COMPREPLY=($(compgen -W 'gpt3-175b llama3-8b' -- "$cur")); return ;;
        --out) return ;;
        --none) return ;;
        -c | --colour) COMPREPLY=($(compgen -W 'red green' -- "$cur")); return ;;
        --shape) COMPREPLY=($(compgen -W 'red green' -- "$cur")); return ;;
        -t | --tag) return ;;
        -o | --output) COMPREPLY=($(compgen -W 'table json' -- "$cur")); return ;;
        esac
        words='--help --gpus --free --model --out --none --deep --no-deep --shallow --no-shallow --colour --shape --tag --output --timing --no-timing'
        ;;
    'plain')
        case $prev in
        esac
        words='--help'
        ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        COMPREPLY=($(compgen -W "$names" -- "$cur"))
    fi
}
complete -o default -F _myriad myriad
