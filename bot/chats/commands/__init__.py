"""What can be said to the bot, one command a file, the same in every chat."""
