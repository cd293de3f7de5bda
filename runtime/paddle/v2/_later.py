"""The layers of the original that this release does not have, by what they wait for."""

SEQUENCE_LAYERS = """
    BeamInput cross_entropy_over_beam
""".split()  # noqa: SIM905

IMAGE_LAYERS = """
    conv_operator scale_sub_region switch_order upsample
""".split()  # noqa: SIM905

OTHER_LAYERS = """
    printer selective_fc
""".split()  # noqa: SIM905
