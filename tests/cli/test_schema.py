"""`memsim schema`: for editors."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result
from jsonschema import Draft202012Validator

from memsim.scaffold import template

SCENARIO = template("first.yaml")

Call = Callable[..., Result]


def test_it_is_a_schema_that_accepts_our_own_scenario(call: Call) -> None:
    """What `memsim init` writes is valid by what `memsim schema` prints."""
    import yaml

    schema = json.loads(call("schema").stdout)

    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(yaml.safe_load(SCENARIO))) == []


def test_a_misspelt_key_is_none_of_it(call: Call) -> None:
    """So an editor underlines it."""
    schema = json.loads(call("schema").stdout)

    errors = list(Draft202012Validator(schema).iter_errors({"memsim": 1, "trns": []}))

    assert errors
