-- The content of an artifact may be dropped when its time is over; its row stays, empty, and says since when.
ALTER TABLE blob ADD COLUMN dropped_at INTEGER;
