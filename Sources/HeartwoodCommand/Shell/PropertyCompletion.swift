import Heartwood

/// The completions of names of properties in conditions.
struct PropertyCompletion {
  let model: ManagedObjectModel

  /// The property at the end of a path such as `capital.na`.
  /// - Parameters:
  ///   - end: The place of a completion without candidates.
  ///   - name: The entity with which the path begins.
  func callAsFunction(_ line: [Character], _ end: Int, of name: String?) -> LineEditor.Completion {
    let start = line.lastIndex { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }.map { $0 + 1 } ?? 0
    var parts = String(line[start...]).split(separator: ".", omittingEmptySubsequences: false).map(
      String.init)
    guard let name, var entity = model.entitiesByName[name], let last = parts.popLast() else {
      return LineEditor.Completion(start: end, candidates: [])
    }
    for part in parts {
      guard let next = entity.relationshipsByName[part]?.destinationEntity else {
        return LineEditor.Completion(start: end, candidates: [])
      }
      entity = next
    }
    let names = entity.propertiesByName.keys.sorted().filter { $0.hasPrefix(last) }
    let head = parts.map { $0 + "." }.joined()
    return LineEditor.Completion(
      start: start, candidates: names.map { head + $0 })
  }
}
