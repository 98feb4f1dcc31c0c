"""What users call: one module per algorithm, in the style of OpenSpiel's."""
