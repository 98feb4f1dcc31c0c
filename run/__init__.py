"""The scripts: `python run/NAME.py` in a checkout, `spiel-dl NAME` where this is installed."""
