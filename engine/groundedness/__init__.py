"""Whether what a finding names stands in the evidence: a floor against fabrication, no more."""
