"""The papers' authors' own programs as referees: compares the same search by theirs and by ours.

None of their code is here. Each script takes the place of a copy of the program as a flag.
"""
