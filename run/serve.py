"""Serves a web page to play any policy by clicks, analyse positions, and open public trees.

Examples:
  python run/serve.py
  python run/serve.py --port=9000 --num_workers=4 --seconds=60
  python run/serve.py --policies=sepot:runs/sepot/leduc,runs/demo/leduc_poker

By default, only this machine can reach the page; --host=0.0.0.0 opens it to everybody who can reach
this machine by the network. Nothing is written to disk.
"""

from spiel_dl.commands import script
from spiel_dl.serve import server

if __name__ == "__main__":
    script.run(
        server.serve,
        texts={
            "host": "address to listen at; the default can be reached from this machine only.",
            "policies": "files and other names of policies to offer beyond the registry's.",
        },
    )
