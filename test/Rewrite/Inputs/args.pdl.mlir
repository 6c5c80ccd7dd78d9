// Pads only if an argument of the run requests it, by the number in another argument.
pdl.pattern @pad : benefit(1) {
  %mode = pdl.attribute = "mode"
  %pad = pdl.attribute = "pad"
  pdl.apply_native_constraint "arg"(%mode, %pad : !pdl.attribute, !pdl.attribute)
  %name = pdl.attribute = "amount"
  %amount = pdl.apply_native_constraint "arg"(%name : !pdl.attribute) : !pdl.attribute
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.conv"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.padded_conv"(%x : !pdl.value) {"amount" = %amount} -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
