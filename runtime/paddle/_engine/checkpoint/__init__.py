"""Files that hold parameters, byte for byte as the generations of PaddlePaddle write them: a module for each
layout. They must never know where values come from; these are given piece by piece."""
