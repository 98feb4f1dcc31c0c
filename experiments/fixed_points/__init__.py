"""What self-play learners head for, computed exactly."""
