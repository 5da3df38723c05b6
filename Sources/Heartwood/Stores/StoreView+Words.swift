/// Counting words, by an index if there is one, and otherwise by reading all texts.
extension StoreView {
  func count(_ counts: inout WordCounts) throws {
    let attribute = counts.attribute
    if let index = indexes(of: attribute.entity).first(where: { index in
      index.kind == .words && index.condition == nil && index.entity === attribute.entity
        && index.slots == [Int(attribute.column.slot)]
    }), try count(&counts, index) {
      return
    }
    try scanRows(of: attribute.root, from: nil, reversed: false) { found in
      counts.add(found.row)
      return true
    }
  }

  /// - Returns: false if an index cannot count them.
  private func count(_ counts: inout WordCounts, _ index: StoreIndex) throws -> Bool {
    guard let entries = try indexCount(index, IndexRange()) else { return false }
    var found: [Int] = []
    for word in counts.words {
      let range = word.isPrefix ? IndexRange(prefix: word.text) : IndexRange(equal: [.string(word.text)])
      guard let count = try indexCount(index, range) else { return false }
      found.append(count)
    }
    for (place, count) in found.enumerated() { counts.counts[place] += count }
    counts.entries += entries
    counts.objects += try rowCount(of: index.entity.rootEntity)
    return true
  }
}

extension StoreTransaction {
  func count(_ counts: inout WordCounts) throws { try view().count(&counts) }
}
