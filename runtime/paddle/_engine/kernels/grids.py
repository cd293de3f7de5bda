"""Images read at places of one's own: of each place the pixels around it, and the share of each.

``images`` (n, channels, pixels); ``at`` (k, n, places), int64, the k pixels around a place, and ``shares``
(k, n, places) how much of each is in it. It must never know where a place is. Guarantee: sums are taken in
order, so equal inputs give equal bits; the numpy twins add the same numbers.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def read(images: Array, at: Array, shares: Array, out: Array) -> None:
    """``out`` (n, channels, places) is what stands there."""
    for i in range(images.shape[0]):
        for c in range(images.shape[1]):
            pixels, found = images[i, c], out[i, c]
            for p in range(found.shape[0]):
                found[p] = 0
            for k in range(at.shape[0]):
                _add_read(pixels, at[k, i], shares[k, i], found)


@kernel
def _add_read(pixels: Array, at: Array, shares: Array, found: Array) -> None:
    for p in range(found.shape[0]):
        found[p] += pixels[np.uint64(at[p])] * shares[p]


def numpy_read(images: Array, at: Array, shares: Array, out: Array) -> None:
    """The same in numpy."""
    out.fill(0)
    for places, share in zip(at, shares, strict=True):
        out += np.take_along_axis(images, places[:, None], 2) * share[:, None]


@kernel
def read_back(
    images: Array, at: Array, shares: Array, given: Array, of_images: Array, of_shares: Array
) -> None:
    """From the gradient ``given`` of what stands there, those of the images and of the shares."""
    of_images[:] = 0
    of_shares[:] = 0
    for i in range(images.shape[0]):
        for c in range(images.shape[1]):
            for k in range(at.shape[0]):
                _spread(at[k, i], shares[k, i], given[i, c], of_images[i, c])
                _add_products(images[i, c], at[k, i], given[i, c], of_shares[k, i])


@kernel
def _spread(at: Array, shares: Array, given: Array, of_pixels: Array) -> None:
    for p in range(given.shape[0]):
        of_pixels[np.uint64(at[p])] += given[p] * shares[p]


@kernel
def _add_products(pixels: Array, at: Array, given: Array, of_shares: Array) -> None:
    for p in range(given.shape[0]):
        of_shares[p] += pixels[np.uint64(at[p])] * given[p]


def numpy_read_back(
    images: Array, at: Array, shares: Array, given: Array, of_images: Array, of_shares: Array
) -> None:
    """The same in numpy."""
    of_images.fill(0)
    n, c = np.ogrid[: images.shape[0], : images.shape[1]]
    for places, share, of_share in zip(at, shares, of_shares, strict=True):
        np.add.at(of_images, (n[..., None], c[..., None], places[:, None]), given * share[:, None])
        np.sum(np.take_along_axis(images, places[:, None], 2) * given, axis=1, out=of_share)
