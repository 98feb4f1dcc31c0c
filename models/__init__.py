"""The model zoo: trained networks, and `index.json`, which says what each of them is.

`spiel_dl.play.zoo` reads it; `run/publish.py` writes it.
"""
