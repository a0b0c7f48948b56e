# Three small designs that differ in size, technology, prices and currency, as people read them.
spec() {
    printf '%s\n' "name: $1" "servers: $2" "server: h100-8gpu" "supplied: [servers]" \
        "networks: {compute: {$3}}" "$4"
}
spec small 8 'fabric: infiniband' 'prices: cn-2024-05' > a.yaml
spec "'wide <&> \"x\"'" 12 'fabric: roce, switch: sn5600' 'prices: cn-2024-05' > b.yaml
spec plain 5 'fabric: roce, switch: sn5600' 'prices: {file: list.csv}' > c.yaml
printf 'part,price,currency\nsn5600,1000,USD\n' > list.csv
words="--workload allreduce:1MB"
myriad compare a.yaml b.yaml c.yaml $words -o table
COLUMNS=400 myriad compare a.yaml b.yaml c.yaml $words -o wide
myriad compare a.yaml b.yaml c.yaml $words --report page.html --picture p.svg > told
sed '/<style>/d;/^@media/d' p.svg
python3 - page.html p.svg <<'END'
import html.parser, re, sys, xml.dom.minidom
class Page(html.parser.HTMLParser):
    open, cells = [], []
    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)
        self.cells += [0] if tag == "tr" else []
        if tag in ("td", "th"):
            self.cells[-1] += 1
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())
page = Page()
text, picture = (open(name).read() for name in sys.argv[1:])
page.feed(text)
page.close()
print("left open", page.open, "cells a row", sorted(set(page.cells)))
xml.dom.minidom.parseString(picture)
text = text.replace(picture[picture.index("<svg"):], "[the picture]\n")
print(re.sub("<style>.*?</style>", "", text, flags=re.S), end="")
END
