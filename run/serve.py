"""Serves a web page to play any policy by clicks, see what it thought, and open public trees.

Examples:
  python run/serve.py
  python run/serve.py --port=9000 --num_workers=4 --seconds=60
  python run/serve.py --policies=sepot:runs/sepot/leduc,runs/demo/leduc_poker

The page is for this machine alone, unless --host says otherwise: --host=0.0.0.0 lets everybody play
who reaches this machine by its network. Nothing is written to disk.
"""

from spiel_dl.commands import script
from spiel_dl.serve import server

if __name__ == "__main__":
    script.run(
        server.serve,
        texts={
            "host": "address to listen at; the default is reached from this machine alone.",
            "policies": "files and other names that are offered beyond the registry's.",
        },
    )
