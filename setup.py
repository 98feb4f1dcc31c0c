"""Package declaration of spiel_dl (dependencies, extras, and where the packages lie)."""

import pathlib

import setuptools

ROOT = pathlib.Path(__file__).parent

# Pictures, pages and TensorBoard's files of runs; solvers and learners do without.
RUNS = ["jinja2>=3.1", "matplotlib>=3.8", "tensorboard>=2.16"]

setuptools.setup(
    name="spiel_dl",
    version="0.1.0",
    description=(
        "Depth-limited solving and search for two-player zero-sum "
        "imperfect-information games, as a plug-in to OpenSpiel."
    ),
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    # The games lie beside the package, because they depend on none of it; so do trained networks.
    package_dir={"": ".", "spiel_dl.games": "games", "spiel_dl.models": "models"},
    packages=[
        *setuptools.find_packages(include=["spiel_dl", "spiel_dl.*"]),
        "spiel_dl.games",
        "spiel_dl.models",
    ],
    package_data={
        "spiel_dl": ["py.typed", "play/templates/*"],
        "spiel_dl.models": ["*.json", "*.safetensors"],
    },
    install_requires=[
        "absl-py>=2.1",
        "llvmlite>=0.43",
        "numba>=0.60",
        "numpy>=1.26",
        "open_spiel>=2.0",
        "safetensors>=0.4",
        "scipy>=1.11",
        "torch>=2.4",
        "tqdm>=4.66",
    ],
    extras_require={
        "abr": ["dm-tree>=0.1.9"],
        "benchmark": ["LiteEFG>=1.0"],
        "runs": RUNS,
        "dev": [
            *RUNS,
            "dm-tree>=0.1.9",
            "hypothesis",
            "import-linter",
            "mypy",
            "pytest",
            "pytest-xdist",
            "ray>=2.9",
            "ruff",
        ],
        "docs": ["latex2mathml>=3.77", "mkdocs-material>=9.6", "mkdocstrings[python]>=0.29"],
        "ray": ["ray>=2.9"],
    },
)
