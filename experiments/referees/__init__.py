"""The papers' authors' own programs as referees: the same search by theirs and by ours, compared.

None of their code is here. Each script takes the place of a copy of the program as a flag.
"""
