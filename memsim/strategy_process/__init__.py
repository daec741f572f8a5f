"""Play a strategy in a process of its own, away from scenario, gold and scoring.

The strategy's process gets messages, questions and the time over a pipe, and gives contexts back.
Model, embedder, tokenizer, folder, script and scores stay in the process that plays the case::

    player  ── call: name, time, arguments ─────────►  strategy
            ◄─ ask: a model, an embedder, tokens ────
            ── answer ──────────────────────────────►
            ◄─ done: value, events; or its error ────

What the strategy opens, lists and starts is told over a second pipe. docs/threat-model.md says what
that defends against, and what not.
"""
