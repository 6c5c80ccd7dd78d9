# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the arguments of runs. Each pattern gets the arguments of the run that it is in."""

import copy
import threading

import inlay
import pytest
from inlay.errors import ArgumentTypeError, ArgumentValueError
from inlay.rewrite import PatternRewriter, RewritePatternManager, op, pattern
from rewriting import chain, kinds


class Tag(PatternRewriter):
    """Replaces t.a by t.b, with an attribute that names the run."""

    def __init__(self, hook=lambda: None, **options):
        super().__init__("tag", {"t.a"}, **options)
        self.hook = hook

    def match_and_rewrite(self, layer):
        self.hook()
        layer.replace_with(op("t.b", *layer.get_inputs(), results=layer.get_outputs(), tag=self.args["tag"]))
        return True


def manage(one):
    manager = RewritePatternManager()
    manager.add("one", one)
    return manager


def refused(manager):
    with pytest.raises(inlay.RewriteError, match="expected an idle pattern manager"):
        manager.rewrite(chain("t.a"), args={"tag": "wrong"})


def tags(module):
    return {layer.tag for layer in module.get_layers()}


def test_a_refused_run_leaves_the_arguments_of_the_one_that_goes_on():
    manager = manage(Tag(lambda: refused(manager)))
    module = chain("t.a", "t.a")
    assert manager.rewrite(module, args={"tag": "right"}) == 2
    assert tags(module) == {"right"}


def test_a_refused_run_of_another_thread_does_too():
    def elsewhere():
        thread = threading.Thread(target=refused, args=(manager,))
        thread.start()
        thread.join()

    manager = manage(Tag(elsewhere))
    module = chain("t.a", "t.a")
    assert manager.rewrite(module, args={"tag": "right"}) == 2
    assert tags(module) == {"right"}


def test_constraints_keep_their_run_s_arguments():
    seen = []
    asked = pattern("p")(lambda op, x: op("t.a", x)).to(lambda op, x: op("t.b", x))
    asked.constraint(lambda x: refused(manager) or True)
    asked.constraint(lambda x, args: seen.append(args["tag"]) or True)
    manager = manage(asked)
    assert manager.rewrite(chain("t.a"), args={"tag": "right"}) == 1
    assert seen == ["right"]


def test_a_pattern_of_two_managers_has_the_innermost_run_s_arguments():
    other, seen = chain("t.a"), []

    def rewrite_other():
        if not seen:
            seen.append(0)
            manage(one).rewrite(other, args={"tag": "inner"})

    one, module = Tag(rewrite_other), chain("t.a")
    assert manage(one).rewrite(module, args={"tag": "outer"}) == 1
    assert (tags(module), tags(other)) == ({"outer"}, {"inner"})
    assert one.args == {"tag": "outer"}


def test_a_pattern_of_two_threads_has_each_one_s_arguments():
    meet = threading.Barrier(2, timeout=60)
    one = Tag(meet.wait)
    modules = [chain(*["t.a"] * 50) for _ in range(2)]
    runs = [
        threading.Thread(target=manage(one).rewrite, args=(module,), kwargs={"args": {"tag": number}})
        for number, module in enumerate(modules)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [tags(module) for module in modules] == [{0}, {1}]


def test_arguments_may_be_given_by_hand():
    one = Tag(args={"tag": (str, int)})
    assert one.args is None
    one.args = {"tag": 3}
    assert copy.deepcopy(one).args == {"tag": 3}
    with pytest.raises(ArgumentValueError, match=r"pattern 'tag' needs argument 'tag', which isn't given$"):
        manage(one).rewrite(chain("t.a"), args={"t": 1})
    assert one.args == {"tag": 3}


def test_a_run_that_fails_gives_the_manager_back():
    manager, module = manage(Tag()), chain("t.a")
    for _ in range(2):
        with pytest.raises(ArgumentValueError, match="needs argument 'tag', which isn't given; did you mean 'tags'"):
            manager.rewrite(module, args={"tags": 1})
    assert manager.rewrite(module, args={"tag": 1}) == 1
    assert kinds(module) == ["t.b"]


def test_constraints_name_what_they_lack():
    asked = pattern("p")(lambda op, x: op("t.a", x)).to(lambda op, x: op("t.b", x))
    manager = manage(asked.constraint(lambda x, args: args["nope"]))
    with pytest.raises(ArgumentValueError, match=r"pattern 'one' needs argument 'nope', which isn't given(\n|$)"):
        manager.rewrite(chain("t.a"), args={"tag": 1})
    with pytest.raises(ArgumentValueError, match="argument 'nope', which isn't given; did you mean 'nopes'"):
        manager.rewrite(chain("t.a"), args={"nopes": 1})


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["b"], "expected args of pattern 'tag' to be a dict of types, but got"),
        ({"b": "int"}, "to give a class, or a tuple of them, by name, but got 'int' for 'b'"),
        ({"b": list[int]}, "but got list[int] for 'b'"),
        ({3: int}, "but got <class 'int'> for 3"),
        ({"b": ()}, "but got () for 'b'"),
    ],
)
def test_types_of_arguments_are_types(args, message):
    with pytest.raises(ArgumentTypeError) as error:
        Tag(args=args)
    assert message in str(error.value)


def test_unions_are_types():
    manager = manage(Tag(args={"tag": int | None}))
    with pytest.raises(ArgumentTypeError, match=r"'tag' of pattern 'tag' to be int \| None, but got 'x'"):
        manager.rewrite(chain("t.a"), args={"tag": "x"})


def test_arguments_have_names():
    with pytest.raises(ArgumentValueError, match="expected the keys of args to be names, but got"):
        manage(Tag()).rewrite(chain("t.a"), args={"": 1})
