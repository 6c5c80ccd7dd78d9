# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures of the libraries timm and torchvision."""

from __future__ import annotations

import functools
from typing import Any

import torch

from .model import SEED, Instance, Model
from .vision_ops import import_torchvision

# The smallest variant of each family of timm that has small ones, and the height and width of its images.
_TIMM = {
    "beit_base_patch16_224": 32,
    "botnet26t_256": 64,
    "bat_resnext26ts": 256,
    "eca_halonext26ts": 256,
    "lambda_resnet26t": 64,
    "gcresnet33ts": 64,
    "gernet_s": 64,
    "mobileone_s0": 64,
    "repvgg_a0": 64,
    "resnet32ts": 64,
    "cait_xxs24_224": 32,
    "coat_lite_tiny": 64,
    "coat_tiny": 64,
    "convit_tiny": 32,
    "convmixer_768_32": 32,
    "convnext_atto": 64,
    "convnextv2_atto": 64,
    "crossvit_tiny_240": 240,
    "cs3darknet_focus_s": 64,
    "cspresnet50": 64,
    "davit_tiny": 64,
    "deit_tiny_patch16_224": 64,
    "deit_tiny_distilled_patch16_224": 64,
    "deit3_small_patch16_224": 64,
    "densenet121": 64,
    "dla46_c": 64,
    "dla60_res2net": 64,
    "dpn48b": 64,
    "edgenext_xx_small": 64,
    "efficientformer_l1": 224,
    "efficientformerv2_s0": 224,
    "efficientnet_b0": 64,
    "efficientnet_es": 64,
    "efficientnetv2_rw_t": 64,
    "tf_efficientnetv2_b0": 64,
    "fbnetc_100": 64,
    "mixnet_s": 64,
    "mnasnet_small": 64,
    "mobilenetv1_100": 64,
    "mobilenetv2_035": 64,
    "mobilenet_edgetpu_100": 64,
    "spnasnet_100": 64,
    "tinynet_e": 64,
    "efficientvim_m1": 64,
    "efficientvit_b0": 64,
    "efficientvit_m0": 64,
    "eva02_tiny_patch14_224": 56,
    "fasternet_t0": 64,
    "fastvit_t8": 64,
    "focalnet_tiny_srf": 64,
    "gcvit_xxtiny": 224,
    "ghostnet_050": 64,
    "ghostnetv2_100": 64,
    "hardcorenas_a": 64,
    "hgnet_tiny": 64,
    "hgnetv2_b0": 64,
    "hiera_tiny_224": 224,
    "sam2_hiera_tiny": 64,
    "hrnet_w18_small": 64,
    "inception_next_atto": 64,
    "inception_v3": 96,
    "inception_v4": 96,
    "inception_resnet_v2": 96,
    "lcnet_050": 64,
    "levit_128s": 224,
    "levit_conv_128s": 224,
    "mambaout_femto": 64,
    "coatnet_pico_rw_224": 64,
    "coatnext_nano_rw_224": 64,
    "maxvit_rmlp_pico_rw_256": 64,
    "caformer_s18": 64,
    "convformer_s18": 64,
    "poolformer_s12": 64,
    "poolformerv2_s12": 64,
    "gmlp_ti16_224": 64,
    "gmixer_12_224": 64,
    "mixer_s32_224": 64,
    "resmlp_12_224": 64,
    "mobilenetv3_small_050": 64,
    "mobilenetv4_conv_small_035": 64,
    "mobilenetv4_hybrid_medium": 64,
    "mobilevit_xxs": 64,
    "mobilevitv2_050": 64,
    "mvitv2_tiny": 64,
    "nest_tiny": 64,
    "nextvit_small": 64,
    "nf_regnet_b0": 64,
    "nf_seresnet26": 64,
    "eca_nfnet_l0": 64,
    "dm_nfnet_f0": 64,
    "pit_ti_224": 64,
    "pit_ti_distilled_224": 64,
    "pvt_v2_b0": 64,
    "rdnet_tiny": 64,
    "regnetx_002": 64,
    "regnety_002": 64,
    "regnetz_005": 64,
    "repghostnet_050": 64,
    "repvit_m0_9": 64,
    "res2net50_14w_8s": 64,
    "resnest14d": 64,
    "resnet18": 64,
    "resnet18d": 64,
    "resnext26ts": 64,
    "seresnet18": 64,
    "ecaresnet26t": 64,
    "resnetv2_18": 64,
    "rexnet_100": 64,
    "selecsls42": 64,
    "legacy_seresnet18": 64,
    "sequencer2d_s": 64,
    "shvit_s1": 64,
    "skresnet18": 64,
    "starnet_s050": 64,
    "swiftformer_xs": 64,
    "swin_tiny_patch4_window7_224": 64,
    "swin_s3_tiny_224": 64,
    "swinv2_tiny_window8_256": 64,
    "swinv2_cr_tiny_224": 64,
    "tiny_vit_5m_224": 64,
    "tnt_s_patch16_224": 64,
    "tresnet_m": 64,
    "twins_pcpvt_small": 64,
    "twins_svt_small": 64,
    "vgg11": 32,
    "visformer_tiny": 64,
    "vit_tiny_patch16_224": 64,
    "vit_tiny_r_s16_p8_224": 64,
    "vit_relpos_small_patch16_224": 64,
    "flexivit_small": 64,
    "vitamin_small_224": 64,
    "volo_d1_224": 64,
    "ese_vovnet19b_slim": 64,
    "xception41": 64,
    "xcit_nano_12_p16_224": 64,
}

# The architectures of torchvision, and the size of their images. Those of two numbers are videos of that many frames.
_CLASSIFIERS = {
    "alexnet": 64,
    "convnext_tiny": 32,
    "densenet121": 32,
    "efficientnet_b0": 32,
    "efficientnet_v2_s": 32,
    "googlenet": 32,
    "inception_v3": 96,
    "maxvit_t": 224,
    "mnasnet0_5": 32,
    "mnasnet1_0": 32,
    "mobilenet_v2": 32,
    "mobilenet_v3_large": 32,
    "mobilenet_v3_small": 32,
    "regnet_x_400mf": 32,
    "regnet_y_400mf": 32,
    "resnet18": 32,
    "resnet50": 32,
    "resnext50_32x4d": 32,
    "shufflenet_v2_x0_5": 32,
    "shufflenet_v2_x1_0": 32,
    "squeezenet1_0": 32,
    "squeezenet1_1": 32,
    "swin_t": 32,
    "swin_v2_t": 32,
    "vgg11": 32,
    "vgg11_bn": 32,
    "vit_b_32": 32,
    "wide_resnet50_2": 32,
}
_VIDEOS = {
    "mc3_18": (8, 32),
    "mvit_v1_b": (16, 224),
    "r2plus1d_18": (8, 32),
    "r3d_18": (8, 32),
    "s3d": (16, 224),
    "swin3d_t": (4, 32),
}
_SEGMENTERS = {
    "deeplabv3_mobilenet_v3_large": 32,
    "deeplabv3_resnet50": 32,
    "fcn_resnet50": 32,
    "lraspp_mobilenet_v3_large": 32,
}
_DETECTORS = {
    "fasterrcnn_mobilenet_v3_large_320_fpn": 64,
    "fcos_resnet50_fpn": 64,
    "keypointrcnn_resnet50_fpn": 64,
    "maskrcnn_resnet50_fpn": 64,
    "retinanet_resnet50_fpn": 64,
    "ssdlite320_mobilenet_v3_large": 64,
    "ssd300_vgg16": 64,
}
_FLOWS = {"raft_small": 128}


def list_timm() -> list[Model]:
    """Returns the architectures of timm."""
    return [Model(f"timm/{name}", functools.partial(_make_timm, name, size)) for name, size in _TIMM.items()]


def list_torchvision() -> list[Model]:
    """Returns the architectures of torchvision."""
    groups = (
        (_make_classifier, _CLASSIFIERS),
        (_make_video, _VIDEOS),
        (_make_segmenter, _SEGMENTERS),
        (_make_detector, _DETECTORS),
        (_make_flow, _FLOWS),
    )
    return [
        Model(f"torchvision/{name}", functools.partial(make, name, size))
        for make, sizes in groups
        for name, size in sizes.items()
    ]


def _make_timm(name: str, size: int) -> Instance:
    import_torchvision()
    import timm  # type: ignore[import-not-found,unused-ignore]

    torch.manual_seed(SEED)
    try:
        module = timm.create_model(name, num_classes=10, img_size=size)
    except TypeError:  # the architecture takes images of any size
        module = timm.create_model(name, num_classes=10)
    return Instance(module.eval(), (torch.randn(1, 3, size, size),))


def _build(name: str, **options: Any) -> torch.nn.Module:
    """Returns a model of torchvision."""
    models: Any = import_torchvision().models
    torch.manual_seed(SEED)
    has_backbone = name in {**_SEGMENTERS, **_DETECTORS}
    module: torch.nn.Module = models.get_model(
        name, weights=None, **({"weights_backbone": None} if has_backbone else {}), **options
    )
    return module.eval()


def _make_classifier(name: str, size: int) -> Instance:
    options: dict[str, Any] = {"image_size": size} if name.startswith("vit") else {}
    if name in ("googlenet", "inception_v3"):
        options = {"aux_logits": False, "init_weights": False}
    return Instance(_build(name, num_classes=10, **options), (torch.randn(1, 3, size, size),))


def _make_video(name: str, size: tuple[int, int]) -> Instance:
    frames, side = size
    return Instance(_build(name, num_classes=10), (torch.randn(1, 3, frames, side, side),))


def _make_segmenter(name: str, size: int) -> Instance:
    return Instance(_build(name, num_classes=5), (torch.randn(1, 3, size, size),))


def _make_detector(name: str, size: int) -> Instance:
    sizes = {} if name.startswith("ssd") else {"min_size": size, "max_size": size}
    return Instance(_build(name, num_classes=5, **sizes), ([torch.rand(3, size, size)],))


def _make_flow(name: str, size: int) -> Instance:
    return Instance(_build(name), (torch.randn(1, 3, size, size), torch.randn(1, 3, size, size)))
