"""The scripts: `python run/NAME.py` in a checkout, `spiel-dl NAME` in an installation."""
