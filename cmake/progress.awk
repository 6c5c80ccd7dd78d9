# Prints the progress of ninja: a line for each tenth of the steps, with the step that runs.
match($0, /^\[[0-9]+\/[0-9]+\]/) {
  split(substr($0, 2, RLENGTH - 2), steps, "/")
  tenth = int(10 * steps[1] / steps[2])
  if (tenth > last || steps[1] == steps[2]) {
    step = substr($0, RLENGTH + 2)
    sub(/^Building [A-Z]+ object /, "", step)
    sub(/CMakeFiles\/[^\/]*\.dir\//, "", step)
    printf "   %3d %%  [%d/%d] %s\n", 100 * steps[1] / steps[2], steps[1], steps[2], step
    fflush()
    last = tenth
  }
}
