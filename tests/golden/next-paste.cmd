# Lines to paste: folders of strange names, files called like options, standard input.
try() { # NAME: what is planned next, and that it runs and stays below out/
    printf 'name: "%s"\nservers: 16\nnetworks: {compute: {topology: rail, switch: mqm9790-ns2f}}\n' "$1" > s.yaml
    line=$(myriad plan s.yaml | sed -n 's/^next: //p')
    echo "$1: $line"
    mkdir -p at; cp s.yaml at; (cd at; eval "$line" > /dev/null; find . -name design.myr); rm -r at
}
try lab-16
try ..
try ../../x\ y
try .hidden
try '-x'
try '///'
try 'a / b'
try 'Berlin 3.1_b+c'
try '数据中心'
cp s.yaml ./-s.yaml
myriad plan -- -s.yaml | sed -n 's/^next: //p'
eval "$(myriad plan -- -s.yaml | sed -n 's/^next: //p')" > /dev/null; echo "exit $?"
myriad plan - < s.yaml | sed -n 's/^next: //p'
# A document for another verb: the verb is named, not an option that this one has not.
myriad plan s.yaml --out d > /dev/null
printf '{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":4096,"num_hidden_layers":32}' > config.json
myriad verify d/design.myr config.json 2>&1; echo "exit $?"
# Names that the design has: here there are no pods.
myriad route blast d/design.myr --of pod/0 2>&1; echo "exit $?"
hint=$(myriad route blast d/design.myr --of pod/0 2>&1 | sed -n 's/^hint: a device such as \(.*\), or a domain such as \(.*\)/\1,\2/p')
myriad route blast d/design.myr --of "$hint" > /dev/null; echo "exit $?"
