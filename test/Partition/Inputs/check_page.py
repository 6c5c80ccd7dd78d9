"""Check that an HTML page is well-formed and self-contained: `check_page.py PAGE [CLASS=COUNT ...]`.

Every element must be closed in the right order, ids must be unique, links must lead to ids, nothing may be loaded from
elsewhere, and there must be one script and one style. CLASS=COUNT expects that many elements of a class. Prints the
problems and exits 1, else prints the number of elements.
"""

import collections
import html.parser
import pathlib
import sys

VOID = {"meta", "input", "br", "hr", "img", "link"}
LOADS = {"src", "srcset", "data", "poster", "action", "formaction", "xlink:href", "background"}


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.ids, self.links = [], [], [], []
        self.elements, self.classes = collections.Counter(), collections.Counter()

    def note(self, text):
        self.problems.append(f"line {self.getpos()[0]}: {text}")

    def handle_starttag(self, tag, attributes, closed=False):
        self.elements[tag] += 1
        for name, value in attributes:
            if name in LOADS or (name == "href" and not value.startswith("#")) or name.startswith("on"):
                self.note(f"<{tag}> has {name}={value!r}")
            self.ids += [value] if name == "id" else []
            self.links += [value[1:]] if name == "href" else []
            self.classes.update(value.split() if name == "class" else [])
        if tag not in VOID and not closed:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes, closed=True)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.note(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def finish(self):
        self.close()
        self.problems += [f"<{tag}> is never closed" for tag in self.open]
        repeated = [name for name, count in collections.Counter(self.ids).items() if count > 1]
        self.problems += [f"id {name} is used more than once" for name in repeated]
        self.problems += sorted({f"a link leads to no element #{link}" for link in set(self.links) - set(self.ids)})
        for tag in ("script", "style"):
            if self.elements[tag] != 1:
                self.problems.append(f"expected one <{tag}>, but got {self.elements[tag]}")


def main():
    page, *wanted = sys.argv[1:]
    text = pathlib.Path(page).read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text)
    checker.finish()
    for loads in ("@import", "url(", "http:", "https:", "fetch(", "XMLHttpRequest"):
        if loads in text:
            checker.problems.append(f"the page contains {loads!r}")
    for want in wanted:
        name, count = want.rsplit("=", 1)
        if checker.classes[name] != int(count):
            checker.problems.append(f"expected {count} elements of class {name}, but got {checker.classes[name]}")
    print("\n".join(checker.problems) or f"{sum(checker.elements.values())} elements, {len(text)} characters")
    sys.exit(bool(checker.problems))


if __name__ == "__main__":
    main()
