"""Compares the verdicts on real servers with the committed ones, or writes those anew.

    verdicts.py compare|bless REPORTS EXPECTED NAME...

EXPECTED/NAME.txt has one line for each verdict that is neither pass nor skip: `case@revision outcome  # reason`.
Reasons are for people and are not compared; a line without one is refused. An outcome with a question mark,
`unproven?`, depends on when the server does something by itself, and may be a pass as well. Only the revisions that the run tested are
compared or written.
"""
import json
import pathlib
import sys
import xml.parsers.expat


class Unusable(Exception):
    """There is no verdict to compare."""


def judged(reports, name):
    """The verdicts as {key: (outcome, draft of a reason)}, and the revisions that were tested."""
    status = (reports / f"{name}.status").read_text().strip()
    if status not in ("0", "1"):
        log = (reports / f"{name}.log").read_text(errors="replace").splitlines()[-20:]
        what = "it took more than its time" if status == "timeout" else f"exit code {status}"
        raise Unusable("\n    ".join([what, *log]))
    record = json.loads((reports / f"{name}.json").read_text())
    xml.parsers.expat.ParserCreate().Parse((reports / f"{name}.xml").read_bytes(), True)
    verdicts, revisions = {}, set()
    for case in record["cases"]:
        revisions.add(case["revision"])
        if case["outcome"] not in ("pass", "skip"):
            found = case["findings"][0]["title"] if case["findings"] else case["reason"] or "?"
            draft = " ".join(found.split())
            verdicts[f'{case["name"]}@{case["revision"]}'] = (case["outcome"], draft[:160])
    return verdicts, revisions


def expected(path):
    """The verdicts of a committed list, with the reasons as written."""
    verdicts = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        entry, _, reason = line.partition("#")
        words = entry.split()
        if len(words) != 2:
            continue
        verdicts[words[0]] = (words[1], reason.strip())
    return verdicts


def tested(key, revisions):
    return key.rpartition("@")[2] in revisions


def is_moody(listed, outcome):
    return listed.endswith("?") and outcome in (listed[:-1], "pass or skip")


def differences(found, listed):
    now, revisions = found
    before = {key: entry for key, entry in listed.items() if tested(key, revisions)}
    for key in sorted(now.keys() | before.keys()):
        outcome, draft = now.get(key, ("pass or skip", ""))
        outcome_before, reason = before.get(key, ("pass or skip", ""))
        if outcome == "broken":
            yield f"! {key} broken: {draft}"
        elif is_moody(outcome_before, outcome):
            continue
        elif outcome != outcome_before:
            yield f"  {key}: expected {outcome_before}, got {outcome}" + (f": {draft}" if draft else "")
        elif not reason:
            yield f"  {key}: the list gives no reason for {outcome}"


def bless(path, found, listed):
    now, revisions = found
    others = {key: entry for key, entry in listed.items() if not tested(key, revisions)}
    lines = []
    seen = {key: now.get(key, ("pass or skip", ""))[0] for key in listed}
    moody = {key: entry for key, entry in listed.items() if is_moody(entry[0], seen[key])}
    for key, (outcome, draft) in sorted({**others, **now, **moody}.items()):
        outcome_before, reason = listed.get(key, (None, ""))
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
        lines = broken if mode == "bless" else list(differences(found, expected(path)))
        if lines:
            print(f"{name}: {len(lines)} differences")
            print("\n".join(lines))
            red += 1
    print(f"{len(names) - red} servers as expected, {red} not")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
