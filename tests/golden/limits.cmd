# Every option of every verb: what it is when absent, what it may be, and between which numbers.
myriad commands -o json > commands.json
cat > list.py <<'P'
import json
for verb in json.load(open("commands.json"))["commands"]:
    for row in verb["options"]:
        if not row["common"]:
            print(verb["name"], row["name"], row["type"], row["default"],
                  "|".join(row["choices"]) or "-", sep="\t")
P
python3 list.py | while IFS=$'\t' read -r verb name type default choices; do
  echo "$verb --$name: $type, $default, $choices"
  [ "$type" != number ] || myriad $verb --$name x 2>&1 </dev/null | sed -n '1s/.*x., /  /p'
done
# Every verb, with files and names that are not there: what it says. No server is asked: port 1.
# Left out: those that make folders, wait, or tell of this machine.
python3 - <<'P' > verbs.txt
import json
for verb in json.load(open("commands.json"))["commands"]:
    words = verb["operands"].replace("[", "").replace("]", "").split()
    if verb["answers"] and verb["name"] not in ("init", "init spec", "serve", "relay", "doctor",
                                                "agent", "bench gpu", "plan", "kubernetes schedule"):
        print(verb["name"], *["none"] * (len(words) - words.count("...")))
P
export MYRIAD_SERVER=http://127.0.0.1:1
while read -r words; do
  myriad $words < /dev/null > said.txt 2> err.txt; code=$?
  echo "$words: $code $(head -n 1 err.txt)" | sed "s, $,,"
done < verbs.txt
