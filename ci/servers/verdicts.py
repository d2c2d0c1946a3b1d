"""Compares the verdicts on real servers with the committed ones, or writes those anew.

    verdicts.py compare|bless REPORTS EXPECTED TRANSPORT/NAME...

EXPECTED/TRANSPORT/NAME.txt has a line for each verdict that is neither pass nor skip: `case@revisions outcome  # reason`. The
revisions of one line have the outcome and the reason in common: `2024-11-05`, `2024-11-05..2025-11-25`, or several of
these with commas. Reasons are for people and are not compared; a line without one is refused. An outcome with a
question mark, `unproven?`, depends on when the server does something by itself, and may be a pass as well. Only the
revisions that the run tested are compared or written.
"""
import json
import pathlib
import sys
import xml.parsers.expat

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
GOOD = ("pass or skip", "")


class Unusable(Exception):
    """There is no verdict to compare, or a list cannot be read."""


def judged(reports, name):
    """The verdicts as {(case, revision): (outcome, draft of a reason)}, and the revisions that were tested."""
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
            verdicts[case["name"], case["revision"]] = (case["outcome"], draft[:160])
    return verdicts, revisions


def spread(revisions):
    """The revisions that a text as `2024-11-05..2025-06-18,2026-07-28` names."""
    for part in revisions.split(","):
        first, _, last = part.partition("..")
        begin, end = REVISIONS.index(first), REVISIONS.index(last or first)
        if end < begin:
            raise ValueError
        yield from REVISIONS[begin : end + 1]


def gathered(revisions):
    """The shortest such text for some revisions."""
    runs = []
    for place in sorted(map(REVISIONS.index, revisions)):
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return ",".join(REVISIONS[a] if a == b else f"{REVISIONS[a]}..{REVISIONS[b]}" for a, b in runs)


def read_list(text):
    """The verdicts of a list as {(case, revision): (outcome, reason)}."""
    verdicts = {}
    for number, line in enumerate(text.splitlines(), 1):
        entry, _, reason = line.partition("#")
        if not entry.strip():
            continue
        try:
            where, outcome = entry.split()
            case, revisions = where.split("@")
            keys = [(case, revision) for revision in spread(revisions)]
        except ValueError:
            raise Unusable(f"line {number} is no `case@revisions outcome  # reason`: {line}") from None
        for key in keys:
            if key in verdicts:
                raise Unusable(f"line {number} names {'@'.join(key)} a second time")
            verdicts[key] = (outcome, reason.strip())
    return verdicts


def write_list(verdicts):
    """The list of these verdicts: by case, then by the first revision of the line."""
    lines = {}
    for (case, revision), (outcome, reason) in sorted(verdicts.items()):
        lines.setdefault((case, outcome, reason), []).append(revision)
    return "".join(
        f"{case}@{gathered(revisions)} {outcome}  # {reason}\n" for (case, outcome, reason), revisions in lines.items()
    )


def is_moody(listed, outcome):
    return listed.endswith("?") and outcome in (listed[:-1], GOOD[0])


def differences(found, listed):
    """What differs, a line for each case and difference."""
    now, revisions = found
    keys = {key for key in now.keys() | listed.keys() if key[1] in revisions}
    lines = {}
    for case, revision in sorted(keys):
        outcome, draft = now.get((case, revision), GOOD)
        outcome_before, reason = listed.get((case, revision), GOOD)
        if outcome == "broken" or is_moody(outcome_before, outcome):
            continue
        if outcome != outcome_before:
            what = f"expected {outcome_before}, got {outcome}" + (f": {draft}" if draft else "")
        elif outcome != GOOD[0] and not reason:
            what = f"the list gives no reason for {outcome}"
        else:
            continue
        lines.setdefault((case, what), []).append(revision)
    return [f"  {case}@{gathered(revisions)}: {what}" for (case, what), revisions in lines.items()]


def broken(found):
    return [f"! {case}@{revision} broken: {why}" for (case, revision), (what, why) in found[0].items() if what == "broken"]


def reason_for(key, outcome, draft, listed):
    """The reason that the list gives for this outcome of the case, at the revision or at the nearest one; else the draft."""
    case, revision = key
    place = REVISIONS.index(revision)
    others = sorted(REVISIONS, key=lambda other: (abs(REVISIONS.index(other) - place), other))
    reasons = (listed[case, other][1] for other in others if listed.get((case, other), GOOD)[0] == outcome)
    return next(filter(None, reasons), draft)


def blessed(found, listed):
    """The verdicts to list from now on."""
    now, revisions = found
    untested = {key: entry for key, entry in listed.items() if key[1] not in revisions}
    moody = {key: entry for key, entry in listed.items() if is_moody(entry[0], now.get(key, GOOD)[0])}
    tested = {key: (outcome, reason_for(key, outcome, draft, listed)) for key, (outcome, draft) in now.items()}
    return {**untested, **tested, **moody}


def main(mode, reports, lists, *names):
    red = 0
    for name in names:
        path = pathlib.Path(lists) / f"{name}.txt"
        try:
            found = judged(pathlib.Path(reports), name)
            listed = read_list(path.read_text()) if path.exists() else {}
        except (Unusable, OSError, ValueError, KeyError, xml.parsers.expat.ExpatError) as error:
            print(f"{name}: no verdict: {error}")
            red += 1
            continue
        lines = broken(found)
        if mode == "bless":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write_list(blessed(found, listed)))
        else:
            lines += differences(found, listed)
        if lines:
            print(f"{name}: {len(lines)} differences")
            print("\n".join(lines))
            red += 1
    print(f"{len(names) - red} as expected, {red} not")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
