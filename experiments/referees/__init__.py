"""What results are held to: other responses, and the papers' authors' own programs.

None of their code is here. A script takes the place of a copy of the program as a flag.
"""
