/// The slots of an entity's properties by their names.
///
/// A name is first compared as the words of its representation, which are equal for equal short strings: this costs a few
/// comparisons, where hashing costs more than reading the property. If none is equal, a dictionary decides.
struct SlotsByName: Sendable {
  private let words: [(UInt64, UInt64)]
  private let slots: [String: Int]
  /// Keeps strings alive whose words are addresses.
  private let names: [String]

  /// - Parameter names: The names by slot; the first of two equal ones counts.
  init(_ names: [String]) {
    self.names = names
    words = names.map(\.representation)
    slots = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  subscript(name: String) -> Int? {
    let wanted = name.representation
    for slot in words.indices where words[slot] == wanted { return slot }
    return slots[name]
  }
}
