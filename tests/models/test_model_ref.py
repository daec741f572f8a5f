"""Names of models and embedders."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memsim.errors import RefError
from memsim.models.model_ref import LiveRef, ModelRef, read_embedder, read_model


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("hash", ("hash", "hash", 256)),
        ("hash:dim=128", ("hash", "hash:dim=128", 128)),
        ("hash:dim=256", ("hash", "hash", 256)),
        ("wordllama", ("wordllama", "wordllama", 256)),
        ("wordllama:dim=64", ("wordllama", "wordllama:dim=64", 64)),
        ("minilm", ("minilm", "minilm", 384)),
        ("litellm/openai/any:thing", ("litellm", "openai/any:thing", 0)),
    ],
)
def test_an_embedder_is_read_from_its_ref(ref: str, expected: tuple[str, str, int]) -> None:
    """Defaults do not show in a name."""
    assert read_embedder(ref) == expected


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("wordlama", "did you mean 'wordllama'?"),
        ("Hash", "did you mean 'hash'?"),
        ("openai/text-embedding-3-small", "there are hash, minilm, wordllama, litellm/<model>"),
        ("litellm/", "no embedder is called"),
        ("", "no embedder is called"),
        ("hash:", "must be written as name:param=value"),
        ("hash:128", "must be written as name:param=value"),
        ("hash:=128", "must be written as name:param=value"),
        ("hash:dims=128", "did you mean 'dim'?"),
        ("hash:dim=128,dim=64", "gives a parameter twice"),
        ("hash:dim=0", "between 16 and 4096"),
        ("hash:dim=-8", "between 16 and 4096"),
        ("hash:dim=1e3", "between 16 and 4096"),
        ("hash:dim=99999999999999999999", "between 16 and 4096"),
        ("wordllama:dim=100", "dim must be one of 64, 128, 256"),
    ],
)
def test_a_wrong_embedder_is_refused_in_a_line(ref: str, said: str) -> None:
    """It says what is wrong, and what may have been meant."""
    with pytest.raises(RefError) as refused:
        read_embedder(ref)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("ofline", "did you mean 'offline'?"),
        ("gpt-4o", "live models are named provider/model, such as openai/gpt-4o-mini"),
        ("openai/", "must be written as provider/model"),
        ("/gpt-4o", "must be written as provider/model"),
        ("openai/gpt-4o:temprature=1", "did you mean 'temperature'?"),
        ("openai/gpt-4o:temperature=hot", "temperature must be a number between 0 and 2"),
        ("openai/gpt-4o:max_tokens=0", "max_tokens must be a whole number above 0"),
        ("openai/gpt-4o:price=1", "price must be dollars for a million tokens"),
        ("openai/gpt-4o:price=-1/2", "price must be dollars for a million tokens"),
        ("", "no model is called ''"),
        ("offline:miss=2", "miss must be a share between 0 and 1"),
        ("offline:miss=nan", "miss must be a share between 0 and 1"),
        ("offline:miss=often", "miss must be a share between 0 and 1"),
        ("offline:mis=0.1", "did you mean 'miss'?"),
        ("offline:miss", "must be written as name:param=value"),
    ],
)
def test_a_wrong_model_is_refused_in_a_line(ref: str, said: str) -> None:
    """A live model's name is told apart from a slip."""
    with pytest.raises(RefError) as refused:
        read_model(ref)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_offline_model_has_a_share_of_misses() -> None:
    """None by default."""
    assert read_model("offline") == ModelRef(0.0)
    assert read_model("offline: miss = 0.5") == ModelRef(0.5)


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("openai/gpt-4o-mini", LiveRef(model="openai/gpt-4o-mini")),
        ("ollama/llama3:8b", LiveRef(model="ollama/llama3:8b")),
        (
            "ollama/llama3:8b:temperature=0.5,max_tokens=64",
            LiveRef(model="ollama/llama3:8b", temperature=0.5, max_tokens=64),
        ),
        ("a/b/c:price=0.15/0.6", LiveRef(model="a/b/c", price=(0.15, 0.6))),
    ],
)
def test_a_live_model_is_read_from_its_ref(ref: str, expected: LiveRef) -> None:
    """Colons of its own are part of its name; its name says what is not as usual."""
    assert expected == read_model(ref)
    assert ref == expected.label


def test_checking_a_ref_loads_nothing() -> None:
    """Settings are checked before anything heavy is imported."""
    code = (
        "import sys\n"
        "from memsim.models.model_ref import read_embedder, read_model\n"
        "read_embedder('wordllama:dim=64'); read_model('offline'); read_model('a/b')\n"
        "heavy = {'numpy', 'wordllama', 'litellm', 'Stemmer', 'tiktoken'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert found.strip() == "[]"
