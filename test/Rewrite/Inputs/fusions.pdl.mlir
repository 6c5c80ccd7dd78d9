// relu(add(matmul(x, w), b)) -> fused(x, w, b)
pdl.pattern @fuse_linear : benefit(2) {
  %x = pdl.operand
  %w = pdl.operand
  %b = pdl.operand
  %t = pdl.type
  %matmul = pdl.operation "t.matmul"(%x, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %product = pdl.result 0 of %matmul
  %add = pdl.operation "t.add"(%product, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type) {commutative}
  %sum = pdl.result 0 of %add
  %relu = pdl.operation "t.relu"(%sum : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %relu {
    %fused = pdl.operation "t.fused"(%x, %w, %b : !pdl.value, !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %relu with %fused
  }
}

// The same if the product has other users. It is then computed twice.
pdl.pattern @fuse_shared : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %exp = pdl.operation "t.exp"(%x : !pdl.value) -> (%t : !pdl.type) {shared}
  %r = pdl.result 0 of %exp
  %neg = pdl.operation "t.neg"(%r : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %neg {
    %new = pdl.operation "t.neg_exp"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %neg with %new
  }
}

// add(x, x) -> dbl(x)
pdl.pattern @double : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %add = pdl.operation "t.add"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %add {
    %new = pdl.operation "t.dbl"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %add with %new
  }
}

// squeeze(unsqueeze(x)) -> x
pdl.pattern @squeeze_unsqueeze : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %axis = pdl.attribute
  %u = pdl.type
  %unsqueeze = pdl.operation "t.unsqueeze"(%x : !pdl.value) {"axis" = %axis} -> (%u : !pdl.type)
  %v = pdl.result 0 of %unsqueeze
  %squeeze = pdl.operation "t.squeeze"(%v : !pdl.value) {"axis" = %axis} -> (%t : !pdl.type)
  pdl.rewrite %squeeze {
    pdl.replace %squeeze with (%x : !pdl.value)
  }
}

// cat(..., last) -> my_cat(last, ...): a list before a value.
pdl.pattern @cat : benefit(1) {
  %most = pdl.operands
  %last = pdl.operand
  %t = pdl.type
  %cat = pdl.operation "t.cat"(%most, %last : !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %cat {
    %new = pdl.operation "t.my_cat"(%last, %most : !pdl.value, !pdl.range<value>) -> (%t : !pdl.type)
    pdl.replace %cat with %new
  }
}

// Two results: s = residual(x, r) and norm(s, w), where s has other users.
pdl.pattern @add_norm : benefit(1) {
  %x = pdl.operand
  %r = pdl.operand
  %w = pdl.operand
  %t = pdl.type
  %add = pdl.operation "t.residual"(%x, %r : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %s = pdl.result 0 of %add
  %norm = pdl.operation "t.norm"(%s, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %norm {
    %new = pdl.operation "t.add_norm"(%x, %r, %w : !pdl.value, !pdl.value, !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
    %n2 = pdl.result 0 of %new
    %s2 = pdl.result 1 of %new
    pdl.replace %norm with (%n2 : !pdl.value)
    pdl.replace %add with (%s2 : !pdl.value)
  }
}

// Two roots that share only x.
pdl.pattern @two_products : benefit(1) {
  %x = pdl.operand
  %w0 = pdl.operand
  %w1 = pdl.operand
  %t = pdl.type
  %p = pdl.operation "t.left"(%x, %w0 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %q = pdl.operation "t.right"(%x, %w1 : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite {
    %new = pdl.operation "t.both"(%x, %w0, %w1 : !pdl.value, !pdl.value, !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
    %a = pdl.result 0 of %new
    %b = pdl.result 1 of %new
    pdl.replace %p with (%a : !pdl.value)
    pdl.replace %q with (%b : !pdl.value)
  }
}

// An op with a region, which moves to the new op.
pdl.pattern @keep_region : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.region"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.new_region"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.apply_native_rewrite "take_regions"(%new, %op : !pdl.operation, !pdl.operation)
    pdl.replace %op with %new
  }
}

// An op with a region that the pattern does not mention.
pdl.pattern @lose_region : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "t.other_region"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "t.lost"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
