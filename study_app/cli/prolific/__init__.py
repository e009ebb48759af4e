"""Commands `prefcal prolific`: a campaign on Prolific by its API."""
