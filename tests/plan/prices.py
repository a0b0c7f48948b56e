#!/usr/bin/env python3
"""How far a total reaches, reckoned again from the lines of the bill.

    tests/plan/prices.py MYRIAD [SEED [COUNT]]

- in drawn specs with drawn prices: shares of lines and of estimated money, what is assumed, the
  lowest and the highest, and which main lines lack a price; where some do, no page, drawing or
  report shows a sum
- what the market's book quotes and assumes, and estimates of it beside other books; several
  currencies at their rates; suppliers' lists with validity, taxes and time of delivery
- a comparison and an optimum have no winner where main lines lack, where others supply what a
  figure needs, or where assumed prices decide
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILED = []
SLOWEST_S = 600
MAIN, ENOUGH = 0.05, 0.9
GAP = ("servers: 375\nserver: h200-8gpu\n"
       "networks: {compute: {fabric: roce, planes: 2}, service: , oob: }\n"
       "storage: {capacity: 12P, rate: best}\nprices: cn-2024-05\n")


def check(what, held):
    if not held:
        FAILED.append(what)


def run(myriad, *words, cwd=None):
    return subprocess.run([myriad, *map(str, words)], capture_output=True, text=True, cwd=cwd,
                          timeout=SLOWEST_S, check=False)


def plan(myriad, folder, spec, *options):
    path = folder / "spec.yaml"
    path.write_text(spec)
    done = run(myriad, "plan", path, "-o", "json", *options)
    if done.returncode not in (0, 1):
        check(f"{spec!r}: exit {done.returncode}: {done.stderr}", False)
        return None
    return json.loads(done.stdout)


def near(what, found, wanted, share=1e-9):
    check(f"{what}: {found}, by hand {wanted}",
          found is not None and abs(found - wanted) <= share * abs(wanted) + 0.0051)


def main_lines(bom):
    """Names of the lines without a price that are a twentieth of the estimate, or of no known cost
    though they are servers, switches or modules; all where too little of the money is priced."""
    whole = sum(row["estimate"] or 0 for row in bom)
    priced = sum(row["total"] for row in bom if row["total"] is not None)
    open_lines = [row for row in bom if row["total"] is None]
    names = [row["name"] for row in open_lines
             if row["basis"] == "estimated" and row["estimate"] >= MAIN * whole]
    unknown = [row["name"] for row in open_lines if row["basis"] == "none"
               and any(word in row["name"] for word in ("server", "switch", "transceiver"))]
    found = [row["name"] for row in open_lines if row["name"] in names + unknown]
    if not found and priced < ENOUGH * whole:
        found = [row["name"] for row in open_lines]
    return list(dict.fromkeys(found))


def look_at(what, answer):
    bom, said = answer["bom"], answer["totals"]["priced"]
    priced = [row for row in bom if row["total"] is not None]
    near(f"{what}: lines", said["lines"], len(priced) / len(bom), 0.001)
    for row in bom:
        check(f"{what}: basis of {row}", (row["basis"] in ("quoted", "assumed"))
              == (row["total"] is not None))
        if row["basis"] != "none":
            check(f"{what}: range of {row}",
                  row["estimate_low"] <= row["estimate"] <= row["estimate_high"])
            check(f"{what}: estimate of {row}", row["total"] in (None, row["estimate"]))
        if row["basis"] == "assumed":
            check(f"{what}: {row} has no rule", "assumed" in row["price_note"])
    total, whole = (sum(row[key] or 0 for row in bom) for key in ("total", "estimate"))
    near(f"{what}: total", answer["totals"]["cost"] or 0, total)
    if whole:
        check(f"{what}: money {said}", abs(said["money"] - total / whole) < 0.00051)
    near(f"{what}: assumed", said["assumed_cost"],
         sum(row["total"] for row in bom if row["basis"] == "assumed"))
    for key in ("estimate_low", "estimate", "estimate_high"):
        near(f"{what}: {key}", said[key], sum(row[key] or 0 for row in bom))
    names = main_lines(bom)
    wanted = "; ".join(names[:4]) + (f"; {len(names) - 4} more" if len(names) > 4 else "")
    check(f"{what}: lacking {said['lacking']!r}, by hand {wanted!r}",
          (said["lacking"] or "") == wanted)
    return names


def no_sum(what, myriad, folder, answer):
    """Nobody who looks at the page, the drawing or the report takes a part for the whole."""
    out = folder / "out"
    page = run(myriad, "plan", folder / "spec.yaml", "--out", out).stdout
    line = next(line for line in page.splitlines() if line.startswith("price "))
    check(f"{what}: {line}", "not known" in line or "unknown" in line)
    if not answer["totals"]["cost"]:
        return
    million = f"{answer['totals']['cost'] / 1e6:,.2f} M"
    for name in ("topology.svg", "report.html"):
        text = (out / name).read_text()
        tiles = text[:text.find("<h2")] if name == "report.html" else text
        check(f"{what}: {name} shows {million}", million not in tiles)


def drawn(myriad, folder, seed, count):
    rng = random.Random(seed)
    parts = ["h100-8gpu", "mqm9790-ns2f", "mma4z00-ns", "mms4x00-ns", "flash-22x15-cx7", "sn5600"]
    for _ in range(count):
        server = rng.choice(["h100-8gpu", "b200-8gpu", "h200-8gpu"])
        nets = ["compute: {fabric: %s}" % rng.choice(["infiniband", "roce"])]
        nets += [f"{net}: " for net in ("storage", "service", "oob") if rng.random() < 0.5]
        lines = [f"servers: {rng.choice([4, 32, 96])}", f"server: {server}",
                 f"networks: {{{', '.join(nets)}}}"]
        if "storage: " in nets:
            lines.append(f"storage: {{capacity_pb: {rng.choice([1, 5])}}}")
        if rng.random() < 0.4:
            lines.append("supplied: [servers]")
        prices = [f"{part}: {rng.choice([100, 9000, 250000])}" for part in parts
                  if rng.random() < 0.4]
        book = rng.choice([None, "cn-2024-05", "market-2026"])
        keys = ([f"book: {book}"] if book else []) + (
            [f"parts: {{{', '.join(prices)}}}"] if prices else [])
        lines += [f"prices: {{{', '.join(keys)}}}"] if keys else []
        spec = "\n".join(lines) + "\n"
        answer = plan(myriad, folder, spec)
        if answer:
            names = look_at(repr(spec), answer)
            wanted = "servers" if "supplied: [servers]" in lines else None
            check(f"{spec!r}: supplied", answer["totals"]["priced"]["supplied"] == wanted)
            if names:
                no_sum(repr(spec), myriad, folder, answer)


def published(myriad, folder):
    """The seed's bills are whole; the one without servers and switches is none."""
    for name, cost in (("h100-64", 48681100), ("h100-128", 76967300)):
        answer = plan(myriad, folder, (ROOT / "examples" / f"{name}.yaml").read_text())
        check(f"{name}: {answer['totals']}", answer["totals"]["cost"] == cost
              and answer["totals"]["priced"]["lacking"] is None
              and answer["totals"]["priced"]["money"] == 1
              and answer["totals"]["priced"]["assumed_cost"] == 0
              and "servers" in answer["totals"]["priced"]["supplied"])
    answer = plan(myriad, folder, GAP)
    names = look_at("a bill without its servers", answer)
    check(f"main lines {names}", "GPU server" in names)
    check(f"money {answer['totals']}", answer["totals"]["priced"]["money"] < 0.2)
    no_sum("a bill without its servers", myriad, folder, answer)
    whole = plan(myriad, folder, GAP.replace("cn-2024-05", "market-2026"))
    look_at("the same at market prices", whole)
    check(f"market {whole['totals']}", whole["totals"]["priced"]["lacking"] is None
          and whole["totals"]["currency"] == "USD")
    unit = {row["part"]: row["unit_price"] for row in whole["bom"]}
    near("converted", unit["FLASH-22X15.36-CX7"], 950000 / 7.2)
    near("by class", unit["ETH-12T8-64X200"], 64 * 200 * 1.1)
    # What the one book estimates is what the other assumes, at the rate between them.
    for row, other in zip(answer["bom"], whole["bom"]):
        if row["basis"] == "estimated":
            near(f"estimate of {row['part']}", row["estimate"], other["estimate"] * 7.2, 1e-4)


def currencies(myriad, folder):
    spec = ("servers: 32\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}}\n"
            "supplied: [servers]\nprices: {%s}\n")
    yuan = plan(myriad, folder, spec % "book: cn-2024-05")
    dollars = plan(myriad, folder, spec % "book: cn-2024-05, currency: USD, exchange: {CNY: 7.1}, "
                                          "exchange_date: 2026-09-01")
    for row, other in zip(dollars["bom"], yuan["bom"]):
        if other["unit_price"] is not None:
            check(f"{row}, {other}", abs(row["unit_price"] - other["unit_price"] / 7.1) <= 0.00501)
            check(f"note of {row}", "at 0.140845 of 2026-09-01" in row["price_note"])
    look_at("in dollars", dollars)
    (folder / "list.csv").write_text(
        "part,price,currency,date,valid_until,tax,lead_weeks,supplier\n"
        "MQM9790-NS2F,35000,USD,2026-08-01,2026-10-01,13 % included,12,Acme\n"
        "mma4z00-ns,900,EUR,2026-08-01,2027-01-01,,20,Acme\n")
    terms = "file: list.csv, currency: CNY, exchange: {CNY: 7, EUR: 0.9}, exchange_date: 2026-09-01"
    for date, rules in ((", date: 2026-10-01", False), (", date: 2026-10-02", True), ("", False)):
        answer = plan(myriad, folder, spec % (terms + date))
        unit = {row["part"]: row for row in answer["bom"]}
        near("of a list in dollars", unit["MQM9790-NS2F"]["unit_price"], 245000)
        near("of a list in euros", unit["MMA4Z00-NS"]["unit_price"], 900 * 7 / 0.9)
        check(f"weeks {answer['totals']['priced']}",
              answer["totals"]["priced"]["lead_weeks"] == 20)
        check(f"{unit['MQM9790-NS2F']['price_note']}", all(
            word in unit["MQM9790-NS2F"]["price_note"]
            for word in ("Acme", "2026-10-01", "13 % included", "12 weeks", "35,000.00 USD at 7")))
        check(f"expired on {date}", ("quote-expired" in {f["rule"] for f in answer["findings"]})
              == rules)
    for row, says in (("MQM9790-NS2F,1,USD,,2026-13-01,,,", "list.csv:2:21: 'valid_until'"),
                      ("MQM9790-NS2F,1,USD,,,,0,", "list.csv:2:23: 'lead_weeks'"),
                      ("MQM9790-NS2F,1,JPY,,,,,", "list.csv:1:1: prices in JPY")):
        (folder / "list.csv").write_text(
            "part,price,currency,date,valid_until,tax,lead_weeks,supplier\n" + row + "\n")
        (folder / "spec.yaml").write_text(spec % terms)
        done = run(myriad, "plan", folder / "spec.yaml")
        check(f"{row}: exit {done.returncode}, {done.stderr!r}",
              done.returncode == 2 and says in done.stderr)


def compared(myriad, folder):
    """No winner where nobody can know it; the bill alone has one where all lines are quoted."""
    def best(first, second, *options):
        paths = []
        for name, text in (("a", first), ("b", second)):
            paths.append(folder / f"{name}.yaml")
            paths[-1].write_text(text)
        done = run(myriad, "compare", *paths, "-o", "json", *options)
        check(f"compare: exit {done.returncode}: {done.stderr}", done.returncode == 0)
        rows = {row["row"]: row for row in json.loads(done.stdout)["rows"]}
        return {key: (rows[key]["best"], rows[key]["why"]) for key in rows}

    base = ("servers: %d\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}}\n%s"
            "prices: {parts: {mqm9790-ns2f: 208000%s}}\n")
    quoted = ", mma4z00-ns: 900, mma4z00-ns400: 500, mfp7e10-n050: 80"
    supplied = "supplied: [servers]\n"
    rows = best(base % (32, supplied, quoted), base % (64, supplied, quoted),
                "--model", "llama3-8b", "--batch", "256")
    check(f"all quoted {rows['capex']}", rows["capex"][0] == "a")
    check(f"supplied {rows['cost_per_mtoken']}", rows["cost_per_mtoken"][0] is None
          and "servers" in rows["cost_per_mtoken"][1])
    rows = best(base % (32, "", quoted), base % (64, "", quoted))
    check(f"servers lack {rows['capex']}", rows["capex"][0] is None
          and "GPU server" in rows["capex"][1])
    # The same book's assumed modules: a design with fewer of everything wins, one that trades
    # quoted switches for assumed modules does not.
    market = base.replace("prices: {parts: {mqm9790-ns2f: 208000%s}}",
                          "prices: {book: market-2026}%s")
    rows = best(market % (32, supplied, ""), market % (256, supplied, ""))
    check(f"fewer of all {rows['capex']}", rows["capex"][0] == "a")
    roce = market.replace("mqm9790-ns2f", "eth-25t6")
    rows = best(market % (64, supplied, ""), roce % (64, supplied, ""))
    check(f"assumed against quoted {rows['capex']}", rows["capex"][0] is None
          and "assumed prices decide" in rows["capex"][1])


def grown(myriad, folder):
    """What a phase costs is no sum where what is bought for most of the money has no price."""
    text = ("servers: %d\nserver: h200-8gpu\n%snetworks: {compute: {switch: mqm9790-ns2f}, oob: }\n"
            "prices: %s\n")
    for own, book, named in (("", "cn-2024-05", True), ("", "market-2026", False),
                             ("supplied: [servers]\n", "market-2026", False)):
        for name, servers in (("a", 40), ("b", 90)):
            (folder / f"{name}.yaml").write_text(text % (servers, own, book))
        done = run(myriad, "plan", "grow", folder / "a.yaml", folder / "b.yaml", "-o", "json")
        answer = json.loads(done.stdout)
        said = run(myriad, "plan", "grow", folder / "a.yaml", folder / "b.yaml").stdout
        check(f"grown {own}{book}: {answer['lacking']}", (answer["lacking"] is not None) == named)
        check(f"grown {own}{book}: said", ("not known: without a price" in said) == named)
        sums = [row["total"] for row in answer["buy"] if row["total"] is not None]
        check(f"grown {own}{book}: {answer['cost']}", abs(answer["cost"] - sum(sums)) < 0.01)
        check(f"grown {own}{book}: share {answer['priced_money']}",
              answer["priced_money"] < 0.9 if named else answer["priced_money"] == 1)


def optimise_as(myriad, folder, text):
    (folder / "spec.yaml").write_text(text)
    done = run(myriad, "plan", "optimise", folder / "spec.yaml", "-o", "json")
    answer = json.loads(done.stdout)
    check(f"exit status {done.returncode}", done.returncode == (answer["best"] is None))
    return answer


def optimised(myriad, folder):
    base = ("servers: 64\nserver: h100-8gpu\n%snetworks: {compute: {switch: mqm9790-ns2f}}\n"
            "prices: %s\noptimise: {objective: capex, choices: {oversubscription: [1, 1.05, 3]}}\n")
    found = {}
    for key, words in (("supplied", ("supplied: [servers]\n", "cn-2024-05")),
                       ("lacking", ("", "cn-2024-05")), ("market", ("", "market-2026"))):
        found[key] = optimise_as(myriad, folder, base % words)
    check("supplied has a best", found["supplied"]["best"] is not None)
    check("without servers there is none", found["lacking"]["best"] is None
          and found["lacking"]["points"]["unpriced"] == 3)
    check("at market prices there is one", found["market"]["best"] is not None)
    # Wherever assumed prices decide there is no best, and the parts are named; where the same
    # prices are the spec's own, there is one.
    rng, decided = random.Random(11), 0
    kinds = ("mqm9790-ns2f", "sn5600", "sn5610", "z9864f-on", "dcs-7060x6-64pe", "qfx5240-64od")
    for number in range(12):
        switches = rng.sample(kinds, 2)
        spec = (f"servers: {rng.randint(9, 400)}\nserver: h100-8gpu\nsupplied: [servers]\n"
                f"networks: {{compute: }}\nprices: %s\noptimise: {{objective: capex, choices: "
                f"{{switch: [{', '.join(switches)}]}}}}\n")
        found[number] = optimise_as(myriad, folder, spec % "market-2026")
        answer = found[number]
        if answer["assumed_decides"]:
            decided += 1
            own = "{book: market-2026, parts: {" + ", ".join(
                f"{part}: {rng.randint(900, 90000)}" for part in answer["decided_by"]) + "}}"
            quoted = optimise_as(myriad, folder, spec % own)
            check(f"{number}: quoted, {quoted['decided_by']}", not
                  set(quoted["decided_by"]) & set(answer["decided_by"]))
    check(f"{decided} decided by assumed prices", 0 < decided < 12)
    for key, answer in found.items():
        undecided = answer["assumed_decides"]
        check(f"{key}: {undecided}", undecided == (answer["might_be_cheaper"] is not None)
              == (answer["at_assumed_prices"] is not None) == bool(answer["decided_by"]))
        check(f"{key}: no best where assumed prices decide",
              not (undecided and answer["best"] is not None))


def main():
    myriad = str(pathlib.Path(sys.argv[1]).resolve())
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    with tempfile.TemporaryDirectory(prefix="myriad-prices-") as name:
        folder = pathlib.Path(name)
        published(myriad, folder)
        drawn(myriad, folder, seed, count)
        currencies(myriad, folder)
        compared(myriad, folder)
        optimised(myriad, folder)
        grown(myriad, folder)
    for what in FAILED[:40]:
        print("FAILED", what)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
