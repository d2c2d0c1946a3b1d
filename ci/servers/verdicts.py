"""Compares the verdicts on real servers with the committed ones, or writes those anew.

    verdicts.py compare|bless REPORTS EXPECTED NAME...

EXPECTED/NAME.txt has one line for each verdict that is neither pass nor skip: `case@revision outcome  # reason`, and
the number of skips. Reasons are for people and are not compared; a line without one is refused.
"""
import json
import pathlib
import sys
import xml.parsers.expat


class Unusable(Exception):
    """There is no verdict to compare."""


def judged(reports, name):
    """The verdicts as {key: (outcome, draft of a reason)}, and the number of skips."""
    status = (reports / f"{name}.status").read_text().strip()
    if status not in ("0", "1"):
        log = (reports / f"{name}.log").read_text(errors="replace").splitlines()[-20:]
        what = "it took more than its time" if status == "timeout" else f"exit code {status}"
        raise Unusable("\n    ".join([what, *log]))
    record = json.loads((reports / f"{name}.json").read_text())
    xml.parsers.expat.ParserCreate().Parse((reports / f"{name}.xml").read_bytes(), True)
    verdicts, skips = {}, 0
    for case in record["cases"]:
        if case["outcome"] == "skip":
            skips += 1
        elif case["outcome"] != "pass":
            found = case["findings"][0]["title"] if case["findings"] else case["reason"] or "?"
            draft = " ".join(found.split())
            verdicts[f'{case["name"]}@{case["revision"]}'] = (case["outcome"], draft[:160])
    return verdicts, skips


def expected(path):
    """The same from a committed list, with the reasons as written."""
    verdicts, skips = {}, None
    for line in path.read_text().splitlines() if path.exists() else []:
        entry, _, reason = line.partition("#")
        words = entry.split()
        if len(words) != 2:
            continue
        if words[0] == "skip":
            skips = int(words[1])
        else:
            verdicts[words[0]] = (words[1], reason.strip())
    return verdicts, skips


def differences(name, found, listed):
    (now, skips), (before, skips_before) = found, listed
    for key in sorted(now.keys() | before.keys()):
        outcome, draft = now.get(key, ("pass or skip", ""))
        outcome_before, reason = before.get(key, ("pass or skip", ""))
        if outcome == "broken":
            yield f"! {key} broken: {draft}"
        elif outcome != outcome_before:
            yield f"  {key}: expected {outcome_before}, got {outcome}" + (f": {draft}" if draft else "")
        elif not reason:
            yield f"  {key}: the list gives no reason for {outcome}"
    if skips != skips_before:
        yield f"  skipped: expected {skips_before}, got {skips}"


def bless(path, found, listed):
    (now, skips), (before, _) = found, listed
    lines = [f"skip {skips}"]
    for key, (outcome, draft) in sorted(now.items()):
        outcome_before, reason = before.get(key, (None, ""))
        lines.append(f"{key} {outcome}  # {reason if outcome_before == outcome and reason else draft}")
    path.write_text("\n".join(lines) + "\n")


def main(mode, reports, lists, *names):
    red = 0
    for name in names:
        path = pathlib.Path(lists) / f"{name}.txt"
        try:
            found = judged(pathlib.Path(reports), name)
        except (Unusable, OSError, ValueError, KeyError, xml.parsers.expat.ExpatError) as error:
            print(f"{name}: no verdict: {error}")
            red += 1
            continue
        if mode == "bless":
            path.parent.mkdir(exist_ok=True)
            bless(path, found, expected(path))
        broken = [f"! {key} broken: {draft}" for key, (outcome, draft) in found[0].items() if outcome == "broken"]
        lines = broken if mode == "bless" else list(differences(name, found, expected(path)))
        if lines:
            print(f"{name}: {len(lines)} differences")
            print("\n".join(lines))
            red += 1
    print(f"{len(names) - red} servers as expected, {red} not")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
