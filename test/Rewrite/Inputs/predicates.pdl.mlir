// relu(x) -> marked {kind = property of x}, one pattern per predicate, each for a different op.
pdl.pattern @dtype : benefit(1) {
  %x = pdl.operand
  %f16 = pdl.attribute = [f16, "bf16"]
  pdl.apply_native_constraint "dtype"(%x, %f16 : !pdl.value, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.dtype"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @rank : benefit(1) {
  %x = pdl.operand
  %one = pdl.attribute = 1
  %two = pdl.attribute = 2
  pdl.apply_native_constraint "rank"(%x, %one, %two : !pdl.value, !pdl.attribute, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.rank"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @multiple_of : benefit(1) {
  %x = pdl.operand
  %last = pdl.attribute = -1
  %factor = pdl.attribute = 8
  pdl.apply_native_constraint "multiple_of"(%x, %last, %factor : !pdl.value, !pdl.attribute, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.multiple"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @dim : benefit(1) {
  %x = pdl.operand
  %dim = pdl.attribute = 0
  %size = pdl.attribute = 4
  pdl.apply_native_constraint "dim"(%x, %dim, %size : !pdl.value, !pdl.attribute, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.dim"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @dim_between : benefit(1) {
  %x = pdl.operand
  %dim = pdl.attribute = 0
  %least = pdl.attribute = 2
  %most = pdl.attribute = 4
  pdl.apply_native_constraint "dim_between"(%x, %dim, %least, %most : !pdl.value, !pdl.attribute, !pdl.attribute, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.between"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @splat : benefit(1) {
  %x = pdl.operand
  %number = pdl.attribute = 2.0 : f64
  pdl.apply_native_constraint "splat"(%x, %number : !pdl.value, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.splat"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @foldable : benefit(1) {
  %x = pdl.operand
  pdl.apply_native_constraint "foldable"(%x : !pdl.value)
  %t = pdl.type
  %op = pdl.operation "t.foldable"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @not_constant : benefit(1) {
  %x = pdl.operand
  pdl.apply_native_constraint "constant"(%x : !pdl.value) {isNegated = true}
  %t = pdl.type
  %op = pdl.operation "t.variable"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
pdl.pattern @uses : benefit(1) {
  %x = pdl.operand
  %two = pdl.attribute = 2
  pdl.apply_native_constraint "uses"(%x, %two : !pdl.value, !pdl.attribute)
  %t = pdl.type
  %op = pdl.operation "t.uses"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.yes"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
