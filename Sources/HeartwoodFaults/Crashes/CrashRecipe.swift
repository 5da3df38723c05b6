/// The unsynced changes that survive a crash, in the order in which they reach the disk.
struct CrashRecipe: Hashable, Sendable {
  struct Item: Hashable, Sendable {
    var change: Int
    var tear: WriteTear?
  }

  var items: [Item]

  init(items: [Item]) { self.items = items }

  init(_ kept: some Sequence<Int>) { items = kept.map { Item(change: $0) } }

  /// The changes that survive in whole.
  var whole: Set<Int> { Set(items.lazy.filter { $0.tear == nil }.map(\.change)) }

  var isInOrder: Bool { zip(items, items.dropFirst()).allSatisfy { $0.change < $1.change } }

  /// A copy without the item at `position`.
  func without(_ position: Int) -> CrashRecipe {
    var recipe = self
    recipe.items.remove(at: position)
    return recipe
  }
}

// MARK: Text form

extension CrashRecipe: LosslessStringConvertible {
  /// Change numbers from 0, runs as ranges, tears after a tilde: `0-4,7~head:512:zeros,6`.
  var description: String {
    guard !items.isEmpty else { return "none" }
    var parts: [String] = []
    var rest = items[...]
    while let first = rest.popFirst() {
      var last = first.change
      while first.tear == nil, let next = rest.first, next.tear == nil, next.change == last + 1 {
        last = next.change
        rest.removeFirst()
      }
      let run = last == first.change ? "\(last)" : "\(first.change)-\(last)"
      parts.append(first.tear.map { "\(run)~\($0)" } ?? run)
    }
    return parts.joined(separator: ",")
  }

  init?(_ description: String) {
    items = []
    guard description != "none" else { return }
    for part in description.split(separator: ",", omittingEmptySubsequences: false) {
      guard let run = Self.items(part) else { return nil }
      items += run
    }
  }

  private static func items(_ text: Substring) -> [Item]? {
    let parts = text.split(separator: "~", omittingEmptySubsequences: false)
    let bounds = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count <= 2, bounds.count <= 2, let low = bounds.first ?? nil, let high = bounds.last ?? nil,
      0 <= low, low <= high, high - low < 1 << 24
    else { return nil }
    guard parts.count == 2 else { return (low...high).map { Item(change: $0) } }
    guard low == high, let tear = WriteTear(String(parts[1])) else { return nil }
    return [Item(change: low, tear: tear)]
  }
}
