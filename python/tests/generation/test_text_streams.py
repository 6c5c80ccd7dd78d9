# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the text that inlay_runtime makes from tokens while they are generated."""

import pytest
from inlay_runtime.tokenizer import TextCoder, TextStream


class Bytes:
    """Each byte is a token."""

    def encode(self, text):
        return list(text.encode())

    def decode(self, tokens):
        return bytes(tokens).decode("utf-8", "replace")


class Words(Bytes):
    """Each token is a word. The space before the first word of a text is dropped, as in SentencePiece."""

    def decode(self, tokens):
        return " ".join(f"w{token}" for token in tokens)


def run(text, stops=(), prompt=b"", chosen=None):
    """Returns the pieces of a text, and whether a stop string ended it."""
    stream = TextStream(TextCoder(chosen or Bytes(), 256), list(prompt), stops)
    pieces = []
    for token in text.encode() if isinstance(text, str) else text:
        pieces.append(stream.add(token))
        if stream.is_stopped:
            break
    return [*pieces, stream.finish()], stream.is_stopped


@pytest.mark.parametrize("prompt", [b"", b"abcdefgh", "ä€𝄞".encode()], ids=repr)
def test_characters_are_complete(prompt):
    pieces, is_stopped = run("aä€𝄞b", prompt=prompt)
    assert pieces == ["a", "", "ä", "", "", "€", "", "", "", "𝄞", "b", ""]
    assert not is_stopped


def test_bytes_that_are_no_character_are_kept():
    assert "".join(run(b"a\xe2\x82")[0]) == "a\ufffd"
    assert "".join(run(b"\xffa")[0]) == "\ufffda"


def test_spaces_before_words_are_kept():
    assert run([1, 2, 3], prompt=[7, 8, 9, 7, 8, 9], chosen=Words())[0] == [" w1", " w2", " w3", ""]
    assert run([1, 2, 3], chosen=Words())[0] == ["w1", " w2", " w3", ""]


@pytest.mark.parametrize(
    ("text", "stops", "want", "is_stopped"),
    [
        ("abcdef", ["cd"], "ab", True),
        ("abcdef", ["cd", "b"], "a", True),
        ("abcdef", ["abcdefg"], "abcdef", False),
        ("aababac", ["abac"], "aab", True),
        ("a€b€c", ["€c"], "a€b", True),
        ("abc", ["a"], "", True),
        ("abab", ["ba", "abab"], "a", True),
    ],
    ids=str,
)
def test_text_ends_before_a_stop_string(text, stops, want, is_stopped):
    pieces, found = run(text, stops)
    assert "".join(pieces) == want
    assert found == is_stopped


def test_beginnings_of_stop_strings_are_held_back():
    assert run("xabcab", ["abd"])[0] == ["x", "", "", "abc", "", "", "ab"]


def test_several_stop_strings_in_one_token():
    class Chunks(Bytes):
        def decode(self, tokens):
            return "".join(("one two three", "!")[token] for token in tokens)

    assert run([0, 1], ["two", "one t"], chosen=Chunks()) == (["", ""], True)
