# SPDX-License-Identifier: MIT
"""OpenCV's functions on a UMat, which run on the OpenCL device, against the same on a Mat: a line for each."""
import sys

import cv2
import numpy as np

photo = cv2.imread('tests/data/astronaut.png')
gray = cv2.imread('tests/data/camera.png', cv2.IMREAD_GRAYSCALE)
cv2.ocl.setUseOpenCL(True)
if not cv2.ocl.haveOpenCL() or not cv2.ocl.useOpenCL():
    sys.exit('OpenCV uses no OpenCL device')


def report(name, function, *images, limit=1, share=0):
    """Results may differ by limit, and more in a share of the elements: contours move by a rounding."""
    try:
        wanted = function(*images)
        got = function(*[cv2.UMat(image) for image in images])
        cv2.ocl.finish()
        if isinstance(got, cv2.UMat):
            got = got.get()
        got, wanted = np.asarray(got), np.asarray(wanted)
        problem = None
        if got.shape != wanted.shape:
            problem = f'shape {got.shape}, not {wanted.shape}'
        else:
            far = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
            # A NaN is as far as can be.
            wrong = np.sum(~(far <= limit))
            if wrong > share * far.size:
                problem = f'{wrong} of {far.size} differ by more than {limit}, at most by {np.max(far)}'
    except cv2.error as error:
        problem = str(error).replace('\n', ' ')
    print(f'not ok {name}: {problem}' if problem else f'ok {name}', flush=True)


def first(results):
    """The UMats that goodFeaturesToTrack and others return, as arrays."""
    return results.get() if isinstance(results, cv2.UMat) else results


turn = cv2.getRotationMatrix2D((256, 256), 30, 0.8)
lean = np.array([[1, 0.1, 3], [0.05, 0.9, 10], [1e-4, 2e-4, 1]])
floats = photo.astype(np.float32) / 255
next_gray = cv2.warpAffine(gray, np.array([[1, 0, 2.5], [0, 1, 1.25]]), gray.shape[::-1],
                           borderMode=cv2.BORDER_REPLICATE)

report('resize linear', lambda m: cv2.resize(m, (300, 200)), photo)
report('resize area', lambda m: cv2.resize(m, (128, 128), interpolation=cv2.INTER_AREA), photo)
report('resize cubic', lambda m: cv2.resize(m, (700, 600), interpolation=cv2.INTER_CUBIC), photo, limit=2)
report('resize nearest', lambda m: cv2.resize(m, (333, 444), interpolation=cv2.INTER_NEAREST), photo, share=.001)
report('warpAffine', lambda m: cv2.warpAffine(m, turn, (512, 512)), photo, limit=2, share=.001)
report('warpPerspective', lambda m: cv2.warpPerspective(m, lean, (512, 512)), photo, limit=2, share=.002)
report('remap', lambda m, x, y: cv2.remap(m, x, y, cv2.INTER_LINEAR), gray,
       *[axis.astype(np.float32) for axis in np.meshgrid(np.arange(512) * .7 + 5, np.arange(512) * .8 + 9)], limit=2)
for code in 'BGR2GRAY', 'BGR2YUV', 'BGR2HSV', 'BGR2YCrCb', 'BGR2Lab', 'BGR2YUV_I420':
    report(f'cvtColor {code}', lambda m, c=code: cv2.cvtColor(m, getattr(cv2, f'COLOR_{c}')), photo, limit=2, share=.001)
report('blur', lambda m: cv2.blur(m, (7, 5)), photo)
report('GaussianBlur', lambda m: cv2.GaussianBlur(m, (9, 9), 2), photo)
report('GaussianBlur float', lambda m: cv2.GaussianBlur(m, (9, 9), 2), floats, limit=1e-4)
report('medianBlur', lambda m: cv2.medianBlur(m, 5), gray)
report('bilateralFilter', lambda m: cv2.bilateralFilter(m, 7, 40, 5), gray, limit=2)
report('filter2D', lambda m: cv2.filter2D(m, -1, np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])), photo)
report('Sobel', lambda m: cv2.Sobel(m, cv2.CV_16S, 1, 0, ksize=3), gray)
report('Laplacian', lambda m: cv2.Laplacian(m, cv2.CV_32F, ksize=5), gray, limit=1e-2)
report('erode', lambda m: cv2.erode(m, np.ones((5, 3), np.uint8)), photo)
report('morphology', lambda m: cv2.morphologyEx(m, cv2.MORPH_GRADIENT, np.ones((5, 5), np.uint8)), photo)
report('Canny', lambda m: cv2.Canny(m, 60, 150), gray, share=.002)
report('threshold', lambda m: cv2.threshold(m, 100, 200, cv2.THRESH_BINARY)[1], gray)
report('adaptiveThreshold', lambda m: cv2.adaptiveThreshold(
    m, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 11, 2), gray, share=.01)
report('calcHist', lambda m: cv2.calcHist([m], [0], None, [64], [0, 256]), gray)
report('equalizeHist', cv2.equalizeHist, gray)
report('CLAHE', lambda m: cv2.createCLAHE(2., (8, 8)).apply(m), gray, limit=2)
report('integral', lambda m: cv2.integral(m), gray)
report('pyrDown', lambda m: cv2.pyrDown(m), photo)
report('pyrUp', lambda m: cv2.pyrUp(m), photo)
report('addWeighted', lambda m, n: cv2.addWeighted(m, .3, n, .6, 5), gray, next_gray)
report('absdiff, min, bitwise', lambda m, n: cv2.bitwise_xor(cv2.absdiff(m, n), cv2.min(m, n)), gray, next_gray)
report('split and merge', lambda m: cv2.merge(cv2.split(m)[::-1]), photo)
report('transpose and flip', lambda m: cv2.flip(cv2.transpose(m), 1), photo)
report('LUT', lambda m: cv2.LUT(m, (255 - np.arange(256)).astype(np.uint8)), photo)
report('norm', lambda m, n: cv2.norm(m, n, cv2.NORM_L2), gray, next_gray, limit=1e-2)
report('meanStdDev', lambda m: np.concatenate([first(part).ravel() for part in cv2.meanStdDev(m)]), photo, limit=1e-6)
report('minMaxLoc', lambda m: cv2.minMaxLoc(m)[:2], gray)
report('reduce', lambda m: cv2.reduce(m, 0, cv2.REDUCE_SUM, dtype=cv2.CV_32S), gray)
report('gemm', lambda m: cv2.gemm(m, m, 1. / 512, None, 0), floats[:, :, 0].copy(), limit=1e-3)
report('dft', lambda m: cv2.dft(m, flags=cv2.DFT_COMPLEX_OUTPUT), floats[:, :, 1].copy(), limit=.5)
report('matchTemplate', lambda m: cv2.matchTemplate(m, gray[100:160, 200:260], cv2.TM_CCOEFF_NORMED), gray, limit=.05)
report('cornerHarris', lambda m: cv2.cornerHarris(m, 3, 3, .04), gray, limit=1e-4)
report('Hough lines', lambda m: first(cv2.HoughLines(m, 1, np.pi / 180, 120)).size // 2, cv2.Canny(gray, 60, 150), limit=6)


def features(image):
    found = first(cv2.goodFeaturesToTrack(image, 40, .05, 10))
    return sorted(tuple(point) for point in found.reshape(-1, 2))


report('goodFeaturesToTrack', features, gray, share=.1)
points = cv2.goodFeaturesToTrack(gray, 40, .05, 10)


def track(image, other):
    start = cv2.UMat(points) if isinstance(image, cv2.UMat) else points
    moved, found, _ = cv2.calcOpticalFlowPyrLK(image, other, start, None)
    return (first(moved) - points).reshape(-1, 2)[first(found).ravel() == 1].mean(axis=0)


report('optical flow, pyramidal LK', track, gray, next_gray, limit=.05)
report('optical flow, Farneback', lambda m, n: cv2.calcOpticalFlowFarneback(m, n, None, .5, 3, 15, 3, 5, 1.2, 0),
       gray, next_gray, limit=.1, share=.01)


def hog(image):
    finder = cv2.HOGDescriptor()
    finder.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    return len(finder.detectMultiScale(image, winStride=(8, 8), scale=1.1)[0])


report('HOG', hog, cv2.imread('tests/data/grace_hopper.jpg'), limit=1)


def faces(image):
    cascade = cv2.CascadeClassifier('/usr/share/opencv4/lbpcascades/lbpcascade_frontalface.xml')
    return np.sort(cascade.detectMultiScale(image, 1.2, 3), axis=0)[:1]


report('cascade', faces, cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY), limit=8)


def pipeline(image):
    for _ in range(10):
        image = cv2.GaussianBlur(cv2.resize(cv2.pyrDown(image), (512, 512)), (5, 5), 1)
    return cv2.addWeighted(image, .5, cv2.blur(image, (3, 3)), .5, 0)


report('a pipeline of 32 calls', pipeline, floats, limit=1e-3)
