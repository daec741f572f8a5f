"""Loading: which files are scripts, and what they hold is what they say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memsim.errors import ScenarioError
from memsim.scenario import Scenario, Turn, load_scenarios

Load = Callable[[str], Scenario]

HELLO = "turns:\n  - user: Hello.\n"


def turns(scenario: Scenario, seed: int = 0) -> list[Turn]:
    """The turns of a scenario."""
    return [event for event in scenario.events(seed) if isinstance(event, Turn)]


class TestFolders:
    """A folder is searched; a file is taken at its word."""

    def write(self, folder: Path, name: str, text: str) -> Path:
        """A file below a folder."""
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def test_every_script_below_a_folder_is_found_in_order(self, tmp_path: Path) -> None:
        """Recursive, sorted by path, `.yml` as well."""
        for name in ("b.yaml", "a/z.yml", "c/d/e.yaml"):
            stem = Path(name).stem
            self.write(tmp_path, name, f"memsim: 1\nname: {stem}\n{HELLO}")

        assert ["z", "b", "e"] == [found.name for found in load_scenarios(tmp_path)]

    @pytest.mark.parametrize(
        "text",
        [
            "services:\n  web: &a {image: x}\n  db: *a\n",
            "# memsim: 1 is what this file is not\nname: other\n",
            "!!python/object:x {}\n",
            "a: [\n",
            "",
        ],
    )
    def test_other_yaml_in_a_folder_is_left_alone(self, tmp_path: Path, text: str) -> None:
        """A folder may hold other people's YAML, even broken."""
        self.write(tmp_path, "other.yaml", text)

        assert load_scenarios(tmp_path) == []

    @pytest.mark.parametrize(
        "data",
        [
            f"memsim: 1\nnam: x\n{HELLO}".encode(),
            f"name: x\n{HELLO}memsim: 1\n".encode(),
            f"memsim: 1\nname: x\n{HELLO}".encode("utf-16"),
            b"\xef\xbb\xbfmemsim: 1\n",
            b"{memsim: 1, nam: x}\n",
            b'"memsim": 1\n',
        ],
    )
    def test_a_broken_script_in_a_folder_is_an_error(self, tmp_path: Path, data: bytes) -> None:
        """Whatever has the key means to be a script, and is not passed over in silence."""
        (tmp_path / "script.yaml").write_bytes(data)

        with pytest.raises(ScenarioError, match=r"script\.yaml"):
            load_scenarios(tmp_path)

    def test_a_named_file_without_the_key_is_an_error(self, tmp_path: Path) -> None:
        """Someone who names a file means it."""
        path = self.write(tmp_path, "other.yaml", "name: other\n")

        with pytest.raises(ScenarioError, match="does not begin with memsim: 1"):
            load_scenarios(path)

    def test_hidden_folders_and_files_are_left_out(self, tmp_path: Path) -> None:
        """What a tool keeps in a dotted folder is not the user's."""
        self.write(tmp_path, ".cache/a.yaml", "memsim: 9\n")
        self.write(tmp_path, ".b.yaml", "memsim: 9\n")

        assert load_scenarios(tmp_path) == []

    def test_a_link_to_a_folder_is_followed(self, tmp_path: Path) -> None:
        """Scenarios that are shared by a link are as much the project's as its own."""
        self.write(tmp_path, "shared/a.yaml", f"memsim: 1\nname: a\n{HELLO}")
        (tmp_path / "scenarios").mkdir()
        (tmp_path / "scenarios" / "all").symlink_to(tmp_path / "shared")

        assert ["a"] == [s.name for s in load_scenarios(tmp_path / "scenarios")]

    @pytest.mark.parametrize("name", ["lost.yaml", "lost.yml", "folder"])
    def test_a_link_that_leads_nowhere_is_an_error(self, tmp_path: Path, name: str) -> None:
        """What it was to bring would otherwise be left out in silence."""
        (tmp_path / name).symlink_to("gone")

        with pytest.raises(ScenarioError) as caught:
            load_scenarios(tmp_path)

        assert f"{tmp_path / name}: is a link to nothing: 'gone' is not there" == str(caught.value)

    def test_a_link_that_is_no_scenario_may_lead_nowhere(self, tmp_path: Path) -> None:
        """A picture or an editor's lock beside the scripts is not ours to judge."""
        (tmp_path / "notes.txt").symlink_to("gone")
        (tmp_path / ".#open.yaml").symlink_to("gone")

        assert load_scenarios(tmp_path) == []

    def test_a_link_to_itself_is_an_error(self, tmp_path: Path) -> None:
        """It is no file, and someone meant it to be one."""
        (tmp_path / "round.yaml").symlink_to("round.yaml")

        with pytest.raises(ScenarioError, match=r"round\.yaml: cannot be read"):
            load_scenarios(tmp_path)

    @pytest.mark.parametrize(("link", "target"), [("deep/up", ".."), ("up", "../..")])
    def test_a_link_round_in_a_circle_is_an_error(
        self, tmp_path: Path, link: str, target: str
    ) -> None:
        """The way through it has no end; the error names the link."""
        top = tmp_path / "below" / "scenarios"
        (top / "deep").mkdir(parents=True)
        (top / link).symlink_to(target)

        with pytest.raises(ScenarioError, match=f"{link}: is a link to one of its own parents"):
            load_scenarios(top)

    def test_links_that_lead_round_to_one_another_are_an_error(self, tmp_path: Path) -> None:
        """Neither leads upwards by itself."""
        for name, link, target in (("a", "b", "../c"), ("c", "d", "../a")):
            (tmp_path / name).mkdir()
            (tmp_path / name / link).symlink_to(target)

        with pytest.raises(ScenarioError, match="a/b/d: is a link to one of its own parents"):
            load_scenarios(tmp_path)

    def test_two_scenarios_of_one_name_are_an_error_that_names_both(self, tmp_path: Path) -> None:
        """A name in a report must mean one scenario; case does not tell two apart."""
        self.write(tmp_path, "a.yaml", f"memsim: 1\nname: same\n{HELLO}")
        self.write(tmp_path, "b.yaml", f"memsim: 1\n\nname: Same\n{HELLO}")

        with pytest.raises(ScenarioError) as caught:
            load_scenarios(tmp_path)

        first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
        assert f"{second}:3: the name 'Same' is also that of {first}" == str(caught.value)

    def test_a_file_that_is_not_there_says_so(self, tmp_path: Path) -> None:
        """One line with the path, as the user gave it."""
        path = tmp_path / "absent.yaml"

        with pytest.raises(ScenarioError) as caught:
            load_scenarios(path)

        assert f"{path}: cannot be read: No such file or directory" == str(caught.value)

    def test_a_path_that_cannot_be_one_is_an_error(self) -> None:
        """A NUL in a path is the user's mistake and not ours."""
        with pytest.raises(ScenarioError, match="cannot be read"):
            load_scenarios("a\x00b.yaml")


class TestHead:
    """The keys before the turns."""

    def test_defaults(self, load: Load) -> None:
        """A script may be two keys and a turn."""
        scenario = load(HELLO)

        assert ("example", 1, (), ("user",), None, {}) == (
            scenario.name,
            scenario.turns,
            scenario.probes,
            scenario.principals,
            scenario.budget,
            scenario.expect,
        )

    @pytest.mark.parametrize(
        ("written", "tokens"), [("4k", 4096), ("4096", 4096), ("1", 1), ("1.5k", 1536)]
    )
    def test_budget(self, load: Load, written: str, tokens: int) -> None:
        """A k is 1,024 tokens."""
        assert load(f"budget: {written}\n{HELLO}").budget == tokens

    def test_bounds_know_their_lines(self, load: Load) -> None:
        """A failed bound is shown with its place."""
        scenario = load(f'{HELLO}expect:\n  recall: ">= 0.80"\n  recall@10: "> 50%"\n')

        assert {"recall": ">= 0.80", "recall@10": "> 50%"} == scenario.expect
        assert {"recall": 6, "recall@10": 7} == scenario.expect_lines

    def test_principals_may_be_a_list_or_a_mapping(self, load: Load) -> None:
        """Both say the same."""
        assert load(f"principals: [ana, ben]\n{HELLO}").principals == ("ana", "ben")
        assert load(f"principals: {{ana: {{}}, ben: {{}}}}\n{HELLO}").principals == ("ana", "ben")

    def test_start_and_pace_set_the_clock(self, load: Load) -> None:
        """Turn n is n - 1 paces after the start, in UTC."""
        scenario = load(
            "start: 2026-03-02T09:00:00+02:00\npace: 90s\n"
            "turns:\n  - user: One.\n  - filler: 2\n  - user: Two.\n"
        )

        start = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
        assert [start + timedelta(seconds=90 * n) for n in range(4)] == [
            turn.time for turn in turns(scenario)
        ]

    def test_tags_are_kept(self, load: Load) -> None:
        """They select scenarios."""
        assert load(f"tags: [slow, privacy]\n{HELLO}").tags == ("slow", "privacy")


class TestText:
    """What is written is what is said."""

    @pytest.mark.parametrize(
        "written",
        [
            "no",
            "on",
            "010",
            "0x1F",
            "12:30:45",
            "1_000",
            ".inf",
            "2026-03-02",
            "1e3",
            "TRUE",
            "1.50",
        ],
    )
    def test_nothing_is_turned_into_something_else(self, load: Load, written: str) -> None:
        """YAML 1.1's numbers, dates and truths stay the words that they are."""
        scenario = load(
            f"turns:\n  - user: It is {written} here.\n    facts: {{it: {written}}}\n"
            f"probes:\n  it: {{ask: What is it?, expect: {written}}}\n"
        )

        (turn,) = turns(scenario)
        assert written == turn.facts[0].value
        assert (written,) == scenario.probes[0].expect

    @pytest.mark.parametrize(
        "text",
        [
            "{{7*7}}",
            "{0.__class__}",
            "${HOME} $(id) `id`",
            "%s %(name)s %n",
            "$i and $$",
            "</summary> [compacted] <|endoftext|>",
            "\u202eabc\u202c \u200b\u200d \U0001f469\u200d\U0001f4bb e\u0301 \u00e9",
            "a\tb",
        ],
    )
    def test_text_stays_literal(self, load: Load, text: str) -> None:
        """Templates are text; invisible characters are kept, neither dropped nor normalised."""
        quoted = text.replace("'", "''")
        scenario = load(f"turns:\n  - user: '{quoted}'\n  - assistant: '{quoted}'\n")

        (turn,) = turns(scenario)
        assert [text, text] == [message.text for message in (*turn.heard, *turn.reply)]

    def test_block_text_keeps_its_lines(self, load: Load) -> None:
        """A literal block is a message of several lines, whatever the file's line ends."""
        scenario = load("turns:\n  - user: |-\n      One\n        two\n\n      three\n")

        assert turns(scenario)[0].heard[0].text == "One\n  two\n\nthree"


class TestFingerprint:
    """A run is comparable with another when the scripts say the same."""

    def test_layout_comments_and_quotes_do_not_matter(self, load: Load) -> None:
        """Nor do the order of a step's keys, and keys that repeat a default."""
        one = load("turns:\n  - user: My order is A-17.\n    facts: {order: A-17}\n")
        two = load(
            'seed: 0\n# a comment\nturns: [{facts: {order: {value: "A-17", private: false}},'
            ' user: "My order is A-17."}]\n'
        )

        assert one.fingerprint == two.fingerprint
        assert len(one.fingerprint) == 64

    @pytest.mark.parametrize(
        "text",
        [
            "turns:\n  - user: My order is A-18.\n",
            "turns:\n  - user: My order is A-17.\n  - user: Hello.\n",
            "seed: 1\nturns:\n  - user: My order is A-17.\n",
            "pace: 2min\nturns:\n  - user: My order is A-17.\n",
            "turns:\n  - assistant: My order is A-17.\n",
            "turns:\n  - user: My order is A-17.\nprobes:\n  a: {ask: a, expect: unknown}\n",
            "turns:\n  - repeat: {times: 1, turns: [{user: My order is A-17.}]}\n",
            "turns:\n  - filler: 1\n  - user: My order is A-17.\n",
        ],
    )
    def test_what_is_said_matters(self, load: Load, text: str) -> None:
        """Anything that could change a score changes the fingerprint."""
        assert load("turns:\n  - user: My order is A-17.\n").fingerprint != load(text).fingerprint

    def test_what_the_replay_never_sees_does_not_matter(self, load: Load) -> None:
        """A bound that is moved leaves every score as it was."""
        text = "turns:\n  - user: My order is A-17.\n"
        told = "about: A refund.\ntags: [slow]\nexpect:\n  recall: '>= 0.8'\n"

        assert load(text).fingerprint == load(told + text).fingerprint

    def test_the_path_does_not_matter(self, tmp_path: Path) -> None:
        """A script may be moved."""
        prints = set()
        for name in ("a.yaml", "b.yaml"):
            (tmp_path / name).write_text(f"memsim: 1\nname: x\n{HELLO}", encoding="utf-8")
            prints.add(load_scenarios(tmp_path / name)[0].fingerprint)

        assert len(prints) == 1

    def test_the_wording_of_generated_talk_matters(
        self, load: Load, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another grammar makes another conversation of the same script."""
        from memsim.scenario import filler

        text = "turns:\n  - filler: 3\n"
        before, plain = load(text).fingerprint, load(HELLO).fingerprint
        monkeypatch.setattr(filler, "VERSION", filler.VERSION + 1)

        assert before != load(text).fingerprint
        assert plain == load(HELLO).fingerprint
