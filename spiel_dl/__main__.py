"""`python -m spiel_dl`: what `spiel-dl` does."""

from spiel_dl.cli import main

if __name__ == "__main__":
    main()
