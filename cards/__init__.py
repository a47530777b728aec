"""Speaks: domain values become cards, cards become Slack, Telegram, terminal or Markdown."""
