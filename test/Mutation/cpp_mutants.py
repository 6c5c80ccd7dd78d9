# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites C++ sources so that each holds all of its mutants, each behind a switch (Mutation.h).

Lines keep their numbers. Expressions that the compiler must evaluate are not mutated, nor are the texts of messages.
"""

import re

import tree_sitter_cpp
from mutant import Mutants
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_cpp.language()))

COMPARISONS = {"<": ("less", "<="), "<=": ("lessEqual", "<"), ">": ("greater", ">="), ">=": ("greaterEqual", ">")}
ARITHMETIC = {"+": ("plus", "-"), "-": ("minus", "+"), "*": ("times", "+"), "/": ("divide", "*"), "%": ("modulo", "+")}
ASSIGNMENTS = {
    "+=": ("addTo", "-="),
    "-=": ("subtractFrom", "+="),
    "*=": ("multiplyBy", "+="),
    "/=": ("divideBy", "*="),
}

# The compiler evaluates what is in these nodes, or they are not code.
CONSTANT = {
    "alignas_qualifier",
    "attribute_declaration",
    "bitfield_clause",
    "decltype",
    "enumerator",
    "noexcept",
    "optional_parameter_declaration",
    "sizeof_expression",
    "static_assert_declaration",
    "template_argument_list",
    "template_parameter_list",
    "preproc_def",
    "preproc_function_def",
    "preproc_if",
    "preproc_include",
    "string_literal",
}
# Functions that only affect speed, texts of messages, and debug output.
IGNORED = re.compile(r"(^|[.>:])(reserve|shrink_to_fit|format|formatv|emitError|emitOpError|emitWarning|attachNote)$")
IGNORED_MACROS = {"assert", "LLVM_DEBUG", "LDBG"}
ON = "::inlay::mutation::on"
# Larger hexadecimal numbers are factors of hashes. The factor plus one gives another hash that is as good.
MAX_HEXADECIMAL = 0xFFFFFFFF
INTEGER = re.compile(r"([0-9][0-9']*|0[xX][0-9a-fA-F']+)([uUlLzZ]*)$")


class CppMutator:
    """Mutates the sources of one campaign."""

    def __init__(self, mutants: Mutants) -> None:
        self.mutants = mutants

    def mutate(self, file: str, text: str, header: str) -> str:
        """Returns the source with all of its mutants. `header` is the path of Mutation.h."""
        self.file = file
        self.source = text.encode()
        self.lines = text.split("\n")
        return f'#include "{header}"\n#line 1\n' + self.render(PARSER.parse(self.source).root_node)

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def add(self, node: Node, *changes: str) -> int | None:
        row = node.start_point[0]
        return self.mutants.add(self.file, row + 1, self.lines[row].strip(), *changes)

    def render(self, node: Node) -> str:
        """Returns the text of the node with its mutants."""
        if node.type in CONSTANT or node.is_error or self.is_ignored(node):
            return self.text(node)
        match node.type:
            case "true" | "false":
                return self.render_boolean(node)
            case "number_literal":
                return self.render_number(node)
            case "binary_expression" if not node.has_error:
                return self.render_binary(node)
            case "assignment_expression":
                return self.render_assignment(node)
            case "unary_expression" if self.text(node.children[0]) == "!":
                return self.render_negation(node)
            case "condition_clause" if node.parent and node.parent.type != "switch_statement":
                return self.render_condition(node)
            case "expression_statement":
                return self.render_statement(node)
            case "return_statement" | "continue_statement" | "break_statement":
                return self.render_jump(node)
        return self.render_children(node)

    def render_children(self, node: Node) -> str:
        """Returns the text of a node that has no mutants of its own."""
        if node.child_count == 0:
            return self.text(node)
        pieces, at = [], node.start_byte
        for child in node.children:
            pieces.append(self.source[at : child.start_byte].decode())
            pieces.append(self.text(child) if is_constant(node, child) else self.render(child))
            at = child.end_byte
        return "".join([*pieces, self.source[at : node.end_byte].decode()])

    def is_ignored(self, node: Node) -> bool:
        """Returns true if nothing in the node is mutated."""
        match node.type:
            case "declaration" | "field_declaration" | "function_definition" | "if_statement":
                return any(self.text(child) == "constexpr" for child in node.children[:3])
            case "call_expression":
                function = self.text(node.children[0])
                return function in IGNORED_MACROS or IGNORED.search(function) is not None
        return False

    def render_boolean(self, node: Node) -> str:
        text = self.text(node)
        number = self.add(node, f"{text} -> {'false' if text == 'true' else 'true'}")
        return text if number is None else f"({'!' * (text == 'true')}{ON}({number}))"

    def render_number(self, node: Node) -> str:
        text = self.text(node)
        match = INTEGER.match(text)
        if not match:
            return text
        digits = match[1].replace("'", "")
        is_hexadecimal = digits[:2].lower() == "0x"
        value = int(digits, 16 if is_hexadecimal else 10)
        if is_hexadecimal and value > MAX_HEXADECIMAL:
            return text
        others = {0: [1], 1: [0, 2]}.get(value, [value + 1])
        number = self.add(node, *(f"{text} -> {other}" for other in others))
        for i, other in enumerate(others if number is not None else []):
            text = f"({ON}({number} + {i}) ? {other}{match[2]} : {text})"
        return text

    def render_binary(self, node: Node) -> str:
        operands = node.child_by_field_name("left"), node.child_by_field_name("right")
        left, right = (self.render(operand) for operand in operands if operand)
        between = self.source[operands[0].end_byte : operands[1].start_byte].decode()
        operator = self.text(node.child_by_field_name("operator") or node)
        plain = f"{left}{between}{right}"
        arguments = f"{left},{chr(10) * between.count(chr(10))} {right})"
        if operator in COMPARISONS:
            name, other = COMPARISONS[operator]
            number = self.add(node, f"{operator} -> {other}", f"{operator} negated")
            return plain if number is None else f"::inlay::mutation::{name}({number}, {arguments}"
        if operator in ARITHMETIC:
            name, other = ARITHMETIC[operator]
            number = self.add(node, f"{operator} -> {other}")
            return plain if number is None else f"::inlay::mutation::{name}({number}, {arguments}"
        if operator in ("==", "!="):
            number = self.add(node, f"{operator} negated")
            return plain if number is None else f"({ON}({number}) != ({plain}))"
        if operator in ("&&", "||"):
            number = self.add(node, f"left of {operator} dropped", f"right of {operator} dropped")
            skip = f"{ON}({{}}) ||" if operator == "&&" else f"!{ON}({{}}) &&"
            if number is not None:
                return f"(({skip.format(number)} ({left})){between}({skip.format(number + 1)} ({right})))"
        return plain

    def render_assignment(self, node: Node) -> str:
        operator = self.text(node.children[1])
        if operator not in ASSIGNMENTS or node.has_error:
            return self.render_children(node)
        name, other = ASSIGNMENTS[operator]
        left, right = self.render(node.children[0]), self.render(node.children[2])
        between = self.source[node.children[0].end_byte : node.children[2].start_byte].decode()
        number = self.add(node, f"{operator} -> {other}")
        if number is None:
            return f"{left}{between}{right}"
        return f"::inlay::mutation::{name}({number}, {left},{chr(10) * between.count(chr(10))} {right})"

    def render_negation(self, node: Node) -> str:
        text = self.render_children(node)
        number = self.add(node, "! dropped")
        return text if number is None else f"({ON}({number}) != {text})"

    def render_condition(self, node: Node) -> str:
        """Negates a condition whose value is a name or a call; operators have mutants of their own."""
        value = node.child_by_field_name("value")
        if value is None or value.type not in ("identifier", "call_expression", "field_expression"):
            return self.render_children(node)
        before = "".join(self.render(child) + " " for child in node.children if child.end_byte <= value.start_byte)
        lines = "\n" * (self.text(node).count("\n") - before.count("\n") - self.text(value).count("\n"))
        rendered = self.render(value)
        number = self.add(value, "condition negated")
        if number is not None:
            rendered = f"{ON}({number}) != static_cast<bool>({rendered})"
        return f"{before}{rendered}{lines})"

    def render_statement(self, node: Node) -> str:
        text = self.render_children(node)
        if not node.named_children or node.named_children[0].type not in ("call_expression", "update_expression"):
            return text
        if self.is_ignored(node.named_children[0]):
            return text
        number = self.add(node, "statement dropped")
        return text if number is None else f"{{ if (!{ON}({number})) {{ {text} }} }}"

    def render_jump(self, node: Node) -> str:
        """Drops a jump that is the whole body of an `if`, so that the code after it runs."""
        text = self.render_children(node)
        body = node.parent
        if body and body.type == "compound_statement" and body.named_child_count == 1:
            body = body.parent
        if not body or body.type != "if_statement" or body.child_by_field_name("alternative"):
            return text
        if not body.next_named_sibling:
            return text
        number = self.add(node, f"{node.type.removesuffix('_statement')} dropped")
        return text if number is None else f"{{ if (!{ON}({number})) {{ {text} }} }}"


def is_constant(node: Node, child: Node) -> bool:
    """Returns true if the compiler must evaluate this child."""
    if node.type in ("array_declarator", "new_declarator"):
        return child == node.child_by_field_name("size")
    return node.type == "case_statement" and child == node.child_by_field_name("value")
