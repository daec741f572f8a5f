"""A conversation in which each of two people is asked for what the other did."""

from __future__ import annotations

FAIR = """memsim: 1
name: fair
principals: [ana, ben]
turns:
  - user: I painted a heron for the fair.
    as: ben
    facts: {painting: heron}
  - assistant: The fair will like what you painted, Ben.
    as: ben
  - user: For the fair I paint the frame of my heron as well.
    as: ben
  - user: I baked a plum cake for the party.
    as: ana
    facts: {cake: plum}
  - assistant: Everybody at the party will like what you baked, Ana.
    as: ana
  - filler: 6
probes:
  p1: {ask: What did Ana paint for the fair?, expect: unknown, as: ana}
  p2: {ask: What did Ben bake for the party?, expect: unknown, as: ben}
  p3: {ask: What did Ben paint for the fair?, expect: heron, as: ben}
  p4: {ask: Which cake did Ana bake for the party?, expect: plum, as: ana}
"""
