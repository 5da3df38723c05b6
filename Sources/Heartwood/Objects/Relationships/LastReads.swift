extension Set {
  /// Adds an object that has come, or removes one that has gone. Returns false if it cannot be an element.
  @usableFromInline package mutating func change(_ object: AnyObject, isAdded: Bool) -> Bool {
    guard let element = object as? Element else { return false }
    if isAdded { insert(element) } else { remove(element) }
    return true
  }
}

extension Array {
  /// Appends an object that has come, or removes one that has gone. Returns false if it cannot be an element.
  package mutating func change(_ object: AnyObject, isAdded: Bool) -> Bool {
    guard let element = object as? Element else { return false }
    if isAdded {
      append(element)
    } else {
      firstIndex { $0 as AnyObject === object }.map { _ = remove(at: $0) }
    }
    return true
  }
}

/// In place of a collection that was read once, and is not kept.
package struct ReadOnce {
  package init() {}
}

/// The to-many properties that a context's objects were last read or written by.
///
/// `playlist.tracks.insert(track)` reads the whole set, changes it and writes it, and `playlist.tracks[index]` reads the whole array. Keeping the
/// collections until the next event saves building them again each time. Only few are kept, as they keep their objects.
final class LastReads {
  private struct Entry {
    /// That of the relationship. It is held, so that no other one is taken for it.
    let state: RelationshipState
    /// That of the state.
    let version: Int
    var destinations: Any
  }

  /// Enough for loops that read some relationships in turn.
  private static let limit = 4

  /// The last one at the end.
  @exclusivity(unchecked) private var entries: [Entry] = []

  /// The collection that a relationship was last read or written as, if it is still the current one.
  ///
  /// - Parameter update: Makes it the current one where single keys have come and gone since; returns whether it has.
  func destinations(
    of state: RelationshipState, update: (inout Any, [RelationshipState.Step]) -> Bool = { _, _ in false }
  ) -> Any? {
    guard let index = entries.lastIndex(where: { $0.state === state }), state.isLoaded else { return nil }
    guard entries[index].version == state.version else {
      guard let steps = state.steps(since: entries[index].version) else { return nil }
      // Only here, so that it is changed in place.
      var entry = entries.remove(at: index)
      guard update(&entry.destinations, steps) else { return nil }
      note(entry.destinations, of: state)
      return entry.destinations
    }
    if index < entries.count - 1 { entries.append(entries.remove(at: index)) }
    return entries.last?.destinations
  }

  func note(_ destinations: Any, of state: RelationshipState) {
    if entries.isEmpty { entries.reserveCapacity(Self.limit) }
    let index =
      entries.firstIndex { $0.state === state } ?? (entries.count < Self.limit ? nil : entries.startIndex)
    let former = index.map { entries.remove(at: $0) }
    former?.state.recordSteps(false)
    state.recordSteps(true)
    entries.append(Entry(state: state, version: state.version, destinations: destinations))
    // Released last: a `deinit` of the program may read relationships.
    withExtendedLifetime(former) {}
  }

  func removeAll() {
    guard !entries.isEmpty else { return }
    let former = entries
    entries = []
    for entry in former { entry.state.recordSteps(false) }
    withExtendedLifetime(former) {}
  }
}
