/// Reachability by edges of some kinds, for the nodes that are not in a cycle of these.
struct Reachability {
  private let words: Int
  /// A bit set for each node.
  private var bits: [UInt64]

  init(_ edges: [[DependencyGraph.Edge]], by kinds: Set<DependencyGraph.Kind>) {
    words = edges.count / 64 + 1
    bits = Array(repeating: 0, count: words * edges.count)
    let successors = edges.map { $0.filter { kinds.contains($0.kind) }.map(\.to) }
    // In reverse topological order, so that the successors of a node are complete before it.
    for node in Self.order(successors).reversed() {
      for successor in successors[node] {
        bits[words * node + successor / 64] |= 1 << UInt64(successor % 64)
        for word in 0..<words { bits[words * node + word] |= bits[words * successor + word] }
      }
    }
  }

  func leads(from node: Int, to goal: Int) -> Bool {
    bits[words * node + goal / 64] >> UInt64(goal % 64) & 1 == 1
  }

  /// The nodes in topological order, without those in cycles and those reachable from cycles.
  private static func order(_ successors: [[Int]]) -> [Int] {
    var incoming = Array(repeating: 0, count: successors.count)
    for successor in successors.joined() { incoming[successor] += 1 }
    var order = successors.indices.filter { incoming[$0] == 0 }
    var position = 0
    while position < order.count {
      for successor in successors[order[position]] {
        incoming[successor] -= 1
        if incoming[successor] == 0 { order.append(successor) }
      }
      position += 1
    }
    return order
  }
}
