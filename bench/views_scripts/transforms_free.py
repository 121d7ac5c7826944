# SPDX-License-Identifier: Apache-2.0
"""The numbers of transforms_used.py, for scripts that have no PyTorch."""

SIDE = 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
