# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boils the dialect's TableGen records down to the table that the package reads.

    make_ops_table.py RECORDS.json TABLE.json

RECORDS.json is `llvm-tblgen --dump-json` of InlayOps.td. Each entry of the table has an op's `name`, `aten` names,
`operands` and `attributes` (name and kind), `format` (its assembly format), `reference` (its meaning as a Python
expression over torch), `summary`, whether it is `pointwise`, and if so, the `elements` that it is defined on (some of
"floats", "integers" and "booleans") and the elements of its `result` ("same" or "boolean").
"""

import json
import sys

ATTRIBUTE_KINDS = {
    "DenseI64ArrayAttr": "i64s",
    "I64Attr": "i64",
    "F64Attr": "f64",
    "UnitAttr": "unit",
    "TypeAttr": "type",
    "StrAttr": "string",
    "AffineMapAttr": "map",
}


def argument_kind(records, name):
    """(is an attribute, kind) of an `ins` entry: "tensor", "optional" or "variadic" for operands, "optional KIND" for
    attributes that may be absent."""
    if name in ATTRIBUTE_KINDS:
        return True, ATTRIBUTE_KINDS[name]
    classes = records[name]["!superclasses"]
    if "OptionalAttr" in classes:
        return True, f"optional {ATTRIBUTE_KINDS[records[name]['baseAttr']['def']]}"
    if "Attr" in classes:
        raise SystemExit(f"make_ops_table: no kind for attributes of class {name}; add it to ATTRIBUTE_KINDS")
    kinds = [kind for kind in ("Optional", "Variadic") if kind in classes]
    return False, kinds[0].lower() if kinds else "tensor"


def entry(records, record):
    pointwise = "Inlay_PointwiseOp" in record["!superclasses"]
    operands, attributes = [], []
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


def main(source, destination):
    with open(source, encoding="utf-8") as file:
        records = json.load(file)
    table = [entry(records, records[name]) for name in records["!instanceof"]["Inlay_GraphOp"]]
    table.sort(key=lambda op: op["name"])
    with open(destination, "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
