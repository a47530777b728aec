"""The one round of contrast evidence between draft and judgement."""
