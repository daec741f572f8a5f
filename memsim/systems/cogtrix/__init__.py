"""Cogtrix: a window, a rolling summary, recalled exchanges, and what each mode keeps track of.

The document's statements, and the test that holds each:

* each mode sends its latest messages: 25 in conversation, 30 in code, 30 in reasoning
  -> test_each_mode_has_its_window
* `working_memory_size` sets that number -> test_the_window_is_set_by_a_parameter
* every older message is covered by the summary or waits for it
  -> test_every_message_is_covered_pending_or_in_the_window
* system prompt, summary, related exchanges, the mode's context, window, in this order
  -> test_the_parts_stand_in_the_documented_order
* each mode adds to the system prompt -> test_each_mode_adds_to_the_system_prompt
* the current input is the last message -> test_the_current_input_is_the_last_of_the_window
* summarising is triggered after the reply -> test_it_summarises_after_the_reply_and_not_before
* 10 messages must have left the window since the last summary
  -> test_ten_messages_must_have_left_the_window
* a batch is skipped if it has neither 4 meaningful messages nor 5,000 characters
  -> test_a_batch_is_skipped_only_where_both_thresholds_are_missed
* a skipped batch is part of the next -> test_a_skipped_batch_waits_for_more
* the new batch is merged into the summary, and not summarised again
  -> test_the_new_batch_is_merged_into_the_summary_before
* the summary stays under 400 words -> test_the_summary_has_400_words_at_most
* five rules: what to keep, what to drop, third person, under 400 words, bullet points
  -> test_a_model_of_ones_own_is_told_the_five_rules
* the model is given the five rules and the summary so far
  -> test_a_live_model_is_given_the_five_rules
* tool traffic is not summarised, long messages in part
  -> test_the_model_reads_what_was_said_without_tool_traffic
* the previous summary is kept when the model fails or says nothing
  -> test_a_failure_leaves_the_summary_as_it_was
* a summary never blocks or breaks the conversation -> test_a_failure_leaves_the_summary_as_it_was
* any other reply is taken -> test_a_summary_may_be_longer_than_what_it_replaces
* `summarization: false` calls no model -> test_summarization_can_be_switched_off
* question and answer are embedded together -> test_exchanges_of_question_and_answer_are_recalled
* 3 exchanges are recalled, none with `vector_recall_k: 0` -> test_so_many_exchanges_are_recalled
* the index is the session's own -> test_every_session_has_an_index_of_its_own
* they stand under "Related past exchanges" -> test_the_parts_stand_in_the_documented_order
* API: `rag.model` names the embedder, else Ollama's and then OpenAI's is taken
  -> test_the_embedder_is_named_or_found
* what is summarised is what is embedded -> test_only_what_was_summarised_can_be_recalled
* without an embedder recall is skipped
  -> test_without_an_embedder_nothing_is_recalled_and_all_else_goes_on
* API: an index of another embedder is discarded and rebuilt
  -> test_vectors_of_another_embedder_are_made_anew
* messages begin with `[YYYY-MM-DD HH:MM:SS UTC] ` -> test_what_is_sent_is_stamped_in_utc
* users' messages are stamped as they are said, replies as they are finished
  -> test_what_is_sent_is_stamped_in_utc
* no other date is written -> test_a_stamp_takes_the_place_of_the_date_line
* timestamps are saved as ISO 8601 in UTC -> test_stamps_are_stored_in_iso_format
* API: old session files without timestamps load -> test_old_files_without_stamps_load
* conversation mode tracks topics, entities and key facts, and sends none
  -> test_conversation_mode_tracks_topics_entities_and_key_facts
* code mode tracks mentioned files -> test_code_mode_tracks_mentioned_files
* `max_files` is 20 -> test_twenty_files_are_tracked_and_the_longest_unmentioned_goes
* `max_errors` is 5 -> test_five_errors_are_kept
* errors are retained for debugging -> test_errors_stay_when_their_message_has_left_the_window
* the task and what was accomplished are tracked -> test_code_mode_tracks_the_task_and_its_progress
* API: task, files, errors and changes stand beside the messages
  -> test_task_files_errors_and_changes_are_shown_in_order
* objective, goals, decisions with rationale, constraints, rejected options and assumptions are
  tracked -> test_reasoning_mode_tracks_what_is_planned_and_decided
* API: goals, then constraints, then decisions -> test_sections_stand_in_order_with_their_bounds
* API: `max_decisions` is 20, `max_alternatives` is 10
  -> test_twenty_decisions_and_ten_alternatives_are_kept
* constraints have three categories -> test_constraints_of_other_categories_are_ignored
* API: `prefix_max_stale_turns` is 3 -> test_a_section_is_shown_for_three_turns_after_it_was_touched
* API: an update of an alternative is no touch
  -> test_an_alternative_that_is_updated_keeps_nothing_fresh
* API: the `memory:` settings, COGTRIX_MEMORY_MODE and the command line are taken as they stand
  -> test_settings_come_from_a_file_the_environment_or_the_command_line
* every documented default -> test_the_defaults_are_the_documented_ones
* unknown modes and numbers out of range are refused
  -> test_what_means_nothing_is_refused_in_one_line
* `/mode` and `/M` switch at once and keep the session -> test_a_command_switches_the_mode_at_once
* a mode's state outlives a switch -> test_what_a_mode_tracked_is_there_when_it_is_switched_back
* `Switched to code mode` is said -> test_the_switch_is_told_as_an_event
* API: four places hold a session: history, `_hybrid`, `_mode_state`, vectors
  -> test_a_session_is_kept_in_its_documented_files
* the summary's file holds its text and coverage index
  -> test_the_files_of_other_programs_are_enough
* the index is clamped to a shorter history -> test_the_index_is_clamped_to_the_history
* turn counters and section timestamps are restored -> test_turns_and_freshness_are_restored
* a damaged file is refused -> test_a_damaged_state_is_refused_in_one_line
* a resumed session goes on as before -> test_a_strategy_that_is_restarted_goes_on_as_before
* tokens are estimated at 4 characters -> test_tokens_are_estimated_at_four_characters
* a part of the window is reserved for the reply
  -> test_a_quarter_of_the_window_is_kept_for_the_reply
* API: `max_tokens` of the reply is what is left, 1 at least
  -> test_the_reply_never_has_less_than_one_token
* the oldest messages are dropped first -> test_the_oldest_messages_are_dropped_first
* long messages are cut with a truncation marker -> test_a_long_message_is_cut_with_a_marker
* system prompt and current input are never removed
  -> test_system_prompt_and_current_input_are_never_dropped
* what is sent never exceeds the window -> test_what_is_sent_fits_the_window
* defect, repaired by `fixed`: summary and context are dropped before any message
  -> test_summary_and_context_are_the_first_to_be_dropped
* defect, repaired by `fixed`: only quoted file names are found
  -> test_only_quoted_file_names_are_found
* defect, repaired by `fixed`: errors in tool results are not tracked
  -> test_errors_of_tools_are_not_tracked
* defect: one error is kept twice -> test_one_error_is_kept_twice
* leak, repaired by `fixed`: principals share a session -> test_everybody_shares_a_session
* leak, repaired by `fixed`: the summary of `a` is the history of `a_hybrid`
  -> test_a_session_overwrites_the_one_whose_history_its_summary_is
* source: reasoning mode recalls 2 -> test_in_the_source_reasoning_mode_recalls_two
* source: only users' messages are stamped -> test_in_the_source_only_users_are_stamped
* source: nothing but files and errors is tracked by itself
  -> test_in_the_source_nothing_but_files_and_errors_is_found
* source, repaired by `fixed`: a batch whose summary fails is lost
  -> test_in_the_source_a_failed_batch_is_lost
* source, repaired by `fixed`: fewer than 3 words recall nothing
  -> test_in_the_source_short_questions_recall_nothing
* source: an exchange needs a similarity of 0.25
  -> test_in_the_source_what_is_too_far_is_not_recalled
* source: conversation mode has no window -> test_in_the_source_a_conversation_is_sent_whole
* API: source: at most 15 facts of 20 words are distilled
  -> test_facts_of_a_dropped_summary_are_asked_for_within_their_bounds
* API: source: summaries expire by tokens or age, and facts are distilled for 7 days
  -> test_in_the_source_a_summary_expires
* source, by `tiers`: older answers are kept in shorter forms
  -> test_tiers_keep_older_answers_in_shorter_forms
* source, by `switching=auto`: the mode follows two of the last three messages
  -> test_the_mode_can_follow_what_is_asked_for
* not reproduced: each mode has tools of its own
* not reproduced: which goal a sub-goal belongs to is found in what is said

What `memsim check` finds against the design, with the conversation that shows it:

* breaks I1 pair_closure, repaired by `fixed`: the oldest messages are dropped one by one (result
  `m5` without its call `m2`, at a budget of 108) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I7 current_input, repaired by `fixed`: a message too long for the window is cut with a
  marker, the current one too (`m1`, at a budget of 48)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I9 provider_validity, repaired by `fixed`: a history begins with what a user said, and a
  call before that is left out without its result (`m5`)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I15 within_budget, repaired by `fixed`: its own estimate leaves out what every message
  costs by itself (95 tokens at a budget of 90) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I16 progress, repaired by `fixed`: any reply that is not blank is taken (3,413 tokens in
  the place of 292, where a model goes on and on) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I24 bad_summaries_are_refused, repaired by `fixed`: a refusal is taken for a summary, and
  what was to be summarised is gone -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I29 well_formed, repaired by `fixed`: a message that is cut is cut between any two code
  points (`m1`, in the middle of a family, at a budget of 48)
  -> test_what_it_breaks_holds_once_it_is_repaired
"""
