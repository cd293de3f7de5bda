"""Convolutions of images, by products of matrices."""
