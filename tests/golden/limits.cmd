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
