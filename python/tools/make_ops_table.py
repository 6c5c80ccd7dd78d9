# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the table of ops that the package reads from the TableGen records of the dialect.

    make_ops_table.py RECORDS.json TABLE.json

`llvm-tblgen --dump-json InlayOps.td` writes RECORDS.json. An entry of the table has the fields of an op: its `name`,
`aten` names, `operands` and `attributes` (name and kind), `format` (the assembly format), `reference` (the meaning as a
Python expression of torch), `summary` and `pointwise`. A pointwise op also has the `elements` that it supports (some of
"floats", "integers" and "booleans") and the elements of its `result` ("same" or "boolean").
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

ATTRIBUTE_KINDS = {
    "DenseI64ArrayAttr": "i64s",
    "I64Attr": "i64",
    "F64Attr": "f64",
    "UnitAttr": "unit",
    "TypeAttr": "type",
    "StrAttr": "string",
    "AffineMapAttr": "map",
}


def argument_kind(records: Mapping[str, Any], name: str) -> tuple[bool, str]:
    """Returns (true for an attribute, kind) for the class of an argument.

    The kind of an operand is "tensor", "optional" or "variadic". The kind of an optional attribute is "optional KIND".
    """
    if name in ATTRIBUTE_KINDS:
        return True, ATTRIBUTE_KINDS[name]
    classes = records[name]["!superclasses"]
    if "OptionalAttr" in classes:
        return True, f"optional {ATTRIBUTE_KINDS[records[name]['baseAttr']['def']]}"
    if "Attr" in classes:
        raise SystemExit(f"make_ops_table: attribute class {name} has no kind: add it to ATTRIBUTE_KINDS")
    kinds = [kind for kind in ("Optional", "Variadic") if kind in classes]
    return False, kinds[0].lower() if kinds else "tensor"


def entry(records: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the entry of the table for the record of an op."""
    pointwise = "Inlay_PointwiseOp" in record["!superclasses"]
    operands: list[dict[str, str]] = []
    attributes: list[dict[str, str]] = []
    for argument, name in record["arguments"]["args"]:
        is_attribute, kind = argument_kind(records, argument["def"])
        (attributes if is_attribute else operands).append({"name": name, "kind": kind})
    return {
        "name": record["opName"],
        "aten": record["atenNames"],
        "operands": operands,
        "attributes": attributes,
        "format": " ".join(record["assemblyFormat"].split()),
        "reference": record["referenceMeaning"],
        "summary": record["summary"],
        "pointwise": pointwise,
        "elements": [kind.lower() for kind in record["elementKinds"]] if pointwise else [],
        "result": record["resultElements"] if pointwise else "",
    }


def main(source: str, destination: str) -> None:
    with open(source, encoding="utf-8") as file:
        records = json.load(file)
    table = [entry(records, records[name]) for name in records["!instanceof"]["Inlay_GraphOp"]]
    table.sort(key=lambda op: op["name"])
    with open(destination, "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
