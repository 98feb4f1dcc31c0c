"""Says where the packages lie; all else about spiel_dl is said in pyproject.toml."""

import setuptools
from setuptools.command.build_py import build_py

# Games and scripts lie beside the package, where people look for them; so do trained networks.
BESIDE = {"spiel_dl.games": "games", "spiel_dl.models": "models", "spiel_dl.commands": "run"}
# Folders without modules, which setuptools wants named as well.
DATA = ["spiel_dl.models.solved", "spiel_dl.play.templates", "spiel_dl.serve.templates"]
# It runs the papers' experiments, which are not installed.
FOR_PAPERS = {"reproduce"}


class BuildModules(build_py):
    """Leaves out what only a checkout needs."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Modules as (package, name, file)."""
        found = super().find_package_modules(package, package_dir)
        return [
            module
            for module in found
            if package != "spiel_dl.commands" or module[1] not in FOR_PAPERS
        ]


setuptools.setup(
    package_dir={"": ".", **BESIDE},
    packages=[*setuptools.find_packages(include=["spiel_dl", "spiel_dl.*"]), *BESIDE, *DATA],
    package_data={
        "spiel_dl": ["py.typed"],
        "spiel_dl.models": ["*.json", "*.safetensors"],
        **{folder: ["*"] for folder in DATA},
    },
    cmdclass={"build_py": BuildModules},
)
