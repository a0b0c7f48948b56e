# What looks like progress is left out of standard error alone: in an answer it is part of it.
line() { printf 'pairs of nodes  50 %%  1,200/2,400  600 k/s\n'; }
line
line >&2
echo "after" >&2
