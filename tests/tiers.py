"""Which tests are slow: `make test` leaves them out, `make test-slow` runs only them.

Each kind of slow test is a marker, so `pytest -m servers` runs one kind. A test belongs to a kind
when its file or `file::test` is listed here, when its id names a server, when it uses a slow
fixture, or when its own parameter carries the marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

KINDS: Mapping[str, str] = {
    "attacks": "plays leakage attacks against many memories",
    "browser": "opens pages in Chromium",
    "checks": "searches for counterexamples over whole memories",
    "fuzz": "sends random or hostile input to a whole process or service",
    "huge": "measures inputs of megabytes",
    "kills": "kills processes and looks at what they left",
    "lockstep": "plays two worlds that may differ in other people's data only",
    "mutants": "breaks parts of memsim and expects a check to fail",
    "processes": "starts processes and compares their bytes",
    "replays": "replays many built-in scenarios or a whole dataset",
    "servers": "needs PostgreSQL or Redis",
    "variants": "repeats a property for one more set of strategy parameters",
    "wheel": "builds the package and installs it",
}
"""The kinds of slow tests, and what each of them does."""

SLOW_TESTS: Mapping[str, tuple[str, ...]] = {
    "attacks": (
        "adapters/test_foreign_runs.py::test_what_a_server_leaves_behind_is_a_leak",
        "leakage/test_channels_of_artefacts.py",
        "leakage/test_channels_of_derived.py",
        "leakage/test_channels_of_forgetting.py",
        "leakage/test_channels_of_others.py",
        "leakage/test_gaps_of_systems.py",
        "leakage/test_leak_sentences.py::test_a_sentence_is_true_of_what_a_broken_memory_showed",
        "leakage/test_l05_existence_timing.py::test_the_reference_tells_nothing_by_its_time",
    ),
    "checks": (
        "canary/test_canary_match.py::test_the_fast_matcher_agrees_with_the_slow_one",
        "models/test_embedding.py::test_any_texts_can_be_embedded",
        "memory/layers/test_fact_scores.py::test_what_replaces_what_in_the_scripts",
        "memory/layers/test_fact_scores.py::test_what_replaces_what_in_a_long_script",
        "scenario/test_script_filler.py::test_generated_talk_never_says_a_planted_value",
        "testing/test_checking.py::test_parts_of_the_memory_hold_what_they_promise",
        "testing/test_context_defects.py::test_each_defect_of_a_context_is_found",
        "testing/test_departures.py",
        "testing/test_generators.py::test_every_kind_of_case_comes_up_often_enough",
        "testing/test_generators.py::test_conversations_make_sense",
        "testing/test_machine.py",
    ),
    "fuzz": (
        "hostile/test_hostile_artefacts.py::test_a_plot_holds_texts_as_texts",
        "hostile/test_hostile_artefacts.py::test_nothing_that_is_read_becomes_a_pattern_or_a_sheet",
        "hostile/test_hostile_files.py::test_links_in_a_run_are_not_written_through",
        "hostile/test_hostile_input.py::test_nothing_that_is_read_is_run",
        "scenario/test_script_fuzz.py",
        "scenario/test_script_hostile.py",
        "adapters/test_hostile_server.py::test_a_run_ends_unmeasurable",
        "adapters/test_mcp_memory.py::test_a_hostile_server_never_passes",
        "adapters/test_mcp_memory.py::test_a_run_with_a_dead_server_is_unmeasurable",
        "adapters/test_mcp_memory.py::test_a_server_is_asked_in_three_ways",
        "adapters/test_mcp_memory.py::test_an_honest_server_passes",
        "certification/test_certify.py::test_a_hostile_server_holds_nothing",
        "service/test_contract_fuzz.py",
        "service/test_service_fuzz.py",
    ),
    "huge": (
        "canary/test_canary_match.py::test_much_of_one_thing_is_decoded",
        "canary/test_canary_match.py::test_ten_megabytes_are_searched",
        "canary/test_canary_secrets.py::test_a_hostile_megabyte_is_scanned",
        "memory/index/test_nearest_vectors.py::test_among_many_nearly_all_of_the_nearest_are_found",
        "memory/index/test_nearest_vectors.py::test_how_many_came_at_once_changes_nothing",
        "memory/compaction/test_coverage.py::test_a_long_run_loses_nothing",
        "scenario/test_generated_stories.py::test_ten_thousand_facts_are_told_and_some_are_asked",
        "scenario/test_generated_stories.py::test_the_oracle_answers_of_ten_thousand_facts",
        "memory/index/test_vectors.py::test_among_many_vectors_nearly_all_of_the_nearest_are_found",
        "memory/compaction/test_parts.py::test_a_very_long_history_is_compacted_as_a_short_one",
        "memory/compaction/test_parts.py::test_work_grows_with_the_history_and_no_faster",
        "memory/stores/test_store_contract.py::test_a_text_may_be_long",
        "models/test_offline_properties.py::test_a_huge_answer_is_judged",
        "models/test_offline_properties.py::test_a_huge_message_is_read",
        "scenario/test_script_words.py::test_many_values_are_found_as_each_alone",
        "test_tokens.py::test_a_megabyte_of_one_character_can_be_counted",
    ),
    "kills": (
        "adapters/test_mcp_memory.py::test_servers_end_with_a_killed_run",
        "cli/test_environment.py::test_an_interrupt_keeps_the_run_and_says_how_to_go_on",
        "faults/test_resume_kills.py",
        "faults/test_server_kills.py",
        "faults/test_worker_kills.py",
        "memory/stores/test_store_kills.py",
        "memory/persistence/test_saved_memory.py::test_a_killed_process_loses_at_most_the_unfinished_turn",
        "models/test_live_agents.py::test_killed_between_rounds_it_goes_on_and_pays_for_the_rest",
        "models/test_live_runs.py::test_a_killed_case_pays_for_no_call_twice",
        "plugin/test_lost_workers.py",
        "test_executors.py::test_a_case_that_kills_its_process_is_lost_alone",
        "test_executors.py::test_an_interrupt_is_passed_on_and_leaves_no_process_behind",
        "test_executors.py::test_many_deaths_are_many_lost_cases",
        "test_ray_executor.py",
        "test_resume.py",
    ),
    "lockstep": (
        "memory/stores/test_store_isolation.py",
        "memory/test_lockstep.py",
        "testing/test_lockstep.py",
    ),
    "mutants": (
        "certification/test_certify.py::test_a_double_fails_no_other_clause",
        "leakage/test_doubles.py",
        "testing/test_defects.py::test_each_class_of_defects_is_found",
        "testing/test_mutants.py",
    ),
    "processes": (
        "cli/test_github.py::test_a_cluster_plays_every_shard",
        "adapters/test_foreign_runs.py::test_runs_are_the_same_with_two_workers",
        "leakage/test_leak_runs.py::test_any_number_of_processes_keeps_the_same_bytes",
        "memory/index/test_nearest_vectors.py::test_every_process_builds_the_same_lists",
        "memory/index/test_vectors.py::test_every_process_finds_the_same",
        "memory/index/test_vectors.py::test_vectors_that_chroma_dropped_are_an_error",
        "models/test_embedding.py::test_threads_and_hash_seed_do_not_show",
        "models/test_judged_cases.py::test_a_storm_over_the_judge_ends_in_the_records_of_a_calm_day",
        "models/test_judged_cases.py::test_two_processes_make_the_same_bytes_as_one",
        "models/test_live_runs.py::test_recordings_do_not_depend_on_how_many_processes_make_them",
        "options/test_jobs.py::test_the_records_do_not_depend_on_it",
        "plugin/test_scenarios_as_tests.py::test_xdist_sees_the_same_items",
        "test_executors.py::test_large_cases_are_handed_out_singly",
        "test_laziness.py::test_an_offline_run_without_vectors_loads_no_embedder",
        "test_guides.py::test_the_grown_strategy_passes_the_check",
        "test_scaffold.py::test_the_written_tests_pass",
        "test_suite.py::test_a_strategy_that_ends_its_process_is_lost_alone",
        "test_suite.py::test_records_do_not_depend_on_hash_seed_zone_or_locale",
        "test_suite.py::test_records_do_not_depend_on_the_number_of_processes",
        "testing/test_check_command.py",
    ),
    "replays": (
        "cli/test_import_pseudonyms.py::test_a_conversation_is_shared_without_its_names",
        "scenario/test_generated_stories.py::test_a_dial_makes_it_harder",
        "scenario/test_story_languages.py::test_an_answer_is_right_in_each_form_and_no_other_place_is",
        "scenario/test_story_languages.py::test_every_answer_is_proven",
        "scenario/test_story_languages.py::test_inflection_hides_what_is_told_from_search_by_words",
        "scenario/test_story_languages.py::test_the_oracle_has_every_answer_and_no_memory_has_none",
        "cli/test_limit_command.py::test_each_memory_has_its_limit",
        "gate/test_own_gate.py::test_a_strategy_that_was_cut_down_fails",
        "gate/test_own_gate.py::test_a_summary_that_is_not_sent_fails",
        "gate/test_own_gate.py::test_an_equivalent_refactoring_passes",
        "gate/test_own_gate.py::test_reseeded_fillers_pass",
        "cli/test_init.py::test_every_path_is_told_and_the_next_commands_work",
        "language/test_many_languages.py::test_a_long_talk_hides_no_language",
        "models/test_live_weather.py",
        "models/test_reader_on_locomo.py::test_the_reader_reads",
        "report/test_plots.py::test_every_caption_says_something_of_this_run",
        "report/test_plots.py::test_every_plot_that_has_numbers_is_drawn",
        "report/test_plots.py::test_pictures_are_files_that_a_browser_opens",
        "report/test_plots.py::test_the_command_draws_the_same_bytes_into_the_runs_folder",
        "models/test_reader_invariance.py::test_more_context_costs_few_answers",
        "models/test_reader_invariance.py::test_real_questions_may_be_asked_otherwise",
        "scoring/test_published_ranking.py",
        "scoring/test_rule_and_judge.py::test_the_rule_agrees_with_the_judge",
        "scoring/test_rule_and_judge.py::test_what_is_wrong_on_purpose_is_refused",
        "test_comparison_folder.py::test_a_sample_comes_to_what_is_written",
        "test_guides.py::test_a_strategy_grows_as_the_guide_says",
        "test_guides.py::test_the_leakage_table_is_as_the_guide_says",
        "test_readme.py::test_the_five_minute_path_runs_as_written",
    ),
    "servers": (
        "fidelity/test_prx.py::test_rows_are_on_the_server",
        "memory/stores/test_opening.py::test_a_memory_of_ones_own_name_stays",
        "memory/stores/test_opening.py::test_two_workers_do_not_meet_in_a_server",
        "memory/stores/test_servers.py",
    ),
    "wheel": ("test_wheel.py",),
}
"""Slow tests by kind: `file` or `file::test`, below `tests/`."""

FAST_ROWS: Mapping[str, tuple[str, ...]] = {
    "cli/test_program.py::test_a_terminal_without_unicode_gets_ascii": ("[C]",),
    "faults/test_areas.py::test_whatever_fails_it_is_one_state_or_the_next": ("-crash",),
    "faults/test_clock_and_chance.py::test_a_clock_that_goes_wrong_loses_nothing": (
        "-leap-persistent]",
    ),
    "faults/test_models.py::test_a_model_that_fails_is_told_or_done_without": ("-persistent]",),
    "faults/test_models.py::test_an_embedder_that_fails_is_told_or_done_without": ("-persistent]",),
    "fidelity/test_agenticx.py::test_a_restart_changes_nothing": ("[agenticx]",),
    "memory/compaction/test_guarantees.py::test_a_bad_model_changes_nothing_but_the_count": (
        "[0-",
    ),
    "memory/index/test_bm25.py::test_a_long_conversation_is_searched_exactly": ("[32768]",),
    "memory/index/test_bm25.py::test_the_best_are_found_exactly": ("[1-1]", "[4096-256]"),
    "memory/stores/test_store_erasure.py::test_no_byte_stays_after_a_life_of_changes": (
        "[sqlite]",
    ),
    "memory/stores/test_store_oracle.py::test_agrees_with_the_oracle": ("[sqlite]",),
    "options/test_timeout.py::test_a_case_that_takes_too_long_is_an_error": ("[1",),
    "scenario/test_script_filler.py::test_talk_is_varied_and_its_vocabulary_grows": ("[c",),
    "strategies/test_keeping.py::test_a_restart_after_forgetting_changes_nothing": (
        "[bm25:k=4",
        "[layered:store=memory,window=3,k=4]",
        "[agentscope:memory=autocontext",
        "[aegis:fixed",
    ),
    "test_builtin_scenarios.py::test_generated_talk_never_says_a_value": ("[7-",),
    "strategies/test_contexts.py::test_contexts_keep_to_the_budget_and_tell_their_tokens": (
        "[chars/4-",
    ),
}
"""Tests whose rows repeat each other: those whose id holds such a text are fast, others slow."""

FIXTURES: Mapping[str, str] = {"browser": "browser", "matrix": "replays"}
"""Fixtures whose tests are slow, with their kind."""

PARTLY_SLOW: tuple[str, ...] = (
    "cli/test_killed_strategy.py",
    "cli/test_progress.py",
    "cli/test_prx_workspaces.py",
    "fidelity/test_aegis.py",
    "fidelity/test_recorded_aegis.py",
    "fuzz/test_fuzz.py",
    "memory/stores/test_postgres_store.py",
    "memory/stores/test_redis_store.py",
    "options/test_isolated.py",
    "report/html/test_html_browser.py",
    "report/html/test_replay_viewer.py",
    "strategies/test_rankings.py",
    "strategy_process/test_isolated_runs.py",
    "testing/test_check_halves.py",
    "testing/test_isolated_checks.py",
)
"""Files whose slow tests are known by a fixture, an id or a marker of their own."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "channels of artefacts": ("leakage/test_channels_of_artefacts.py",),
    "channels of derived texts": ("leakage/test_channels_of_derived.py",),
    "channels of forgetting": ("leakage/test_channels_of_forgetting.py",),
    "defects": ("testing/test_defects.py",),
    "departures": ("testing/test_departures.py",),
    "doubles": ("leakage/test_doubles.py",),
    "hostile scripts": ("scenario/test_script_hostile.py",),
    "gate": ("gate/test_own_gate.py",),
    "isolated runs": ("strategy_process/test_isolated_runs.py",),
    "matrix": ("test_builtin_scenarios.py",),
    "page": ("report/html/test_html_browser.py", "report/html/test_replay_viewer.py"),
    "plots": ("report/test_plots.py",),
    "ray": ("test_ray_executor.py",),
    "resumed runs": ("test_resume.py",),
    "wheel": ("test_wheel.py",),
    "litellm": (
        "models/test_judged_cases.py",
        "models/test_live_agents.py",
        "models/test_live_faults.py",
        "models/test_live_runs.py",
        "models/test_live_weather.py",
        "models/test_recorded_vectors.py",
    ),
}
"""Files that run in one worker, because they import or play something that takes seconds."""

FAST, SLOW = "not slow", "slow"
"""What `make test` and `make test-slow` give to `-m`."""


def whole_file_is_slow(path: Path) -> bool:
    """Whether a file need not be imported where slow tests are left out."""
    return path.is_relative_to(TESTS) and _kind(path, "") is not None


def may_hold_slow(path: Path) -> bool:
    """Whether a file has to be imported where only slow tests run."""
    return not path.is_relative_to(TESTS) or path.relative_to(TESTS).as_posix() in _WITH_SLOW


def unlisted_slow(items: Iterable[pytest.Item]) -> list[str]:
    """Files with slow tests that `make test-slow` would leave unread, as they are not listed."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    return sorted(path.name for path in slow if not may_hold_slow(path))


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Give each slow test the marker of its kind and `slow`."""
    for item in items:
        for kind in _kinds(item):
            item.add_marker(kind)
        if any(item.get_closest_marker(kind) for kind in KINDS):
            item.add_marker("slow")


def worker_group(nodeid: str) -> str:
    """What runs in the same worker as a test.

    The tests of a file do, so that their fixtures and imports are paid for once. A listed slow test
    is a group of its own, unless its file shares something that takes seconds or it needs a server,
    of which there is one of a kind per process.
    """
    file, _, test = nodeid.removeprefix(f"{TESTS.name}/").partition("::")
    name = f"{file}::{test.partition('[')[0]}"
    kind = _KIND_OF.get(file) or _KIND_OF.get(name)
    if kind == "servers" or _names_server(nodeid):
        return "servers"
    if file in _GROUP_OF:
        return _GROUP_OF[file]
    return nodeid if kind or slow_row(name, test) else file


def slow_row(test: str, item: str) -> bool:
    """Whether a row of a test, `file::test` and the item's name, is left to the slow tests."""
    fast = FAST_ROWS.get(test)
    return fast is not None and not any(text in item for text in fast)


def _kinds(item: pytest.Item) -> Iterator[str]:
    listed = _kind(item.path, getattr(item, "originalname", None) or item.name)
    if listed:
        yield listed
    elif item.path.is_relative_to(TESTS):
        test = getattr(item, "originalname", None) or item.name
        if slow_row(f"{item.path.relative_to(TESTS).as_posix()}::{test}", item.name):
            yield "variants"
    if _names_server(item.nodeid):
        yield "servers"
    yield from (FIXTURES[used] for used in getattr(item, "fixturenames", ()) if used in FIXTURES)


def _names_server(nodeid: str) -> bool:
    name = nodeid.rpartition("/")[2]
    return "postgres" in name or "redis" in name


def _kind(path: Path, test: str) -> str | None:
    if not path.is_relative_to(TESTS):
        return None
    file = path.relative_to(TESTS).as_posix()
    return _KIND_OF.get(file) or _KIND_OF.get(f"{file}::{test}")


_KIND_OF = {test: kind for kind, tests in SLOW_TESTS.items() for test in tests}
_GROUP_OF = {file: group for group, files in GROUPS.items() for file in files}
_WITH_SLOW = frozenset(
    (*PARTLY_SLOW, *(test.partition("::")[0] for test in (*_KIND_OF, *FAST_ROWS)))
)
