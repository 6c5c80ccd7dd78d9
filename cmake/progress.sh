#!/usr/bin/env bash
# Prints the progress of ninja, whose output it reads: a line for each tenth of the steps, with the step that runs.
last=0
while IFS= read -r line; do
  [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]] || continue
  done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} step=${BASH_REMATCH[3]}
  tenth=$((10 * done / all))
  [ "$tenth" -gt "$last" ] || continue
  last=$tenth
  step=${step#Building CXX object }
  printf '   %3d %%  [%d/%d] %s\n' "$((100 * done / all))" "$done" "$all" "${step//CMakeFiles\/*.dir\//}"
done
