/// Suggests corrections of misspelled words.
enum Spelling {
  /// `, did you mean X?` for the nearest known word, or an empty string if none is near.
  static func hint(_ word: String, among known: [String]) -> String {
    let most = max(1, (word.count + 2) / 3)
    // Words of other lengths are farther away, and long ones are compared slowly.
    let near = known.filter { abs($0.count - word.count) <= most }.map {
      (word: $0, distance: distance(word.lowercased(), $0.lowercased()))
    }.filter {
      // Of a short word, half may be other letters only if it begins alike.
      2 * $0.distance < word.count || $0.word.lowercased().first == word.lowercased().first
    }
    guard let best = near.min(by: { $0.distance < $1.distance }), best.distance <= most,
      best.distance < word.count
    else {
      return ""
    }
    return ", did you mean \(best.word)?"
  }

  /// The number of letters to add, drop or change.
  static func distance(_ first: String, _ second: String) -> Int {
    let second = Array(second)
    var row = Array(0...second.count)
    for (i, letter) in first.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in second.enumerated() {
        let change = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(change, row[j] + 1, diagonal + 1)
      }
    }
    return row[second.count]
  }
}
