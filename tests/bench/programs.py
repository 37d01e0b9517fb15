#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""programs.py - what does each kernel of an OpenCL program take on Salvo, and on PoCL?

Runs the program with both drivers in turn, unchanged: tests/bench/layers times its launches, each alone. For
each kernel: how often it is launched, and the mean of its launches' CPU time and wall time in microseconds, PoCL's by
Salvo's; of each launch the best of all rounds counts. The first launch of a kernel does not, if there are others:
PoCL compiles the kernel then. At the end the geometric means.

Where the program launches a kernel more often with one driver than with the other ("24/8"), as one does that ends at
a wrong result, the means are of other launches.

usage: programs.py [--rounds N] [--pocl ICD] [--timeout SECONDS] [--json] COMMAND...

    cd rodinia/opencl/lud; .../tests/bench/programs.py ./lud.out -s 512
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYER = f'{ROOT}/build/tests/bench/libkernel_layer.so'


def run(icd, command, timeout):
    """A program's launches: lists of (CPU, wall) in nanoseconds, by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        out = f'{folder}/launches'
        environment = dict(os.environ, OCL_ICD_VENDORS=icd, OPENCL_LAYERS=LAYER, KERNEL_LAYER_OUT=out)
        try:
            done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=timeout, check=False)
        except FileNotFoundError:
            sys.exit(f'{command[0]}: not found')
        except subprocess.TimeoutExpired:
            sys.exit(f'{command[0]} with {icd}: not done after {timeout} s')
        if done.returncode:
            # Some programs return what they like.
            print(f'{command[0]} with {icd}: exit code {done.returncode}\n{done.stderr.decode(errors="replace")[-500:]}',
                  file=sys.stderr)
        launches = {}
        if os.path.exists(out):
            with open(out, encoding='utf-8') as lines:
                for line in lines:
                    name, cpu, wall = line.split()
                    launches.setdefault(name, []).append((int(cpu), int(wall)))
        if not launches:
            sys.exit(f'{command[0]} with {icd}: no kernel was launched')
        return launches


def best_of(one, other):
    """Of each launch the shorter times; of another number of launches the later run counts."""
    if not one or len(one) != len(other):
        return other
    return [tuple(map(min, *pair)) for pair in zip(one, other)]


def microseconds(launches, which):
    return statistics.fmean(launch[which] for launch in launches[1:] or launches) / 1000


def main():
    parser = argparse.ArgumentParser(description='times of each kernel of an OpenCL program, on Salvo and on PoCL',
                                     usage='%(prog)s [options] COMMAND...')
    parser.add_argument('--rounds', type=int, default=3, help='runs with each driver (default: 3)')
    parser.add_argument('--pocl', default='/etc/OpenCL/vendors/pocl.icd', metavar='ICD', help='the other driver')
    parser.add_argument('--timeout', type=int, default=300, metavar='SECONDS', help='of a run (default: 300)')
    parser.add_argument('--json', action='store_true', help='a JSON object for each line')
    parser.add_argument('command', nargs=argparse.REMAINDER, metavar='COMMAND', help='the program with its arguments')
    args = parser.parse_args()
    if not args.command:
        parser.error('no COMMAND')
    if not os.path.exists(LAYER):
        sys.exit(f'no {os.path.relpath(LAYER)}, which times kernels: run "make tests"')
    icds = {'salvo': f'{ROOT}/build/lib/salvo.icd', 'pocl': args.pocl}
    best = {driver: {} for driver in icds}
    for _ in range(args.rounds):
        for driver, icd in icds.items():
            for name, launches in run(icd, args.command, args.timeout).items():
                best[driver][name] = best_of(best[driver].get(name), launches)

    ratios = {'CPU': [], 'wall': []}
    if not args.json:
        print(f'{"microseconds a launch":34} launches {"CPU: Salvo":>12} {"PoCL":>10} ratio {"wall: Salvo":>12} {"PoCL":>10} ratio')
    for name, launches in best['salvo'].items():
        if name not in best['pocl']:
            continue
        line = {'kernel': name, 'launches': len(launches), 'PoCL launches': len(best['pocl'][name])}
        for which, (what, all_ratios) in enumerate(ratios.items()):
            salvo, pocl = (microseconds(best[driver][name], which) for driver in ('salvo', 'pocl'))
            all_ratios.append(pocl / salvo)
            line[what] = {'salvo': salvo, 'pocl': pocl, 'ratio': pocl / salvo}
        counts = '/'.join(map(str, dict.fromkeys((line['launches'], line['PoCL launches']))))
        print(json.dumps(line) if args.json else f'{name:34} {counts:>8} ' + ' '.join(
            f'{line[what]["salvo"]:12.1f} {line[what]["pocl"]:10.1f} {line[what]["ratio"]:5.2f}' for what in ratios),
              flush=True)
    means = {what: statistics.geometric_mean(values) for what, values in ratios.items() if values}
    print(json.dumps({'geometric mean': means}) if args.json else
          f'{"geometric mean":43} ' + ' '.join(f'{"":12} {"":10} {mean:5.2f}' for mean in means.values()))


if __name__ == '__main__':
    main()
