"""A local web page: games against any policy by clicks, and public trees that open as one looks."""
