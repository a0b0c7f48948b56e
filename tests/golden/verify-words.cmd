# What is said of each case of the corpus, whose truth verify/corpus knows: here the words. In turn the
# answer for people (some in full), the one for programs, a binding, sheets; a checksum of each.
python3 - > cases <<'P'
import json, pathlib
for at, truth in enumerate(sorted(pathlib.Path("data/site").glob("*/truth.json"))):
    told, name = json.loads(truth.read_text()), truth.parent.name
    pathlib.Path(told["design"] + ".yaml").write_text(told["spec"])
    files = " ".join(f"{truth.parent}/{file}" for file in told["files"])
    print(f"{at % 4}|{name}|{told['design']}|{files}|{' '.join(told['options'])}")
P
mkdir said
while IFS='|' read -r turn name design files options; do
  [ -e $design ] || myriad plan $design.yaml --out $design > said/$name.plan 2>&1
  D=$design/design.myr
  case $turn in
    0) myriad verify $D $files $options ;;
    1) myriad verify $D $files $options --equivalent -o json ;;
    2) myriad bind $D $files --out said/$name.yaml ;;
    3) myriad verify orders $D $files $options --crews 2 --out said/$name.orders ;;
  esac > said/$name.$turn 2>&1
  echo "[$?]" >> said/$name.$turn
done < cases
find said -type f ! -name '*.plan' | LC_ALL=C sort | xargs cksum
cat said/eth400-*.0 said/field-ib*.0
