"""AgentScope's memory: in memory, self-compressing, and for the long term.

Fidelity:

* short-term memory is an agent's, and its session is named by the user
  -> test_sessions_are_named_by_the_user
* addMessage, getMessages, deleteMessage and clear -> test_the_interface_of_memory
* InMemoryMemory keeps everything, in order -> test_in_memory_keeps_everything_in_order
* what getMessages gives is what the model is sent, in its order
  -> test_the_model_is_sent_the_messages_in_order
* what getMessages gives cannot change the memory
  -> test_messages_that_are_given_out_change_nothing
* API: saveState and loadState of messages -> test_state_goes_out_and_in
* msgThreshold 30, tokenRatio 0.3, lastKeep 10 -> test_thresholds_are_the_documented_ones
* too many messages trigger -> test_messages_trigger
* too many tokens trigger -> test_tokens_trigger
* compression merges, then summarises, then offloads, as long as it must
  -> test_compression_is_progressive
* API: what is left is a summary, references and the latest messages
  -> test_a_summary_references_and_the_latest_are_left
* the last N messages stay -> test_the_latest_messages_stay
* the user's message is stored before reasoning, reply and results after
  -> test_messages_are_stored_as_they_come
* a tool call is two messages -> test_a_tool_call_is_two_messages
* tokens are estimated as length / 4 of the text of each message
  -> test_tokens_are_a_quarter_of_the_text
* truncation keeps the last N messages -> test_truncation_keeps_the_last
* a live model is asked in memsim's words for the same as by AgentScope's prompts
  -> test_a_live_model_is_sent_its_prompts
* summarisation puts one summary before the recent messages
  -> test_summarisation_puts_one_summary_first
* API: offloading keeps large content outside -> test_offloading_keeps_large_content_outside
* record and retrieve of LongTermMemory -> test_what_is_recorded_is_retrieved
* long-term memory crosses sessions -> test_long_term_memory_crosses_sessions
* Mem0 keeps what is extracted of user and assistant messages, by user
  -> test_mem0_keeps_facts_of_a_user
* ReMe can stand behind the same interface -> test_reme_keeps_summaries
* a store of one's own can stand behind it -> test_a_store_keeps_messages_word_for_word
* STATIC_CONTROL retrieves before reasoning and records after the reply
  -> test_static_control_works_by_itself
* AGENT_CONTROL leaves both to tools -> test_agent_control_leaves_it_to_tools
* BOTH is both -> test_both_modes_at_once
* what is retrieved stands in <long_term_memory> in the prompt
  -> test_memories_stand_in_their_block
* record_to_memory takes thinking and content -> test_recording_by_tool
* retrieve_from_memory takes keywords -> test_retrieving_by_tool
* API: a session's file holds components, by name, and a timestamp
  -> test_session_files_are_as_documented
* API: a component is named by its class -> test_a_component_is_named_by_its_class
* sessions are loaded if they exist -> test_a_session_is_loaded_again
* not reproduced: a SessionManager by which a conversation begins where its file ends
* defect: results of tools count no tokens; fixed counts them -> test_results_count_only_when_fixed
* defect: session keys join with _; fixed tells them apart
  -> test_session_keys_collide_unless_fixed
* defect: deleting leaves summaries, references and memories; fixed erases
  -> test_deleting_leaves_traces_unless_fixed
* defect: what is remembered can close its block; fixed escapes it
  -> test_memories_can_close_their_block_unless_fixed
* 1.0.12: nine thresholds -> test_thresholds_of_the_package
* 1.0.12: the threshold itself triggers -> test_the_package_is_triggered_at_its_threshold
* 1.0.12: UTF-16 units / 2.5 and what each block costs -> test_the_estimate_of_the_package
* 1.0.12: of six families the first that works ends it -> test_one_family_works_at_a_time
* 1.0.12: large results leave 200 characters and a reference
  -> test_large_results_leave_their_beginning
* 1.0.12: each family has a prompt, a marker behind the messages
  -> test_each_family_has_its_prompt
* 1.0.12: the current round is summarised again every time
  -> test_the_current_round_is_summarised_every_time
* API: 1.0.12: planning is kept from the model -> test_planning_is_not_shown
* API: 1.0.12: where the agent's plan stands is told in <plan_aware_hint>
  -> test_the_model_is_told_where_the_plan_stands
* 1.0.12: context_reload and its answers -> test_reloading_by_tool
* 1.0.12: the agent is told of references -> test_the_agent_is_told_of_references
* API: 1.0.12: the original list only grows, and interactions are read from it
  -> test_the_original_list_only_grows
* API: 1.0.12: clearing leaves offloads and events -> test_clearing_leaves_offloads
* 1.0.12: events name the neighbours and the cost -> test_events_tell_what_was_done
* 1.0.12: memories stay in the history and are recorded again, unless fixed
  -> test_memories_are_recorded_again
* 1.0.21: the latest three stay, a call and its results being one
  -> test_a_call_and_its_results_are_one
* 1.0.21: too few recent messages compress everything
  -> test_too_few_recent_messages_compress_everything
* 1.0.21: compressed messages are marked, the summary stands before the rest
  -> test_compressed_messages_are_marked

What `memsim check` finds against the design, with the conversation that shows it:

* breaks I15 within_budget, repaired by `fixed`: summaries and memories are shown whole, whatever
  the budget (seven turns, a summary cut off at its limit: 526 tokens of 131)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I16 progress, repaired by `fixed`: what is merged or summarised may be longer than what it
  stands for (seven short turns: 115 tokens in the place of 109)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I31 scale in 1.0.12 and 1.0.21, repaired by `fixed`: all of the history is recorded after
  every reply (80 and 160 turns, the latter at four times the work)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I24 failure_keeps_state, repaired by `fixed`: any reply is taken, one that was cut off too
  (eight turns: it takes the place of the summary before, `condensed:1`)
  -> test_what_it_breaks_holds_once_it_is_repaired
"""
