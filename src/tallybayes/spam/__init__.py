"""A spam filter for mail servers: mail as it comes, judged by what it learnt."""
