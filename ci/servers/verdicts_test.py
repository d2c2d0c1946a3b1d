"""What verdicts.py makes of small lists and records, and of the committed lists."""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import verdicts

ALL = set(verdicts.REVISIONS)


def found(text, revisions=ALL):
    """Verdicts as a run finds them, written as a list; the reasons stand for the drafts."""
    return verdicts.read_list(text), revisions


class Revisions(unittest.TestCase):
    def test_neighbours_are_a_range_and_holes_have_commas(self):
        for revisions in ("2024-11-05", "2024-11-05..2025-11-25", "2024-11-05,2025-06-18..2026-07-28"):
            self.assertEqual(verdicts.gathered(verdicts.spread(revisions)), revisions)

    def test_a_range_covers_what_lies_between(self):
        self.assertEqual(list(verdicts.spread("2024-11-05..2025-06-18")), verdicts.REVISIONS[:3])

    def test_unknown_and_reversed_revisions_are_refused(self):
        for revisions in ("2024-11-06", "2025-06-18..2024-11-05", ""):
            with self.assertRaises(ValueError):
                list(verdicts.spread(revisions))


class Lists(unittest.TestCase):
    def test_lines_that_say_the_same_become_one(self):
        apart = "a/b@2024-11-05 fail  # why\na/b@2025-03-26 fail  # why\na/b@2025-06-18 fail  # else\n"
        together = "a/b@2024-11-05..2025-03-26 fail  # why\na/b@2025-06-18 fail  # else\n"
        self.assertEqual(verdicts.write_list(verdicts.read_list(apart)), together)

    def test_what_is_no_line_is_refused_by_its_number(self):
        for line in ("a/b fail  # why", "a/b@2024-11-05  # why", "a/b@2024-11-05..x fail  # why"):
            with self.assertRaisesRegex(verdicts.Unusable, "line 2"):
                verdicts.read_list(f"# a remark\n{line}\n")

    def test_a_verdict_stands_once(self):
        with self.assertRaisesRegex(verdicts.Unusable, "a second time"):
            verdicts.read_list("a/b@2024-11-05..2025-06-18 fail  # why\na/b@2025-03-26 advice  # why\n")

    def test_committed_lists_are_as_bless_writes_them_with_a_reason_for_all(self):
        committed = sorted((pathlib.Path(__file__).parent / "expected").glob("*/*.txt"))
        self.assertGreaterEqual(len(committed), 10)
        for path in committed:
            text = path.read_text()
            listed = verdicts.read_list(text)
            self.assertEqual(verdicts.write_list(listed), text, path)
            self.assertEqual([key for key, (_, reason) in listed.items() if not reason], [], path)


class Comparison(unittest.TestCase):
    def test_equal_verdicts_do_not_differ_whatever_the_reasons(self):
        listed = verdicts.read_list("a/b@2024-11-05..2025-11-25 fail  # by hand\n")
        self.assertEqual(verdicts.differences(found("a/b@2024-11-05..2025-11-25 fail  # draft\n"), listed), [])

    def test_differences_of_a_kind_share_a_line(self):
        listed = verdicts.read_list("a/b@2024-11-05..2025-11-25 fail  # by hand\n")
        now = found("a/b@2024-11-05 fail  # x\na/b@2025-03-26..2025-06-18 advice  # draft\n")
        self.assertEqual(
            verdicts.differences(now, listed),
            [
                "  a/b@2025-03-26..2025-06-18: expected fail, got advice: draft",
                "  a/b@2025-11-25: expected fail, got pass or skip",
            ],
        )

    def test_revisions_that_were_not_tested_are_left_alone(self):
        listed = verdicts.read_list("a/b@2024-11-05..2025-11-25 fail  # by hand\n")
        self.assertEqual(verdicts.differences(found("a/b@2025-11-25 fail  # x\n", {"2025-11-25"}), listed), [])

    def test_a_question_mark_allows_a_pass_and_nothing_worse(self):
        listed = verdicts.read_list("a/b@2024-11-05 unproven?  # by its clock\n")
        self.assertEqual(verdicts.differences(found(""), listed), [])
        self.assertEqual(verdicts.differences(found("a/b@2024-11-05 unproven  # x\n"), listed), [])
        self.assertEqual(len(verdicts.differences(found("a/b@2024-11-05 fail  # x\n"), listed)), 1)

    def test_a_missing_reason_is_a_difference(self):
        listed = verdicts.read_list("a/b@2024-11-05 fail\n")
        self.assertEqual(
            verdicts.differences(found("a/b@2024-11-05 fail  # x\n"), listed),
            ["  a/b@2024-11-05: the list gives no reason for fail"],
        )


class Blessing(unittest.TestCase):
    def bless(self, now, listed, revisions=ALL):
        return verdicts.write_list(verdicts.blessed(found(now, revisions), verdicts.read_list(listed)))

    def test_a_reason_is_kept_for_the_same_outcome_and_spans_further_revisions(self):
        listed = "a/b@2025-03-26 fail  # by hand\n"
        self.assertEqual(
            self.bless("a/b@2024-11-05..2025-11-25 fail  # draft\n", listed),
            "a/b@2024-11-05..2025-11-25 fail  # by hand\n",
        )

    def test_another_outcome_gets_the_draft(self):
        listed = "a/b@2024-11-05 fail  # by hand\n"
        self.assertEqual(self.bless("a/b@2024-11-05 advice  # draft\n", listed), "a/b@2024-11-05 advice  # draft\n")

    def test_of_two_reasons_the_nearest_is_taken(self):
        listed = "a/b@2024-11-05 fail  # early\na/b@2025-11-25 fail  # late\n"
        self.assertEqual(
            self.bless("a/b@2024-11-05..2026-07-28 fail  # draft\n", listed),
            "a/b@2024-11-05..2025-03-26 fail  # early\na/b@2025-06-18..2026-07-28 fail  # late\n",
        )

    def test_what_was_not_tested_stays_and_what_passes_now_goes(self):
        listed = "a/b@2024-11-05..2025-03-26 fail  # by hand\n"
        self.assertEqual(self.bless("", listed, {"2025-03-26"}), "a/b@2024-11-05 fail  # by hand\n")

    def test_a_question_mark_stays_until_something_else_is_found(self):
        listed = "a/b@2024-11-05 unproven?  # by its clock\n"
        self.assertEqual(self.bless("", listed), listed)
        self.assertEqual(self.bless("a/b@2024-11-05 unproven  # draft\n", listed), listed)
        self.assertEqual(self.bless("a/b@2024-11-05 fail  # draft\n", listed), "a/b@2024-11-05 fail  # draft\n")


class Command(unittest.TestCase):
    def run_on(self, mode, cases, listed, status="1"):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "one.status").write_text(status)
            (place / "one.log").write_text("the last words\n")
            (place / "one.xml").write_text("<testsuites/>")
            (place / "one.json").write_text(json.dumps({"cases": cases}))
            (place / "one.txt").write_text(listed)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                code = verdicts.main(mode, folder, folder, "one")
            return code, out.getvalue(), (place / "one.txt").read_text()

    def case(self, outcome, reason=None):
        return {"name": "a/b", "revision": "2025-06-18", "outcome": outcome, "reason": reason, "findings": []}

    def test_a_record_is_compared_and_blessed(self):
        code, out, listed = self.run_on("compare", [self.case("fail", "two\nlines")], "")
        self.assertEqual((code, listed), (1, ""))
        self.assertIn("a/b@2025-06-18: expected pass or skip, got fail: two lines", out)
        code, _, listed = self.run_on("bless", [self.case("fail", "two\nlines")], "")
        self.assertEqual((code, listed), (0, "a/b@2025-06-18 fail  # two lines\n"))
        self.assertEqual(self.run_on("compare", [self.case("fail", "other")], listed)[0], 0)

    def test_a_broken_case_is_red_even_when_it_is_listed(self):
        for mode in ("compare", "bless"):
            code, out, _ = self.run_on(mode, [self.case("broken", "ours")], "a/b@2025-06-18 broken  # known\n")
            self.assertEqual(code, 1)
            self.assertIn("! a/b@2025-06-18 broken: ours", out)

    def test_a_run_without_verdicts_is_red_and_shows_its_last_words(self):
        code, out, _ = self.run_on("compare", [], "", status="timeout")
        self.assertEqual(code, 1)
        self.assertIn("the last words", out)


if __name__ == "__main__":
    unittest.main()
