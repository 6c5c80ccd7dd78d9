// Expands the plugins of `kernels` into ops of the dialect, for targets without such a kernel and for the check of
// `kernels`.

// plugin "rms_norm"(x, w) {eps} -> x * rsqrt(mean(x * x) + eps) * w
pdl.pattern @expand_rms_norm : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %name = pdl.attribute = "rms_norm"
  %eps = pdl.attribute
  %plugin = pdl.operation "inlay.plugin"(%x, %w : !pdl.value, !pdl.value) {"name" = %name, "eps" = %eps}
  pdl.rewrite %plugin {
    %number = pdl.apply_native_rewrite "scalar"(%eps, %x : !pdl.attribute, !pdl.value) : !pdl.attribute
    %constant = pdl.operation "inlay.constant" {"value" = %number}
    %c = pdl.result 0 of %constant
    %dims = pdl.apply_native_rewrite "trailing_dims"(%x, %w : !pdl.value, !pdl.value) : !pdl.attribute
    %keepdim = pdl.attribute = unit
    %squaring = pdl.operation "inlay.mul"(%x, %x : !pdl.value, !pdl.value)
    %square = pdl.result 0 of %squaring
    %averaging = pdl.operation "inlay.mean"(%square : !pdl.value) {"dims" = %dims, "keepdim" = %keepdim}
    %mean = pdl.result 0 of %averaging
    %adding = pdl.operation "inlay.add"(%mean, %c : !pdl.value, !pdl.value)
    %above = pdl.result 0 of %adding
    %rsqrt = pdl.operation "inlay.rsqrt"(%above : !pdl.value)
    %over = pdl.result 0 of %rsqrt
    %norming = pdl.operation "inlay.mul"(%x, %over : !pdl.value, !pdl.value)
    %normal = pdl.result 0 of %norming
    %new = pdl.operation "inlay.mul"(%normal, %w : !pdl.value, !pdl.value)
    pdl.replace %plugin with %new
  }
}

// plugin "rotary"(x, cos, sin) -> x * cos + cat(-right half of x, left half of x) * sin
pdl.pattern @expand_rotary : benefit(1) {
  %x = pdl.operand
  %cos = pdl.operand
  %sin = pdl.operand
  %name = pdl.attribute = "rotary"
  %plugin = pdl.operation "inlay.plugin"(%x, %cos, %sin : !pdl.value, !pdl.value, !pdl.value) {"name" = %name}
  pdl.rewrite %plugin {
    %half = pdl.apply_native_rewrite "half"(%x : !pdl.value) : !pdl.attribute
    %dim = pdl.attribute = -1 : i64
    %zero = pdl.attribute = 0 : i64
    %one = pdl.attribute = 1 : i64
    %end = pdl.attribute = 9223372036854775807 : i64
    %rightwards = pdl.operation "inlay.slice"(%x : !pdl.value) {"dim" = %dim, "start" = %half, "end" = %end, "step" = %one}
    %right = pdl.result 0 of %rightwards
    %leftwards = pdl.operation "inlay.slice"(%x : !pdl.value) {"dim" = %dim, "start" = %zero, "end" = %half, "step" = %one}
    %left = pdl.result 0 of %leftwards
    %neg = pdl.operation "inlay.neg"(%right : !pdl.value)
    %minus = pdl.result 0 of %neg
    %cat = pdl.operation "inlay.cat"(%minus, %left : !pdl.value, !pdl.value) {"dim" = %dim}
    %turned = pdl.result 0 of %cat
    %first = pdl.operation "inlay.mul"(%x, %cos : !pdl.value, !pdl.value)
    %a = pdl.result 0 of %first
    %second = pdl.operation "inlay.mul"(%turned, %sin : !pdl.value, !pdl.value)
    %b = pdl.result 0 of %second
    %new = pdl.operation "inlay.add"(%a, %b : !pdl.value, !pdl.value)
    pdl.replace %plugin with %new
  }
}

// plugin "swiglu"(gate, x) -> silu(gate) * x
pdl.pattern @expand_swiglu : benefit(1) {
  %gate = pdl.operand
  %x = pdl.operand
  %name = pdl.attribute = "swiglu"
  %plugin = pdl.operation "inlay.plugin"(%gate, %x : !pdl.value, !pdl.value) {"name" = %name}
  pdl.rewrite %plugin {
    %silu = pdl.operation "inlay.silu"(%gate : !pdl.value)
    %open = pdl.result 0 of %silu
    %new = pdl.operation "inlay.mul"(%open, %x : !pdl.value, !pdl.value)
    pdl.replace %plugin with %new
  }
}

// plugin "attention"(q, k, v) -> softmax(q k) v
pdl.pattern @expand_attention : benefit(1) {
  %q = pdl.operand
  %k = pdl.operand
  %v = pdl.operand
  %name = pdl.attribute = "attention"
  %plugin = pdl.operation "inlay.plugin"(%q, %k, %v : !pdl.value, !pdl.value, !pdl.value) {"name" = %name}
  pdl.rewrite %plugin {
    %dim = pdl.attribute = -1 : i64
    %product = pdl.operation "inlay.matmul"(%q, %k : !pdl.value, !pdl.value)
    %scores = pdl.result 0 of %product
    %softmax = pdl.operation "inlay.softmax"(%scores : !pdl.value) {"dim" = %dim}
    %shares = pdl.result 0 of %softmax
    %new = pdl.operation "inlay.matmul"(%shares, %v : !pdl.value, !pdl.value)
    pdl.replace %plugin with %new
  }
}

// plugin "attention"(q, k, v, mask) -> softmax(q k + mask) v
pdl.pattern @expand_attention_masked : benefit(1) {
  %q = pdl.operand
  %k = pdl.operand
  %v = pdl.operand
  %mask = pdl.operand
  %name = pdl.attribute = "attention"
  %plugin = pdl.operation "inlay.plugin"(%q, %k, %v, %mask : !pdl.value, !pdl.value, !pdl.value, !pdl.value) {"name" = %name}
  pdl.rewrite %plugin {
    %dim = pdl.attribute = -1 : i64
    %product = pdl.operation "inlay.matmul"(%q, %k : !pdl.value, !pdl.value)
    %scores = pdl.result 0 of %product
    %add = pdl.operation "inlay.add"(%scores, %mask : !pdl.value, !pdl.value)
    %masked = pdl.result 0 of %add
    %softmax = pdl.operation "inlay.softmax"(%masked : !pdl.value) {"dim" = %dim}
    %shares = pdl.result 0 of %softmax
    %new = pdl.operation "inlay.matmul"(%shares, %v : !pdl.value, !pdl.value)
    pdl.replace %plugin with %new
  }
}
