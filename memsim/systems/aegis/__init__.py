"""The parts of AEGIS's memory: working memory, episodes and the injection ledger.

What of AEGIS's document is held by which test:

* working memory is the hash working_memory:{conversation_id} -> test_keys
* it lasts 24 hours, 86,400 seconds -> test_a_day_from_the_last_use
* every read and every write make it last again -> test_a_day_from_the_last_use
* 64 KB at most, 65,536 bytes -> test_the_limit_is_64_kb
* the size is MEMORY USAGE, checked after every write -> test_the_limit_is_64_kb
* what is too large is written all the same, and raises a ValueError
  -> test_the_write_succeeds_and_raises
* API: complex values are JSON, texts stand as they are -> test_values
* scratchpad, entities, well_api, entity_id and entity_type_key are its fields -> test_fields
* get gives all fields -> test_fields
* set merges, and does not replace -> test_set_merges
* delete takes fields out, or everything -> test_delete
* API: scratchpad and entities have calls of their own; None and [] where they are missing
  -> test_scratchpad_and_entities
* ttl_seconds takes the place of the day, for the whole key -> test_ttl_seconds
* the table episodic_memories has ten columns, as defined -> test_the_table
* its index is IVFFlat, cosine, 100 lists -> test_the_table
* vectors have 1,536 numbers -> test_the_table
* the embedder is OpenAI's text-embedding-3-small, where it is named -> test_the_embedder
* similarity is 1 minus the cosine distance -> test_similarity
* episodes are filtered by agent -> test_filters
* they are filtered by user where one is given -> test_filters
* the best k come first, by similarity -> test_similarity
* the search is approximate -> test_the_index_hides_rows
* the query is the user's latest message -> test_the_query_is_the_latest_message
* an episode has the decisions, the entities and the tools of its conversation
  -> test_an_episode_tells_what_was_decided
* a live model is asked for episodes and notes in memsim's words
  -> test_a_live_model_is_asked_for_episodes_and_notes
* three episodes are shown -> test_three_are_shown
* under the header, each as similarity with two digits and summary -> test_the_format
* episodes persist across sessions -> test_episodes_persist
* the ledger is the hash skill:ledger:{conversation_id} -> test_keys
* it has no TTL -> test_the_ledger_lasts
* items are called skill:{skill_id} -> test_a_skill_is_injected_once
* the mark is `injected`; `1` where none is said -> test_marks
* check, inject, mark -> test_check_inject_mark
* a skill asked for again is not injected again -> test_a_skill_is_injected_once
* a skill's content is system messages -> test_a_skill_is_injected_once
* API: skills, entities and artifacts are tracked -> test_the_ledger_takes_any_item
* evict lets it be injected again -> test_evict
* get_all gives the whole ledger -> test_marks
* API: RedisManager has get, set with `ex`, and delete -> test_the_manager_has_texts
* API: RedisManager has ledger_has, ledger_mark, ledger_get_all and the ledger's key
  -> test_the_manager_has_the_ledger
* the memory node reads working memory, then searches episodes -> test_the_order_of_nodes
* the ledger is used later, by the skill node -> test_the_order_of_nodes
* its message stands after the system prompt and before the first user's message
  -> test_the_position
* GET, PUT and DELETE of /working-memory/{conversation_id} -> test_the_service_working_memory
* status 413 over the size limit -> test_the_service_says_413
* POST /episodic/store and /episodic/search, GET /episodic/{conversation_id}
  -> test_the_service_episodes
* GET /ledger/{conversation_id}, POST check, mark and evict -> test_the_service_ledger
* the service listens on port 8002 -> test_the_service_listens
* Redis holds working memory and ledger -> test_a_real_redis
* PostgreSQL with pgvector holds the episodes -> test_a_real_postgres
* not reproduced: the pipeline injects entities and artifacts, and marks them
* not reproduced: the pipeline fills in well_api, entity_id and entity_type_key

* API: defect, repaired by `fixed`: a conversation of which no summary came is in no episode
  -> test_a_conversation_whose_summary_fails_is_lost

What `memsim check` finds against the design, with the conversation that shows it:

* breaks I1 pair_closure, repaired by `fixed`: a late result stands in the conversation in which it
  comes (the call `m2` in one, its result `m3` in the next)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I6 authority_non_elevation, repaired by `fixed`: what it remembers is a system message, as
  documented (`memory:2`, made of what a user said)
  -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I9 provider_validity, repaired by `fixed`: a late result comes first in its conversation
  (`m3`, once its call's id is used again there) -> test_what_it_breaks_holds_once_it_is_repaired
* breaks I15 within_budget, repaired by `fixed`: it knows no budget, and system messages stand in
  every prompt (44 tokens of them at a budget of 40)
  -> test_what_it_breaks_holds_once_it_is_repaired
"""
