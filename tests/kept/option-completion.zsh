#compdef myriad
_myriad() {
    local -a found
    local command=$words[2]
    if ((CURRENT == 2)); then
        found=( 'fit:Fit it' 'plain:Nothing to choose; it'\''s all there')
        _describe command found
        return
    fi
    shift words
    ((CURRENT--))
    case $command in
    *) ;;
    esac
    case $command in
    'fit')
        _arguments '--help[Show help]' \
            '(-g --gpus)'{-g,--gpus}'[How many GPUs there are in the whole of the cluster, over all of its nodes and all of its pods, spare ones not counted]:N:' \
            '--free[How many are free]:NUMBER:' \
            '(-m --model)'{-m,--model}'[Which model'\''s file \[or name\]\: it'\''s "read"]:NAME:(gpt3-175b llama3-8b)' \
            '--out[Where files go]:DIR:_files' \
            '--none[No placeholder]:PATH:_files' \
            '(-d --deep)'{-d,--deep}'[Look deeper]' \
            '--no-deep[Not: Look deeper]' \
            '--shallow[Look at the surface]' \
            '--no-shallow[Not: Look at the surface]' \
            '(-c --colour)'{-c,--colour}'[Of the lines]:COLOUR:(red green)' \
            '--shape[Of the points]:NAME:(red green)' \
            '(-t --tag)'{-t,--tag}'[A word, may be given again]:TAG:' \
            '(-o --output)'{-o,--output}'[How the answer looks]:FORMAT:(table json)' \
            '--timing[Say how long it took]' \
            '--no-timing[Not: Say how long it took]' \
            '*:file:_files'
        ;;
    'plain')
        _arguments '--help[Show help]'
        ;;
    *) _files ;;
    esac
}
if [[ $funcstack[1] == _myriad ]]; then
    _myriad "$@"
else
    compdef _myriad myriad
fi
