# Whoever prints says when nobody can read it: a full disk is an error, a closed pipe is none that
# is worth a word, and neither looks as if all were well.
for words in version --version --help help 'help plan' 'plan --help' 'man plan' 'completion bash' \
             commands 'catalog --kind switch' 'catalog -o json' 'fit models' 'export --list'; do
  myriad $words > /dev/full; echo "$words to a full disk: $?"
done 2>&1
for words in version help 'catalog -o json'; do
  myriad $words >&-; echo "$words to nowhere: $?"
done 2>&1
