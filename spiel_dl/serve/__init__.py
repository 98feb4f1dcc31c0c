"""A local web page: games against any policy by clicks, and public trees that load on demand."""
