# Each option of the scheduler that can be wrong, at its limits.
say() { echo "\$ $*"; myriad kubernetes schedule --kubeconfig gone "$@" 2>&1; echo "[$?]"; }
letters() { printf 'x%.0s' $(seq $1); }
for lease in x x/ /x x/y a.b-9/z a/b/c A/b a/B a_b/c "a/b c" "$(letters 99)/$(letters 100)" "$(letters 100)/$(letters 100)"; do
  say --lease "$lease"
done
say --lease x --alone
for hold in 90s 10m 2h long 5 -1s; do say --hold "$hold"; done
say --name "$(letters 60)"
say --name "$(letters 61)"
say --leaf-label a --leaf-label b --leaf-label c
say --leaf-label a --leaf-label b --leaf-label c --leaf-label d
