"""How strong the learners are with their defaults, in small games, where that is known exactly."""
