// Removes layout ops and casts that do nothing or that one op can do, and replaces powers and quotients by cheaper ops.

// permute(permute(x)) -> permute(x)
pdl.pattern @permute_of_permute : benefit(1) {
  %x = pdl.operand
  %inner = pdl.attribute
  %outer = pdl.attribute
  %first = pdl.operation "inlay.permute"(%x : !pdl.value) {"dims" = %inner} {shared}
  %mid = pdl.result 0 of %first
  %second = pdl.operation "inlay.permute"(%mid : !pdl.value) {"dims" = %outer}
  pdl.rewrite %second {
    %dims = pdl.apply_native_rewrite "compose_dims"(%inner, %outer : !pdl.attribute, !pdl.attribute) : !pdl.attribute
    %new = pdl.operation "inlay.permute"(%x : !pdl.value) {"dims" = %dims}
    pdl.replace %second with %new
  }
}

// permute(x), identity permutation -> x
pdl.pattern @permute_identity : benefit(2) {
  %t = pdl.type
  %x = pdl.operand : %t
  %dims = pdl.attribute
  pdl.apply_native_constraint "identity_dims"(%dims : !pdl.attribute)
  %permute = pdl.operation "inlay.permute"(%x : !pdl.value) {"dims" = %dims} -> (%t : !pdl.type)
  pdl.rewrite %permute {
    pdl.replace %permute with (%x : !pdl.value)
  }
}

// reshape(reshape(x)) -> reshape(x)
pdl.pattern @reshape_of_reshape : benefit(1) {
  %x = pdl.operand
  %shape = pdl.attribute
  %m = pdl.type
  %first = pdl.operation "inlay.reshape"(%x : !pdl.value) -> (%m : !pdl.type) {shared}
  %mid = pdl.result 0 of %first
  %second = pdl.operation "inlay.reshape"(%mid : !pdl.value) {"shape" = %shape}
  %r = pdl.result 0 of %second
  pdl.apply_native_constraint "static_shape"(%r : !pdl.value)
  pdl.rewrite %second {
    %new = pdl.operation "inlay.reshape"(%x : !pdl.value) {"shape" = %shape}
    pdl.replace %second with %new
  }
}

// reshape(x) of the same type -> x
pdl.pattern @reshape_identity : benefit(2) {
  %t = pdl.type
  %x = pdl.operand : %t
  pdl.apply_native_constraint "static_shape"(%x : !pdl.value)
  %reshape = pdl.operation "inlay.reshape"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %reshape {
    pdl.replace %reshape with (%x : !pdl.value)
  }
}

// expand(x) of the same type -> x
pdl.pattern @expand_identity : benefit(2) {
  %t = pdl.type
  %x = pdl.operand : %t
  pdl.apply_native_constraint "static_shape"(%x : !pdl.value)
  %expand = pdl.operation "inlay.expand"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %expand {
    pdl.replace %expand with (%x : !pdl.value)
  }
}

// slice(x) of the same type -> x
pdl.pattern @slice_identity : benefit(2) {
  %t = pdl.type
  %x = pdl.operand : %t
  pdl.apply_native_constraint "static_shape"(%x : !pdl.value)
  %slice = pdl.operation "inlay.slice"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %slice {
    pdl.replace %slice with (%x : !pdl.value)
  }
}

// cat(x) of the same type -> x
pdl.pattern @cat_of_one : benefit(2) {
  %t = pdl.type
  %x = pdl.operand : %t
  %cat = pdl.operation "inlay.cat"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %cat {
    pdl.replace %cat with (%x : !pdl.value)
  }
}

// cast(x) to its own type -> x
pdl.pattern @cast_identity : benefit(2) {
  %t = pdl.type
  %x = pdl.operand : %t
  %cast = pdl.operation "inlay.cast"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %cast {
    pdl.replace %cast with (%x : !pdl.value)
  }
}

// cast(cast(x), back) -> x, if the type in between represents every value
pdl.pattern @cast_there_and_back : benefit(2) {
  %t = pdl.type
  %x = pdl.operand : %t
  %narrow = pdl.attribute = [f16, bf16]
  %wide = pdl.attribute = [f32, f64]
  pdl.apply_native_constraint "dtype"(%x, %narrow : !pdl.value, !pdl.attribute)
  %m = pdl.type
  %first = pdl.operation "inlay.cast"(%x : !pdl.value) -> (%m : !pdl.type) {shared}
  %mid = pdl.result 0 of %first
  pdl.apply_native_constraint "dtype"(%mid, %wide : !pdl.value, !pdl.attribute)
  %second = pdl.operation "inlay.cast"(%mid : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %second {
    pdl.replace %second with (%x : !pdl.value)
  }
}

// neg(neg(x)) -> x
pdl.pattern @neg_of_neg : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %m = pdl.type
  %first = pdl.operation "inlay.neg"(%x : !pdl.value) -> (%m : !pdl.type) {shared}
  %mid = pdl.result 0 of %first
  %second = pdl.operation "inlay.neg"(%mid : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %second {
    pdl.replace %second with (%x : !pdl.value)
  }
}

// relu(relu(x)) -> relu(x)
pdl.pattern @relu_of_relu : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %first = pdl.operation "inlay.relu"(%x : !pdl.value) -> (%t : !pdl.type) {shared}
  %mid = pdl.result 0 of %first
  %second = pdl.operation "inlay.relu"(%mid : !pdl.value)
  pdl.rewrite %second {
    pdl.replace %second with (%mid : !pdl.value)
  }
}

// x * 1 -> x
pdl.pattern @mul_one : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %one = pdl.operand
  %number = pdl.attribute = 1.0 : f64
  pdl.apply_native_constraint "splat"(%one, %number : !pdl.value, !pdl.attribute)
  %mul = pdl.operation "inlay.mul"(%x, %one : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %mul {
    pdl.replace %mul with (%x : !pdl.value)
  }
}

// x / 1 -> x
pdl.pattern @div_one : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %one = pdl.operand
  %number = pdl.attribute = 1.0 : f64
  pdl.apply_native_constraint "splat"(%one, %number : !pdl.value, !pdl.attribute)
  %div = pdl.operation "inlay.div"(%x, %one : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %div {
    pdl.replace %div with (%x : !pdl.value)
  }
}

// x + 0 -> x
pdl.pattern @add_zero : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %zero = pdl.operand
  %number = pdl.attribute = 0.0 : f64
  pdl.apply_native_constraint "splat"(%zero, %number : !pdl.value, !pdl.attribute)
  %add = pdl.operation "inlay.add"(%x, %zero : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %add {
    pdl.replace %add with (%x : !pdl.value)
  }
}

// x - 0 -> x
pdl.pattern @sub_zero : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %zero = pdl.operand
  %number = pdl.attribute = 0.0 : f64
  pdl.apply_native_constraint "splat"(%zero, %number : !pdl.value, !pdl.attribute)
  %sub = pdl.operation "inlay.sub"(%x, %zero : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %sub {
    pdl.replace %sub with (%x : !pdl.value)
  }
}

// pow(x, 2) -> x * x
pdl.pattern @square : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %two = pdl.operand
  %number = pdl.attribute = 2.0 : f64
  pdl.apply_native_constraint "splat"(%two, %number : !pdl.value, !pdl.attribute)
  %pow = pdl.operation "inlay.pow"(%x, %two : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %pow {
    %new = pdl.operation "inlay.mul"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %pow with %new
  }
}

// x / sqrt(y) -> x * rsqrt(y)
pdl.pattern @div_by_sqrt : benefit(1) {
  %x = pdl.operand
  %y = pdl.operand
  %t = pdl.type
  %u = pdl.type
  %sqrt = pdl.operation "inlay.sqrt"(%y : !pdl.value) -> (%u : !pdl.type)
  %root = pdl.result 0 of %sqrt
  %div = pdl.operation "inlay.div"(%x, %root : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %div {
    %rsqrt = pdl.operation "inlay.rsqrt"(%y : !pdl.value) -> (%u : !pdl.type)
    %over = pdl.result 0 of %rsqrt
    %new = pdl.operation "inlay.mul"(%x, %over : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %div with %new
  }
}

// reciprocal(sqrt(x)) -> rsqrt(x)
pdl.pattern @reciprocal_of_sqrt : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %sqrt = pdl.operation "inlay.sqrt"(%x : !pdl.value) -> (%t : !pdl.type)
  %root = pdl.result 0 of %sqrt
  %over = pdl.operation "inlay.reciprocal"(%root : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %over {
    %new = pdl.operation "inlay.rsqrt"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %over with %new
  }
}
