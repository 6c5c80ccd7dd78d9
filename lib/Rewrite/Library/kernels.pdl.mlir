// Replaces parts of transformers by plugins, for targets that have kernels for them. `expansions` defines what each
// plugin computes. The rules expect the form that `cleanup` and `fusions` produce.

// x * rsqrt(mean(x * x) + eps) * w -> plugin "rms_norm"(x, w) {eps}
pdl.pattern @rms_norm : benefit(1) attributes {finite} {
  %x = pdl.operand
  %w = pdl.operand
  %c = pdl.operand
  %floats = pdl.attribute = [f16, bf16, f32, f64]
  pdl.apply_native_constraint "dtype"(%x, %floats : !pdl.value, !pdl.attribute)
  %dims = pdl.attribute
  pdl.apply_native_constraint "trailing_dims"(%dims, %x, %w : !pdl.attribute, !pdl.value, !pdl.value)
  %eps = pdl.apply_native_constraint "splat_value"(%c : !pdl.value) : !pdl.attribute
  %keepdim = pdl.attribute = unit
  %t = pdl.type
  %u = pdl.type
  %squaring = pdl.operation "inlay.mul"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %square = pdl.result 0 of %squaring
  %averaging = pdl.operation "inlay.mean"(%square : !pdl.value) {"dims" = %dims, "keepdim" = %keepdim} -> (%u : !pdl.type)
  %mean = pdl.result 0 of %averaging
  %adding = pdl.operation "inlay.add"(%mean, %c : !pdl.value, !pdl.value) -> (%u : !pdl.type)
  %above = pdl.result 0 of %adding
  %rsqrt = pdl.operation "inlay.rsqrt"(%above : !pdl.value) -> (%u : !pdl.type)
  %over = pdl.result 0 of %rsqrt
  %norming = pdl.operation "inlay.mul"(%x, %over : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %normal = pdl.result 0 of %norming
  %weighing = pdl.operation "inlay.mul"(%normal, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %weighing {
    %name = pdl.attribute = "rms_norm"
    %new = pdl.operation "inlay.plugin"(%x, %w : !pdl.value, !pdl.value) {"name" = %name, "eps" = %eps} -> (%t : !pdl.type)
    pdl.replace %weighing with %new
  }
}

// x * cos + cat(-right half of x, left half of x) * sin -> plugin "rotary"(x, cos, sin)
pdl.pattern @rotary : benefit(1) {
  %x = pdl.operand
  %cos = pdl.operand
  %sin = pdl.operand
  pdl.apply_native_constraint "same_type"(%cos, %sin : !pdl.value, !pdl.value)
  %dim = pdl.attribute
  pdl.apply_native_constraint "last_dim"(%dim, %x : !pdl.attribute, !pdl.value)
  %half = pdl.attribute
  %end = pdl.attribute
  pdl.apply_native_constraint "halves"(%x, %half, %end : !pdl.value, !pdl.attribute, !pdl.attribute)
  %zero = pdl.attribute = 0 : i64
  %one = pdl.attribute = 1 : i64
  %t = pdl.type
  %u = pdl.type
  %rightwards = pdl.operation "inlay.slice"(%x : !pdl.value)
    {"dim" = %dim, "start" = %half, "end" = %end, "step" = %one} -> (%u : !pdl.type)
  %right = pdl.result 0 of %rightwards
  %leftwards = pdl.operation "inlay.slice"(%x : !pdl.value)
    {"dim" = %dim, "start" = %zero, "end" = %half, "step" = %one} -> (%u : !pdl.type)
  %left = pdl.result 0 of %leftwards
  %neg = pdl.operation "inlay.neg"(%right : !pdl.value) -> (%u : !pdl.type)
  %minus = pdl.result 0 of %neg
  %cat = pdl.operation "inlay.cat"(%minus, %left : !pdl.value, !pdl.value) {"dim" = %dim} -> (%t : !pdl.type)
  %turned = pdl.result 0 of %cat
  %first = pdl.operation "inlay.mul"(%x, %cos : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %a = pdl.result 0 of %first
  %second = pdl.operation "inlay.mul"(%turned, %sin : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %b = pdl.result 0 of %second
  %add = pdl.operation "inlay.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %add {
    %name = pdl.attribute = "rotary"
    %new = pdl.operation "inlay.plugin"(%x, %cos, %sin : !pdl.value, !pdl.value, !pdl.value) {"name" = %name} -> (%t : !pdl.type)
    pdl.replace %add with %new
  }
}

// silu(gate) * x -> plugin "swiglu"(gate, x)
pdl.pattern @swiglu : benefit(1) {
  %gate = pdl.operand
  %x = pdl.operand
  pdl.apply_native_constraint "same_type"(%gate, %x : !pdl.value, !pdl.value)
  %t = pdl.type
  %silu = pdl.operation "inlay.silu"(%gate : !pdl.value) -> (%t : !pdl.type)
  %open = pdl.result 0 of %silu
  %mul = pdl.operation "inlay.mul"(%open, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %mul {
    %name = pdl.attribute = "swiglu"
    %new = pdl.operation "inlay.plugin"(%gate, %x : !pdl.value, !pdl.value) {"name" = %name} -> (%t : !pdl.type)
    pdl.replace %mul with %new
  }
}

// (q k) / c -> (q / c) k, so that the scores of attention are a plain product
pdl.pattern @scores_scale : benefit(1) attributes {finite} {
  %q = pdl.operand
  %k = pdl.operand
  %c = pdl.operand
  %zero = pdl.attribute = 0 : i64
  pdl.apply_native_constraint "rank"(%c, %zero : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "constant"(%c : !pdl.value)
  %matmul = pdl.operation "inlay.matmul"(%q, %k : !pdl.value, !pdl.value)
  %scores = pdl.result 0 of %matmul
  %div = pdl.operation "inlay.div"(%scores, %c : !pdl.value, !pdl.value)
  pdl.rewrite %div {
    %scaling = pdl.operation "inlay.div"(%q, %c : !pdl.value, !pdl.value)
    %scaled = pdl.result 0 of %scaling
    %new = pdl.operation "inlay.matmul"(%scaled, %k : !pdl.value, !pdl.value)
    pdl.replace %div with %new
  }
}

// softmax(q k) v -> plugin "attention"(q, k, v)
pdl.pattern @attention : benefit(2) {
  %q = pdl.operand
  %k = pdl.operand
  %v = pdl.operand
  %dim = pdl.attribute
  %s = pdl.type
  %t = pdl.type
  %product = pdl.operation "inlay.matmul"(%q, %k : !pdl.value, !pdl.value) -> (%s : !pdl.type)
  %scores = pdl.result 0 of %product
  pdl.apply_native_constraint "last_dim"(%dim, %scores : !pdl.attribute, !pdl.value)
  %softmax = pdl.operation "inlay.softmax"(%scores : !pdl.value) {"dim" = %dim} -> (%s : !pdl.type)
  %shares = pdl.result 0 of %softmax
  %matmul = pdl.operation "inlay.matmul"(%shares, %v : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %matmul {
    %name = pdl.attribute = "attention"
    %new = pdl.operation "inlay.plugin"(%q, %k, %v : !pdl.value, !pdl.value, !pdl.value) {"name" = %name} -> (%t : !pdl.type)
    pdl.replace %matmul with %new
  }
}

// softmax(q k + mask) v -> plugin "attention"(q, k, v, mask)
pdl.pattern @attention_masked : benefit(2) {
  %q = pdl.operand
  %k = pdl.operand
  %v = pdl.operand
  %mask = pdl.operand
  %dim = pdl.attribute
  %s = pdl.type
  %t = pdl.type
  %product = pdl.operation "inlay.matmul"(%q, %k : !pdl.value, !pdl.value) -> (%s : !pdl.type)
  %scores = pdl.result 0 of %product
  pdl.apply_native_constraint "last_dim"(%dim, %scores : !pdl.attribute, !pdl.value)
  %add = pdl.operation "inlay.add"(%scores, %mask : !pdl.value, !pdl.value) -> (%s : !pdl.type)
  %masked = pdl.result 0 of %add
  %softmax = pdl.operation "inlay.softmax"(%masked : !pdl.value) {"dim" = %dim} -> (%s : !pdl.type)
  %shares = pdl.result 0 of %softmax
  %matmul = pdl.operation "inlay.matmul"(%shares, %v : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %matmul {
    %name = pdl.attribute = "attention"
    %new = pdl.operation "inlay.plugin"(%q, %k, %v, %mask : !pdl.value, !pdl.value, !pdl.value, !pdl.value) {"name" = %name} -> (%t : !pdl.type)
    pdl.replace %matmul with %new
  }
}
