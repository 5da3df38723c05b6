/// The to-many property that a context's objects were last read or written by.
///
/// `playlist.tracks.insert(track)` reads the whole set, changes it and writes it. Keeping the set until the next event saves
/// building it again for each insertion. Only one is kept, as it keeps its objects.
struct LastRead {
  let owner: ManagedObject
  let slot: Int
  /// That of the relationship's state.
  let version: Int
  let destinations: Any
}
