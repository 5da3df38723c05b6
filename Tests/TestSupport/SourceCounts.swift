/// How the files of a module hang together, as far as names show it.
package struct SourceCounts {
  private let files: [SourceFile]
  private let texts: [String: String]

  /// - Parameter folder: The module's sources, relative to the package.
  package init(of folder: String) throws {
    texts = try PackageFolder.sources(in: folder)
    files = texts.sorted { $0.key < $1.key }.map { SourceFile(path: $0.key, text: $0.value) }
  }

  package var lines: Int { texts.values.reduce(0) { $0 + $1.count { $0 == "\n" } } }

  /// The files with an extension of a type.
  package func files(extending type: String) -> [String] {
    texts.filter { $0.value.contains("\nextension \(type) {") || $0.value.contains("\nextension \(type): ") }
      .keys.sorted()
  }

  /// Each cast to a type and pattern of one, as its file and the type.
  package func casts(to types: Set<String>) -> [String] {
    texts.flatMap { path, text in
      text.split(separator: "\n").filter { line in types.contains(where: line.contains) }.flatMap { line in
        line.matches(of: #/\b(?:as[?!]?|is) (?:any )?(?<type>[A-Z]\w*)/#)
      }.filter { types.contains(String($0.type)) }.map { "\(path): \($0.type)" }
    }.sorted()
  }

  /// The largest set of files of which each uses types of the others, over others or at once.
  package var largestRing: [String] { largestRing { $0.path } }

  /// The largest set of folders of which each uses types of the others.
  package var largestRingOfFolders: [String] { largestRing { $0.folder } }

  /// - Parameter part: The part that a file belongs to.
  private func largestRing(_ part: (SourceFile) -> String) -> [String] {
    var homes: [String: String] = [:]
    for file in files {
      for type in file.declaredTypes { homes[type] = part(file) }
    }
    var uses: [String: Set<String>] = [:]
    for file in files {
      uses[part(file), default: []].formUnion(file.usedNames.compactMap { homes[$0] })
    }
    return Rings(uses.mapValues { $0.sorted() }).largest.sorted()
  }
}

/// The strongly connected components of a graph, by Tarjan's algorithm.
private struct Rings {
  private let edges: [String: [String]]
  private var indexes: [String: Int] = [:]
  private var lowest: [String: Int] = [:]
  private var path: [String] = []
  private var isOnPath: Set<String> = []
  private(set) var largest: [String] = []

  init(_ edges: [String: [String]]) {
    self.edges = edges
    for node in edges.keys.sorted() where indexes[node] == nil { visit(node) }
  }

  private mutating func visit(_ node: String) {
    let index = indexes.count
    (indexes[node], lowest[node]) = (index, index)
    path.append(node)
    isOnPath.insert(node)
    for next in edges[node] ?? [] {
      if indexes[next] == nil {
        visit(next)
        lowest[node] = min(lowest[node]!, lowest[next]!)
      } else if isOnPath.contains(next) {
        lowest[node] = min(lowest[node]!, indexes[next]!)
      }
    }
    guard lowest[node] == index else { return }
    let ring = Array(path[path.lastIndex(of: node)!...])
    path.removeLast(ring.count)
    isOnPath.subtract(ring)
    if ring.count > largest.count { largest = ring }
  }
}
