"""PRX's memory: rows by key and category, five tools, access control, hygiene, snapshots.

Fidelity, by statement of the document:

* five tools, in their order, all of them always there -> test_the_five_tools
* built-in categories core, daily and conversation, and any other -> test_categories
* each of the five backends takes all tools -> test_every_backend_takes_every_tool
* each of the five brings up and forgets what was said -> test_every_backend_behaves_alike
* backend = "postgres": a remote database -> test_rows_are_on_the_server
* [memory] is taken as it stands -> test_the_documented_section_is_the_default
* each of its settings can be changed there -> test_every_setting_is_taken
* backend = "sqlite" -> test_the_default_backend_is_a_file
* auto_save = true: conversation input is stored -> test_what_users_say_is_stored
* acl_enabled = false -> test_without_access_control_everybody_finds_everything
* max_recall_items = 20 -> test_at_most_twenty_are_found
* recall_relevance_threshold = 0.3 -> test_recall_has_a_threshold_of_its_own
* embedding_provider, embedding_model, embedding_dimensions = 1536
  -> test_the_documented_section_is_the_default
* vector_weight = 0.7, keyword_weight = 0.3 -> test_meaning_counts_seven_parts_to_three
* min_relevance_score = 0.4: what is below is left out -> test_a_search_drops_what_scores_low
* hygiene_enabled = true -> test_hygiene_can_be_switched_off
* archive_after_days = 7 -> test_daily_entries_are_put_away_after_seven_days
* purge_after_days = 30 -> test_what_was_put_away_is_erased_after_thirty_days
* conversation_retention_days = 3 -> test_conversation_entries_last_three_days
* daily_retention_days = 7 -> test_daily_entries_are_put_away_after_seven_days
* core is permanent until it is forgotten -> test_core_entries_stay
* an entry knows the session in which it was stored -> test_entries_know_their_session
* custom categories follow daily -> test_custom_entries_follow_daily
* types of parameters, and which of them are required -> test_documented_parameters
* memory_store: key, value, category = "core" -> test_store_takes_key_value_and_category
* a key is unique: storing again replaces -> test_a_key_is_unique
* memory_forget: key, removes the entry -> test_forget_removes_by_key
* memory_get: key, the value or an error -> test_get_gives_the_value_or_an_error
* memory_recall: query, max_results = 20 -> test_recall_takes_a_query_and_a_limit
* memory_recall finds by words or by meaning -> test_recall_by_words_or_by_meaning
* memory_search: query, category, max_results = 20 -> test_search_filters_by_category
* memory_search looks through all entries, of whatever category
  -> test_a_search_looks_through_every_category
* hybrid search of vectors and BM25 when embeddings are configured
  -> test_meaning_counts_seven_parts_to_three
* recall at start: what is relevant is put before the reply
  -> test_what_speaks_to_a_message_is_put_before_it
* store, search on demand, forget on request -> test_the_documented_conversation
* memory stats, list --category, search, export --format json -> test_the_command_line_verbs
* that command line opens PRX's workspace -> test_a_workspace_is_opened_as_it_stands
* under access control memory_store stores with the principal's ownership
  -> test_what_is_stored_is_the_principals
* under access control memory_forget forgets one's own alone -> test_only_ones_own_is_forgotten
* under access control memory_get gives what one has access to, or an error
  -> test_get_is_an_error_without_access
* under access control memory_recall is no tool -> test_recall_is_removed_under_access_control
* under access control memory_search is still there, with the other three
  -> test_the_other_four_stay_under_access_control
* under access control memory_search gives what one has access to
  -> test_search_gives_what_one_has_access_to
* API: file_read is blocked from memory files under access control
  -> test_file_read_is_blocked_under_access_control
* the audit trail has tool, category, success and a digest of the key
  -> test_uses_of_tools_are_noted
* security.audit.enabled = true switches it on
  -> test_the_audit_is_switched_on_where_the_document_has_it
* not reproduced: daily entries are found in the session in which they were stored alone
* not reproduced: the audit trail has the key as it stands
* not reproduced: embedding_model and embedding_dimensions choose the embedder; it is the run's

Implied defects, repaired by `fixed`:

* results are ranked before they are filtered -> test_ranking_before_filtering_loses_ones_own
* a key is one for everybody, and can be taken over -> test_a_key_of_anothers_can_be_taken_over
* what is forgotten stays in the chat -> test_what_is_forgotten_stays_in_the_chat
* what is forgotten stays in a chat's summary -> test_a_summary_goes_with_what_it_was_made_of
* what is forgotten stays in the file and its log -> test_what_is_forgotten_stays_in_the_file
* vectors are kept by their texts alone: those of two embedders are compared where they are of one
  length -> test_vectors_of_two_embedders_are_mixed_unless_repaired

What 0.3.0 does otherwise (`version=0.3.0`):

* no embeddings unless a provider is named; recall of five -> test_real_defaults
* an unknown backend is markdown -> test_real_defaults
* tools take content, path, limit, maxResults, minScore -> test_real_parameters
* only messages of thirty characters without machinery are saved -> test_real_auto_save
* percentages are bare scores -> test_real_percentages
* memory_forget and memory_store ask nobody -> test_real_gaps
* memory_forget and memory_store ask, where that is repaired -> test_real_gaps_are_repaired
* what is put before a message is anybody's, access control or not -> test_real_recall_asks_nobody
* beyond 50 messages, all but the last 20 become a summary of at most 2,000 characters
  -> test_real_chats_are_summed_up
* a live model is asked for that in memsim's words
  -> test_real_chats_are_summed_up_in_words_of_their_own
* without compaction, or a summary, the oldest make room -> test_chats_are_trimmed_otherwise
* vectors are kept by the digests of texts, of queries too -> test_vectors_are_kept
* 10,000 vectors are kept -> test_vectors_used_longest_ago_make_room
* core entries are written to a snapshot with hygiene, where that is switched on
  -> test_real_snapshots
* rows by visibility, ceiling and chat -> test_real_access
* what is blocked or risky is hidden -> test_real_risks
* every store but under access control is copied to files, which forget nothing -> test_real_files
* what is recalled stays young, and is kept from three uses on -> test_real_usefulness
* custom rows are never pruned -> test_real_hygiene
* the file backend forgets nothing -> test_real_markdown
* files keep what hygiene erased -> test_files_outlive_rows_that_grew_old
* API: a lost database is made again when the memory opens
  -> test_a_lost_database_is_made_again_where_a_memory_opens
* API: a lost database comes back, and cannot be opened unless `fixed`
  -> test_a_lost_database_comes_back_only_repaired

What `memsim check` finds against the design, with the conversation that shows it:

* breaks I6 authority_non_elevation, repaired by `fixed`: what is recalled is a system message (made
  of what two users said of a door) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I45 non_interference, repaired by `fixed`: hygiene is done on everybody's entries when
  anybody speaks (what Ana said is gone once Ben speaks, a month later)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I50 grant_and_revoke, repaired by `fixed`: what hygiene erased is still sent from the chat,
  and cannot be shared (`m2`, which Ben said a month ago); 0.3.0 has nothing that an owner could
  share, repaired or not -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I47 fail_closed in 0.3.0, repaired by `fixed`: what is put before a message is anybody's (a
  stranger is given what Ana said of parcels) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I48 principal_source in 0.3.0, repaired by `fixed`: the same (Ana, who says to be Ben, is
  given what he said of parcels) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I49 foreign_handle in 0.3.0, repaired by `fixed`: the same (where a message of Ben's stands
  is told to Ana) -> test_what_it_breaks_holds_once_it_is_repaired
"""
