"""AgenticX's memory: a workspace of Markdown, its index, scratchpads, compacted conversations.

Fidelity, to the document and to the package:

* core memory is IDENTITY.md, SOUL.md and the prompt's identity
  -> test_core_memory_stands_in_every_prompt
* episodic memory is the chat history, tool traces in it -> test_the_chat_history_stays
* semantic memory is MEMORY.md, Mem0 and indexed chunks -> test_semantic_memory
* working memory is the scratchpad and the recent messages -> test_working_memory
* long-term memory outlives the process -> test_long_term_memory_survives_a_restart
* workspace memory is USER.md and daily files -> test_the_workspace_has_its_files
* API: ~/.agenticx/workspace holds them as files -> test_the_workspace_is_a_folder
* API: memory.backend and memory.path, and the index's default path
  -> test_the_memory_settings_are_taken_as_they_stand
* the index takes the four roots and memory/*.md -> test_the_index_takes_roots_and_days
* the hook runs after each turn -> test_the_hook_runs_when_a_turn_is_over
* its priority is -10: hooks of a higher one run before it
  -> test_the_hook_runs_after_those_of_higher_priority
* API: its workspace: session.workspace_dir, AGX_WORKSPACE_ROOT, the user's home
  -> test_the_hook_has_a_workspace
* MIN_CHAT_TURNS = 3: at least six records -> test_six_records_are_needed
* the last 20 messages are scanned -> test_twenty_messages_are_scanned
* facts are found by cue words, without a model -> test_facts_need_no_model
* bullets are 用户请求 and 完成事项 -> test_the_document_has_two_kinds_of_facts
* MAX_FACTS_PER_SESSION = 8 -> test_eight_facts_at_most
* a dated block goes to memory/<today>.md -> test_a_dated_block_is_appended
* no append beyond 8000 characters -> test_a_full_day_takes_nothing
* MEMORY.md under 4000 characters gets up to four facts -> test_memory_md_gets_four
* where there is no MEMORY.md, none is made -> test_memory_md_must_be_there
* session_facts are concatenated with newlines -> test_session_facts_are_concatenated
* a day above 2000 characters loses repeated bullets -> test_a_long_day_loses_repeated_bullets
* bullets are the same by 80 characters, case-folded, the first stays
  -> test_bullets_are_the_same_by_eighty_characters
* headings stay where a day loses bullets -> test_headings_of_a_day_stay
* other languages yield few facts until extended -> test_other_languages_yield_nothing
* recall takes the last five user messages -> test_recall_takes_five_user_messages
* 200 characters of each, 500 of the query -> test_the_query_is_cut
* recall searches with limit 5 in mode hybrid -> test_recall_shows_five_pieces_at_most
* recall has its heading -> test_recall_has_its_heading
* snippets are capped around 500 characters -> test_snippets_are_capped
* no user messages or no hits: no section -> test_without_hits_there_is_no_section
* indexing is run or scheduled -> test_nothing_is_found_before_it_is_indexed
* Mem0 is optional, a separate data plane -> test_mem0_is_beside_the_files
* scratchpad_write and scratchpad_read -> test_the_scratchpad_has_its_tools
* the scratchpad persists -> test_long_term_memory_survives_a_restart
* API: reserved keys subagent_result::<id> and delegation_result::<id>
  -> test_sub_agents_report_under_reserved_keys
* API: __pending_subagent_summaries__ is a queue -> test_pending_reports_are_a_queue
* API: __taskspace_hint__ and __taskspace_label_hint__ -> test_taskspace_hints_are_kept
* API: historical results are read from subagent_result::* -> test_historical_results_are_read
* compaction runs before each turn, on sanitised messages
  -> test_compaction_works_on_sanitised_messages
* threshold_messages 20: above it -> test_twenty_one_messages_are_compacted
* threshold_chars 48000: above it -> test_characters_set_it_off
* retain_recent_messages 8 stay verbatim -> test_eight_messages_stay
* one call of the model, temperature 0, 400 tokens, Chinese instruction
  -> test_the_model_is_asked_once
* a live model is sent that instruction -> test_a_live_model_is_sent_the_instruction
* one system message with [compacted] replaces the prefix -> test_the_prefix_is_replaced
* on failure short snippets -> test_snippets_stand_in_for_a_summary
* floors 8, 4000 and 4 -> test_floors_hold
* defaults are fixed, a constructor can set them -> test_thresholds_are_parameters
* source: four kinds of facts -> test_the_source_has_four_kinds
* source: users among the last five messages -> test_the_source_looks_at_five_messages
* source: a question mark disables recall -> test_punctuation_disables_the_sources_recall
* source: pieces that share no word are recalled -> test_the_source_has_no_floor
* source: the history stays, and is compacted each time -> test_the_source_compacts_again_each_time
* source: nothing is indexed of itself -> test_the_source_never_indexes
* defect: facts are written again each turn -> test_facts_are_written_again_each_turn
* defect: what a changed file said stays posted -> test_stale_postings_stay
* defect: a Chinese sentence is one word -> test_a_chinese_sentence_is_one_word
* defect: a tail may begin with a result -> test_a_call_may_lose_its_results
* defect: nothing can be erased -> test_nothing_can_be_erased
* defect: one user's notes are recalled for all -> test_the_workspace_is_everybodys
* 0.6: tokens decide -> test_tokens_decide_in_06
* 0.6: a demand is repeated word for word -> test_demands_are_repeated_in_06
* 0.6: long results of tools are cut as they come -> test_long_results_are_cut_in_06
* 0.6: parts of Chinese sentences are found -> test_06_finds_parts_of_chinese_sentences
* not reproduced: sessions.sqlite holds the scratchpad, which a strategy saves with its state
* not reproduced: avatars and groups, whose prompts and workspaces are their own
* not reproduced: databases that `memory.backend` names beside SQLite

What `memsim check` finds against the design, with the conversation that shows it:

* breaks I1 pair_closure, repaired by `fixed`: the messages that stay may begin with a result (four
  turns of three calls: result `m16` without `m14`)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I6 authority_non_elevation, repaired by `fixed`: what is compacted or recalled is a system
  message, as documented (`compacted:m13`, made of what users said)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I9 provider_validity, repaired by `fixed`: the same result answers what nobody called
  (`m16`) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I15 within_budget, repaired by `fixed`: it compacts above so many messages and characters,
  and knows no budget (three results of 1,560 characters: 1,221 tokens at a budget of 240)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I16 progress, repaired by `fixed`: any reply is taken (3,280 tokens in the place of 173,
  where a model goes on and on) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I24 bad_summaries_are_refused, repaired by `fixed`: a refusal is taken for a summary, and
  what was to be summarised is gone -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I20 usage_reset, repaired by `fixed`: the source compacts its whole history in every round
  of a turn (five turns of three calls: `m1` twice in one turn)
  -> test_what_it_breaks_holds_once_it_is_repaired
"""
