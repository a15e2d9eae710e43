"""What an author sees and does once signed in: versions, checks, practice matches, the own matches."""
