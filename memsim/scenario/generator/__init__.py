"""Generate conversations with dials: what is said, what is asked, and a proof of each answer.

A family writes a story, an event log with questions. The solver replays the log and has to come to
the answers that the story states. The log is then told as the turns of a script.
"""
