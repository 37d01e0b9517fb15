#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""calls.py - what does a call of OpenCL cost the calling thread, on Salvo and on PoCL?

Instructions for each call of build/tests/bench/enqueue, by callgrind: with the loader, and with all that the call
does itself, but not what other threads do. Counts hardly vary with the load of the machine.

usage: calls.py [--json]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CALLS = ('clSetKernelArg', 'clEnqueueNDRangeKernel', 'clFinish', 'clEnqueueWriteBuffer', 'clEnqueueReadBuffer',
         'clCreateBuffer', 'clReleaseMemObject')


def profile(driver, folder):
    """The file that callgrind has written for a driver."""
    out = f'{folder}/{driver}'
    done = subprocess.run(['valgrind', '--tool=callgrind', '--compress-strings=no', '--compress-pos=no',
                           f'--callgrind-out-file={out}', f'{ROOT}/build/tests/bench/enqueue', '--rounds', '2',
                           '--only', driver], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f'enqueue on {driver}: exit code {done.returncode}\n{done.stderr[-2000:]}')
    return out


def costs(path):
    """Of each of CALLS, its count and its instructions in all, with those of what it calls."""
    sums = {name: [0, 0] for name in CALLS}
    caller = callee = None
    with open(path, encoding='utf-8', errors='replace') as lines:
        for line in lines:
            if line.startswith('fn='):
                caller = re.sub("'[0-9]+$", '', line[3:].strip())
            elif line.startswith('cfn='):
                callee = re.sub("'[0-9]+$", '', line[4:].strip())
            elif line.startswith('calls='):
                count = int(line[6:].split()[0])
                cost = int(next(lines).split()[-1])
                # Not the loader's or the linker's own way to a function of this name.
                if callee in sums and caller != callee and not caller.startswith('_dl_'):
                    sums[callee][0] += count
                    sums[callee][1] += cost
    return sums


def main():
    if sys.argv[1:] not in ([], ['--json']):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        sides = [costs(profile(driver, folder)) for driver in ('salvo', 'pocl')]
    if not sys.argv[1:]:
        print(f'{"instructions":24} {"calls":>8} {"Salvo":>10} {"PoCL":>10} {"ratio":>8}')
    for name in CALLS:
        if not all(side[name][0] for side in sides):
            sys.exit(f'{name}: not called')
        salvo, pocl = (side[name][1] / side[name][0] for side in sides)
        if sys.argv[1:]:
            print(json.dumps({'name': name, 'salvo': salvo, 'pocl': pocl, 'ratio': pocl / salvo}))
        else:
            print(f'{name:24} {sides[0][name][0]:8} {salvo:10.0f} {pocl:10.0f} {pocl / salvo:8.2f}')


if __name__ == '__main__':
    main()
