"""The Textual app. Shows what the other rooms computed; opens the store only for a query."""
