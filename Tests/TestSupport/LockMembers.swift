/// The locks among the stored properties of a source text: `Type.member`, with the types around it.
package struct LockMembers {
  package private(set) var names: [String] = []
  /// The declarations that are open, and the number of braces before each.
  private var open: [(depth: Int, type: String)] = []
  private var depth = 0
  private static let kinds = ["Guarded", "Lock", "Mutex"]

  package init(of text: String) {
    guard Self.kinds.contains(where: text.contains) else { return }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) { read(line) }
  }

  private mutating func read(_ line: Substring) {
    let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
    let (opening, closing) = (code.count { $0 == "{" }, code.count { $0 == "}" })
    if opening > closing,
      let type = code.firstMatch(
        of: #/^\s*(?:@\S+ )*(?:[a-z]+ )*(?:class|struct|enum|extension|actor) (?<name>[A-Z][\w.]*)/#)
    {
      open.append((depth, String(type.name)))
    }
    if let last = open.last, depth == last.depth + 1, Self.kinds.contains(where: code.contains),
      let member = code.firstMatch(
        of:
          #/^\s*(?:@\S+ )*(?:[a-z()]+ )*(?:let|var) (?<name>\w+)\s*[:=]\s*(?:Guarded|Lock|NSLock|NSRecursiveLock|Mutex)\b/#
      )
    {
      names.append((open.map(\.type) + [String(member.name)]).joined(separator: "."))
    }
    depth += opening - closing
    while let last = open.last, depth <= last.depth { open.removeLast() }
  }
}
