"""Export models for `inlay-bench partition --modules`: `export_models.py DIR`.

Small weights, since partitioning never reads them; the graphs are those of models of the usual depth. Two are of
`inlay_models`, two have what makes segments: branches whose activations an accelerator lacks.
"""

import pathlib
import sys

import inlay_models as models
import torch
from inlay import export
from torch import nn
from torch.nn import functional


class Branches(nn.Module):
    """Parallel convolutions of four sizes, concatenated, after Szegedy et al., arXiv:1409.4842."""

    def __init__(self, width: int):
        super().__init__()
        self.arms = nn.ModuleList(
            nn.ModuleList(nn.Conv2d(inputs, width // 4, size, padding="same") for inputs in (width, width // 4))
            for size in (1, 3, 5, 7)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([second(functional.silu(first(x))) for first, second in self.arms], dim=1)


class Experts(nn.Module):
    """Experts whose results a router weights, after Jacobs et al., Adaptive Mixtures of Local Experts."""

    def __init__(self, width: int, experts: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(experts)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norm(x)
        weights = torch.softmax(self.router(normed), dim=-1)
        for number, expert in enumerate(self.experts):
            x = x + expert(normed) * weights[..., number : number + 1]
        return x


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    images, tokens = (torch.zeros(1, 16, 8, 8),), (torch.zeros(1, 32, 64),)
    made = {
        "resnet18": models.resnet18(image=64),
        "encoder12": (models.Encoder(layers=12), tokens),
        "branches9": (nn.Sequential(*(Branches(16) for _ in range(9))), images),
        "experts12": (nn.Sequential(*(Experts(64, experts=8) for _ in range(12))), tokens),
    }
    for name, (model, inputs) in made.items():
        export(model.eval(), inputs, folder / name)


if __name__ == "__main__":
    main()
