// The example in the description of the pass.
pdl.pattern @add_to_sub : benefit(1) {
  %a = pdl.operand
  %b = pdl.operand
  %type = pdl.type
  %add = pdl.operation "inlay.add"(%a, %b : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %add {
    %sub = pdl.operation "inlay.sub"(%a, %b : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %add with %sub
  }
}
