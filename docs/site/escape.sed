# Doxygen reads <name> in a comment as a tag of HTML, so this escapes each < of a comment that is not in a code span.
:again
s@^(.*///<?[^<](\\.|[^`<\\]|`[^`]*`)*)<@\1\\<@
t again
