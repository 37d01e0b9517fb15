#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""opencl.py - what do programs that use OpenCL cost on Salvo, and on PoCL?

ffmpeg's filters on a clip that ffmpeg generates, and pipelines of OpenCV's T-API on an image, in seconds of CPU time
(user and system) of the whole process and its children; for OpenCV, of the process from the second frame on. The
drivers take turns. A line for each: the medians, PoCL's by Salvo's, and at the end the geometric means.

What building costs is measured on the same pipelines, of one frame, and on CLBlast's tests in single precision, each
with empty caches and again with those that this filled: the wall time of all calls of clBuildProgram with empty
caches (by tests/bench/layers), and what empty caches add to the CPU time and to the wall time of the whole
program and all compilers, which include what a driver compiles later, when a kernel is created or enqueued first.

usage: opencl.py [--rounds N] [--size WxH] [--frames N] [--only NAME] [--json]

--only build measures no more than that.
"""
import argparse
import ctypes
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYER = f'{ROOT}/build/tests/bench/libbuild_layer.so'
PIPELINES = ('edges', 'pyramid', 'tone', 'shrink', 'corners', 'warp', 'unsharp', 'track')
ROUTINES = ('xaxpy', 'xdot', 'xgemv', 'xger')
DRIVERS = {'salvo': f'{ROOT}/build/lib/salvo.icd', 'pocl': '/etc/OpenCL/vendors/pocl.icd'}

# Those of tests/opencl/ffmpeg.sh: filter, and format
FFMPEG = {
    'unsharp': ('unsharp_opencl=lx=7:la=1.5', 'yuv420p'),
    'nlmeans': ('nlmeans_opencl=s=4:p=5:r=9', 'yuv420p'),
    'avgblur': ('avgblur_opencl=sizeX=4:sizeY=2', 'yuv420p'),
    'boxblur': ('boxblur_opencl=lr=3:lp=2:cr=2', 'yuv420p'),
    'sobel': ('sobel_opencl', 'yuv420p'),
    'convolution': ('convolution_opencl=1 2 1 2 4 2 1 2 1:1 2 1 2 4 2 1 2 1:0m=0 -1 0 -1 5 -1 0 -1 0:0rdiv=0.0625',
                    'yuv420p'),
    'erosion': ('erosion_opencl=threshold0=40', 'yuv420p'),
    'transpose': ('transpose_opencl=dir=cclock', 'yuv420p'),
    'pad': ('pad_opencl=w=1.5*iw:h=1.5*ih:x=32:y=24:color=red', 'yuv420p'),
    'deshake': ('deshake_opencl=tripod=0', 'yuv420p'),
    'colorkey': ('colorkey_opencl=color=0xd0a080:similarity=0.3:blend=0.2', 'rgba'),
    'overlay': ('overlay_opencl=x=40:y=30', 'yuv420p'),
}


def pipelines():
    """OpenCV's, by name: functions of a color image."""
    import cv2
    import numpy as np
    cv2.ocl.setUseOpenCL(True)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))

    def edges(frame):
        gray = cv2.GaussianBlur(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), (5, 5), 1.2)
        return cv2.dilate(cv2.Canny(gray, 50, 120), kernel)

    def pyramid(frame):
        level = frame
        for _ in range(5):
            level = cv2.pyrDown(level)
        return level

    def tone(frame):
        hsv = cv2.cvtColor(frame, cv2.COLOR_BGR2HSV)
        mask = cv2.inRange(hsv, (20, 40, 40), (90, 255, 255))
        return cv2.bitwise_and(frame, frame, mask=cv2.morphologyEx(mask, cv2.MORPH_OPEN, kernel))

    def shrink(frame):
        return cv2.equalizeHist(cv2.cvtColor(cv2.resize(frame, (480, 270), interpolation=cv2.INTER_AREA),
                                             cv2.COLOR_BGR2GRAY))

    def corners(frame):
        return cv2.cornerHarris(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), 2, 3, 0.04)

    def warp(frame):
        turn = cv2.getRotationMatrix2D((300, 200), 10, 0.9)
        return cv2.absdiff(frame, cv2.warpAffine(frame, turn, (frame.get().shape[1], frame.get().shape[0])))

    def unsharp(frame):
        return cv2.addWeighted(frame, 1.6, cv2.blur(frame, (9, 9)), -0.6, 0)

    def track(frame):
        gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
        points = np.array([[[x, y]] for x in range(40, 600, 40) for y in range(40, 400, 40)], np.float32)
        return cv2.calcOpticalFlowPyrLK(gray, cv2.blur(gray, (3, 3)), cv2.UMat(points), None)[0]

    return {name: function for name, function in locals().items() if callable(function)}


def child(name, frames, width, height):
    """Run one pipeline, and print the CPU time of all frames but the first."""
    import cv2
    import numpy as np
    photo = cv2.resize(cv2.imread(f'{ROOT}/tests/data/astronaut.png'), (width, height))
    function = pipelines()[name]
    start = 0
    for frame in range(frames + 1):
        if frame == 1:
            start = resource.getrusage(resource.RUSAGE_SELF)
        result = function(cv2.UMat(np.roll(photo, frame, 1)))
        result.get()
    end = resource.getrusage(resource.RUSAGE_SELF)
    if not cv2.ocl.useOpenCL():
        sys.exit('OpenCV uses no OpenCL device')
    print(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)


def reap_all():
    """Wait for the processes that a program left, which are this one's children then: compilers."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def cpu_time(driver, command, **more):
    """Seconds of a program on a driver, and what it has printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # OpenCV takes a CPU for a device only if it is asked to.
    # OpenCV keeps programs on disk, those of an older compiler too.
    environment = dict(os.environ, OCL_ICD_VENDORS=DRIVERS[driver], OPENCV_OPENCL_CACHE_ENABLE='0',
                       OPENCV_OPENCL_DEVICE=':CPU:0' if driver == 'pocl' else ':GPU:0', **more)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    reap_all()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f'{command[0]} on {driver}: exit code {done.returncode}\n{done.stderr[-2000:]}')
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def build_times(driver, command):
    """Seconds with empty caches: of clBuildProgram; more than with full ones, CPU and wall."""
    with tempfile.TemporaryDirectory() as folder:
        out = f'{folder}/calls'
        more = {'XDG_CACHE_HOME': f'{folder}/cache', 'OPENCL_LAYERS': LAYER, 'BUILD_LAYER_OUT': out}
        spent, taken, calls = [], [], []
        for _ in ('empty', 'full'):
            start = time.monotonic()
            spent.append(cpu_time(driver, command, **more)[0])
            taken.append(time.monotonic() - start)
            with open(out, encoding='ascii') as lines:
                calls.append(lines.read().split())
    if calls[0][0] == '0':
        sys.exit(f'{command[0]} on {driver}: no program was built')
    return float(calls[0][1]), spent[0] - spent[1], taken[0] - taken[1]


def measure_builds(name, command, rounds, report):
    """Medians of both drivers, which take turns. Return: PoCL's by Salvo's."""
    times = {driver: [] for driver in DRIVERS}
    for _ in range(rounds):
        for driver in DRIVERS:
            times[driver].append(build_times(driver, command))
    ratios = []
    for what, *both in zip(('clBuildProgram', 'CPU', 'wall'), *(zip(*times[driver]) for driver in ('salvo', 'pocl'))):
        salvo, pocl = (statistics.median(values) for values in both)
        ratios.append(pocl / salvo if salvo > 0 else math.nan)
        report(f'{name}, {what}', salvo, pocl, ratios[-1])
    return ratios


def ffmpeg_command(clip, name):
    text, pixels = FFMPEG[name]
    device = ['-init_hw_device', 'opencl=cl:0.0', '-filter_hw_device', 'cl']
    tail = f'hwdownload,format={pixels}'
    if name == 'overlay':
        inputs = ['-i', clip, '-i', clip, '-filter_complex',
                  f'[0]format={pixels},hwupload[a];[1]scale=320:-2,format={pixels},hwupload[b];[a][b]{text},{tail}']
    else:
        inputs = ['-i', clip, '-vf', f'format={pixels},hwupload,{text},{tail}']
    return ['ffmpeg', '-v', 'error', '-nostdin', *device, *inputs, '-f', 'null', '-']


def measure(names, run, rounds, report):
    """Medians of both drivers, which take turns; the first round fills their caches."""
    ratios = []
    for name in names:
        seconds = {driver: [] for driver in DRIVERS}
        for turn in range(rounds + 1):
            for driver in DRIVERS:
                spent = run(driver, name)
                if turn:
                    seconds[driver].append(spent)
        salvo, pocl = (statistics.median(seconds[driver]) for driver in ('salvo', 'pocl'))
        ratios.append(pocl / salvo)
        report(name, salvo, pocl, pocl / salvo)
    return ratios


def main():
    parser = argparse.ArgumentParser(description='CPU time of programs that use OpenCL, on Salvo and on PoCL')
    parser.add_argument('--rounds', type=int, default=3, help='measured runs of each (default: 3)')
    parser.add_argument('--size', default='1280x720', help='of a frame (default: 1280x720)')
    parser.add_argument('--frames', type=int, default=60, help='of a clip (default: 60)')
    parser.add_argument('--only', help='names that contain this')
    parser.add_argument('--json', action='store_true', help='a JSON object for each line')
    parser.add_argument('--child', help=argparse.SUPPRESS)
    args = parser.parse_args()
    width, height = (int(part) for part in args.size.split('x'))
    if args.child:
        child(args.child, args.frames, width, height)
        return

    def report(name, salvo, pocl, ratio):
        if args.json:
            print(json.dumps({'name': name, 'salvo': salvo, 'pocl': pocl, 'ratio': ratio}), flush=True)
        else:
            print(f'{name:36} {salvo:10.3f} {pocl:10.3f} {ratio:8.2f}', flush=True)

    def mean(title, ratios):
        if ratios:
            ratio = statistics.geometric_mean(ratios)
            print(json.dumps({'name': f'{title}, geometric mean', 'ratio': ratio}) if args.json else
                  f'{title + ", geometric mean":58} {ratio:8.2f}', flush=True)

    def chosen(title, names):
        return [name for name in names if not args.only or args.only in f'{title} {name}']

    def group(title, names, run):
        mean(title, measure(chosen(title, names), run, args.rounds,
                            lambda name, *rest: report(f'{title} {name}', *rest)))

    if not args.json:
        print(f'{"seconds, of CPU if not said":36} {"Salvo":>10} {"PoCL":>10} {"ratio":>8}')
    with tempfile.TemporaryDirectory() as folder:
        clip = f'{folder}/clip.y4m'
        subprocess.run(['ffmpeg', '-v', 'error', '-nostdin', '-f', 'lavfi', '-i',
                        f'testsrc2=size={args.size}:rate=30,format=yuv420p', '-frames:v', str(args.frames), clip],
                       check=True)
        group('ffmpeg', FFMPEG, lambda driver, name: cpu_time(driver, ffmpeg_command(clip, name))[0])
    own = [sys.executable, os.path.abspath(__file__), '--size', args.size, '--frames', str(args.frames), '--child']
    group('opencv', PIPELINES, lambda driver, name: float(cpu_time(driver, [*own, name])[1]))

    # What a compiler leaves behind is this process' child.
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    one = [sys.executable, os.path.abspath(__file__), '--size', '640x360', '--frames', '1', '--child']
    commands = {f'opencv {name}': [*one, name] for name in PIPELINES}
    commands |= {f'clblast {name}': [f'clblast_test_{name}', '-precision', '32'] for name in ROUTINES}
    builds = chosen('build', commands)
    if builds and not os.path.exists(LAYER):
        sys.exit(f'no {os.path.relpath(LAYER)}, which measures builds: run "make tests"')
    ratios = [measure_builds(f'build {name}', commands[name], args.rounds, report) for name in builds]
    for what, values in zip(('clBuildProgram', 'CPU', 'wall'), zip(*ratios)):
        mean(f'build, {what}', values)


if __name__ == '__main__':
    main()
