"""``paddle.distributed.fleet.base``: where upstream keeps role makers, strategies and Fleet itself."""
