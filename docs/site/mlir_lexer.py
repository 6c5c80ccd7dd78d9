"""Highlights MLIR in the pages, for which Pygments has no lexer."""

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["MlirLexer"]

BUILTIN_TYPES = r"(?<![A-Za-wyz_])(?:[su]?i\d+|b?f\d+(?:E\w+)?|index|none)\b"


class MlirLexer(RegexLexer):
    name = "MLIR"
    aliases: ClassVar = ["mlir"]
    filenames: ClassVar = ["*.mlir"]

    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"//[^\n]*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"', String),
            (r"%[\w$.-]+(?:#\d+)?", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"\^\w+", Name.Label),
            (r"[#!][\w$.-]+", Name.Decorator),
            (r"\b(?:tensor|memref|vector|tuple|complex|dense)(?=<)", Keyword.Type),
            (BUILTIN_TYPES, Keyword.Type),
            (r"\b(?:true|false|unit|loc|attributes|iter_args|to|step|else|module)\b", Keyword),
            (r"\b[a-z_]\w*(?:\.[a-z_]\w*)+", Name.Builtin),
            (r"(?:\?|\d+)(?=x)|(?<=[\d?])x", Keyword.Type),  # dims
            (r"-?\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)", Number),
            (r"->|[=:+*/-]", Operator),
            (r"[()\[\]{}<>,?|]", Punctuation),
            (r"[A-Za-z_]\w*", Name),
            (r".", Text),
        ]
    }
