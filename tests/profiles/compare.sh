#!/bin/sh
# compare.sh RELEASE RELEASED: compares the instructions of a program of Cargo's release profile with
# those of lanesum's. Functions that stay calls without link-time optimisation, once per input, show
# here. Callgrind counts them, so the load of the machine does not matter.
set -eu

# Prints the instructions of eight runs of a case.
count() {
    few=$(collected "$1" "$2" 1) && many=$(collected "$1" "$2" 9) && echo $((many - few))
}

collected() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : //p'
}

failed=0
for case in offsets-1-16 offsets-8-32 offsets-1-64 many-1-16 many-1-64 records-12-12 md5-8-8 md5-1-64
do
    release=$(count "$1" $case)
    released=$(count "$2" $case)
    echo "$case: $release instructions by Cargo's release profile, $released by lanesum's"
    # A call once per input was 25 to 46 % more.
    if [ $((20 * released)) -gt $((23 * release)) ]
    then echo "$case: more than 15 % more instructions: look for calls (objdump -d)" >&2; failed=1
    fi
done
exit $failed
