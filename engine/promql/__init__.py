"""PromQL without a server: read it, judge it, narrow it, compare it. Pure and bounded."""
