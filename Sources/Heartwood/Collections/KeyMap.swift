/// Permanent keys of objects, by the temporary keys that they replace.
///
/// A save of many objects looks up each key several times, and the hashing of a dictionary took a considerable part of
/// its time. This process numbers temporary keys itself, so multiplication spreads them well enough.
///
/// - Invariant: At most half of the places are occupied, so probes are short and always end.
struct KeyMap {
  /// Pairs of a temporary and a permanent key. Empty places are zeros; a temporary key is never 0, as its mark is set.
  private var places: [(temporary: UInt64, permanent: UInt64)] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func reserve(_ count: Int) {
    var capacity = max(places.count, 16)
    while count * 2 > capacity { capacity *= 2 }
    if capacity > places.count { grow(to: capacity) }
  }

  subscript(temporary: UInt64) -> UInt64? {
    guard count > 0 else { return nil }
    let place = place(of: temporary)
    return places[place].temporary == temporary ? places[place].permanent : nil
  }

  /// The key that the store knows for `key`: its replacement if it has one, otherwise `key` itself.
  func permanent(_ key: UInt64) -> UInt64 { key.isPermanentKey ? key : self[key] ?? key }

  /// Records the permanent key of a temporary key, replacing an earlier one.
  mutating func insert(_ permanent: UInt64, for temporary: UInt64) {
    if (count + 1) * 2 > places.count { grow(to: max(16, places.count * 2)) }
    let place = place(of: temporary)
    if places[place].temporary != temporary { count += 1 }
    places[place] = (temporary, permanent)
    assert(count * 2 <= places.count, "more than half of the places of a key map are occupied")
  }

  /// Copies the pairs of another map whose temporary keys this map does not contain.
  mutating func merge(_ other: KeyMap) {
    for (temporary, permanent) in other.places where temporary != 0 && self[temporary] == nil {
      insert(permanent, for: temporary)
    }
  }

  private mutating func grow(to capacity: Int) {
    let old = places
    places = Array(repeating: (0, 0), count: capacity)
    for pair in old where pair.temporary != 0 { places[place(of: pair.temporary)] = pair }
  }

  /// The place of a key, or the empty place where it would be inserted.
  private func place(of temporary: UInt64) -> Int {
    let mask = places.count &- 1
    // Temporary keys follow one another: eight of them are neighbours here, too, in two lines of the processor's cache.
    let block = ((temporary >> 3) &* 0x9E37_79B9_7F4A_7C15) >> 32
    var place = Int(truncatingIfNeeded: block << 3 | temporary & 7) & mask
    while places[place].temporary != temporary && places[place].temporary != 0 { place = (place &+ 1) & mask }
    return place
  }
}
