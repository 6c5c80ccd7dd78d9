// RUN: inlay-opt %s --inlay-partition-verify --split-input-file --verify-diagnostics

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected every op to be in a segment, but got 'inlay.relu' outside of one}}
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @other_target(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected a target of the module, but got #inlay.declared<"npu", ["*"]>}}
    %0 = inlay.segment #inlay.declared<"npu", ["*"]>(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.relu %a {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @open(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected a closed segment, but its body uses values from around it}}
    %0 = inlay.segment #host() : () -> tensor<4xf32> {
      %1 = inlay.relu %x {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @no_verdict(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @below {{expected a verdict on an op in a segment, but got none}}
      %1 = inlay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#npu, #host]} {
  func.func @other_verdict(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @below {{expected a verdict for its segment's target 'host', but got 'npu'}}
      %1 = inlay.relu %a {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#npu = #inlay.declared<"npu", []>
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#npu, #host]} {
  func.func @cant_run(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #npu(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @below {{expected an op that 'npu' can run: inlay.relu is not among the ops that 'npu' declares}}
      %1 = inlay.relu %a {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#npu, #host]} {
  func.func @enters(%x: !inlay.list<i64>) -> i64 {
    // expected-error @below {{expected only tensors and scalars to enter 'npu', but got '!inlay.list<i64>'}}
    %0 = inlay.segment #npu(%x) : (!inlay.list<i64>) -> i64 {
    ^bb0(%a: !inlay.list<i64>):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (!inlay.list<i64>) -> i64
      inlay.yield %1 : i64
    }
    return %0 : i64
  }
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#npu, #host]} {
  func.func @leaves(%x: i64) -> !inlay.list<i64> {
    // expected-error @below {{expected only tensors and scalars to leave 'npu', but got '!inlay.list<i64>'}}
    %0 = inlay.segment #npu(%x) : (i64) -> !inlay.list<i64> {
    ^bb0(%a: i64):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (i64) -> !inlay.list<i64>
      inlay.yield %1 : !inlay.list<i64>
    }
    return %0 : !inlay.list<i64>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @only_copies(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected a segment with ops, but got only clones}}
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.relu %a {inlay.clone} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @nested_segment(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @below {{expected no segment directly in another}}
      %1 = inlay.segment #host(%a) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%b: tensor<4xf32>):
        inlay.yield %b : tensor<4xf32>
      }
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @split_but_merged(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: i1):
      // expected-error @below {{expected control flow that is split to be alone in a segment with do_not_merge}}
      %1 = scf.if %b -> tensor<4xf32> {
        scf.yield %a : tensor<4xf32>
      } else {
        scf.yield %a : tensor<4xf32>
      } {inlay.verdict = #inlay.verdict<"host", "supported", "">}
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @region_not_partitioned(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x, %c) do_not_merge : (tensor<4xf32>, i1) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: i1):
      %1 = scf.if %b -> tensor<4xf32> {
        // expected-error @below {{expected every op to be in a segment, but got 'inlay.relu' outside of one}}
        %2 = inlay.relu %a : (tensor<4xf32>) -> tensor<4xf32>
        scf.yield %2 : tensor<4xf32>
      } else {
        scf.yield %a : tensor<4xf32>
      } {inlay.verdict = #inlay.verdict<"host", "supported", "">}
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {inlay.targets = [#inlay.declared<"npu", ["*"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @not_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #inlay.declared<"npu", ["*"]>(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @below {{'inlay.neg' op expected an op with 'inlay.do_not_merge' to be alone in a segment with do_not_merge}}
      %1 = inlay.neg %a {inlay.do_not_merge, inlay.verdict = #inlay.verdict<"npu", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-note @unknown {{other occurrence here}}
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      // expected-error @unknown {{expected each op of the function once, but got 'one' twice}}
      %2 = inlay.opaque "f"(%1) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.yield %2 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  // expected-error @below {{expected the 2 ops that the function had, but got 1}}
  func.func @lost(%x: tensor<4xf32>) -> tensor<4xf32> attributes {inlay.size = 2 : i64} {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @no_original(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @unknown {{expected a clone of an op of the function, but none is named 'two'}}
      %1 = inlay.opaque "f"(%a) {inlay.clone} : (tensor<4xf32>) -> tensor<4xf32> loc("two")
      %2 = inlay.opaque "f"(%1) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.yield %2 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-note @below {{other op here}}
      inlay.opaque "w"(%a) writes [0] {inlay.order = 2 : i64, inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> ()
      inlay.yield %a : tensor<4xf32>
    }
    %1 = inlay.segment #host(%0) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @below {{expected effects in the order of the program, but an op that must run after this one runs before it}}
      %2 = inlay.opaque "f"(%a) {inlay.order = 1 : i64, inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %2 : tensor<4xf32>
    }
    return %1 : tensor<4xf32>
  }
}

// -----

!l = !inlay.list<tensor<4xf32>>
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @changes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %l = inlay.opaque "prim::ListConstruct"(%a) {inlay.order = 1 : i64, inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> !l loc("list")
      inlay.opaque "aten::append"(%l, %a) writes [0] {inlay.order = 2 : i64, inlay.verdict = #inlay.verdict<"host", "supported", "">} : (!l, tensor<4xf32>) -> () loc("append")
      %2 = inlay.opaque "f"(%l) {inlay.order = 3 : i64, inlay.verdict = #inlay.verdict<"host", "supported", "">} : (!l) -> tensor<4xf32> loc("one")
      inlay.yield %2 : tensor<4xf32>
    }
    %1 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-note @unknown {{clone of the list here}}
      %l = inlay.opaque "prim::ListConstruct"(%a) {inlay.clone, inlay.order = 1 : i64} : (tensor<4xf32>) -> !l loc("list")
      // expected-error @unknown {{expected to read the list after 1 changes, but got 0}}
      %2 = inlay.opaque "f"(%l) {inlay.order = 4 : i64, inlay.verdict = #inlay.verdict<"host", "supported", "">} : (!l) -> tensor<4xf32> loc("two")
      inlay.yield %2 : tensor<4xf32>
    }
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

#npu = #inlay.declared<"npu", ["*"]>
#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#npu, #host]} {
  func.func @pinned(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      // expected-error @below {{expected an op that is pinned to 'npu' to run there, but got it on 'host'}}
      %1 = inlay.opaque "f"(%a) {inlay.target = "npu", inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32>
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  func.func @written_copy(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = inlay.segment #host(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = inlay.opaque "f"(%a) {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      // expected-error @unknown {{expected a clone whose result no op writes, but an op writes it}}
      %2 = inlay.opaque "f"(%a) {inlay.clone} : (tensor<4xf32>) -> tensor<4xf32> loc("one")
      inlay.opaque "w"(%2) writes [0] {inlay.verdict = #inlay.verdict<"host", "supported", "">} : (tensor<4xf32>) -> ()
      inlay.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

#host = #inlay.declared<"host", ["*"]>
module attributes {inlay.targets = [#host]} {
  // expected-error @below {{expected a partitioned function to have one block, but got 2}}
  func.func @two_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
    cf.br ^bb1
  ^bb1:
    %0 = inlay.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
