/// The lasting keys of objects, by the temporary keys that they replace.
///
/// A save of many objects asks for each several times, which a dictionary's hashing made a good part of the
/// whole. Keys are numbers that this process gave, so a multiplication spreads them well enough.
///
/// - Invariant: at most half of the places are taken, so that a probe is short and always ends.
struct KeyMap {
  /// Pairs of a temporary and a lasting key; zeros where there is none, as temporary keys have their mark.
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

  /// What stands for a key in the store: itself, if it was never replaced.
  func permanent(_ key: UInt64) -> UInt64 { key.isPermanentKey ? key : self[key] ?? key }

  /// Notes a lasting key, in place of an earlier one.
  mutating func insert(_ permanent: UInt64, for temporary: UInt64) {
    if (count + 1) * 2 > places.count { grow(to: max(16, places.count * 2)) }
    let place = place(of: temporary)
    if places[place].temporary != temporary { count += 1 }
    places[place] = (temporary, permanent)
  }

  /// Takes in the pairs of another map whose temporary keys are not here.
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

  /// Where a key stands, or would have to stand.
  private func place(of temporary: UInt64) -> Int {
    let mask = places.count &- 1
    var place = Int(truncatingIfNeeded: (temporary &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    while places[place].temporary != temporary && places[place].temporary != 0 { place = (place &+ 1) & mask }
    return place
  }
}
