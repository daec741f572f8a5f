"""What a saved run says, computed once as records; terminal, Markdown and JSON only format them."""
