/// Who can be reached from whom by edges of some kinds, of all those that are in no circle of them.
struct Reachability {
  private let words: Int
  /// A row of bits for each node.
  private var bits: [UInt64]

  init(_ edges: [[DependencyGraph.Edge]], by kinds: Set<DependencyGraph.Kind>) {
    words = edges.count / 64 + 1
    bits = Array(repeating: 0, count: words * edges.count)
    let successors = edges.map { $0.filter { kinds.contains($0.kind) }.map(\.to) }
    // From the last on, so that whatever a node leads to is known before it.
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

  /// The nodes, each behind those that lead to it; without the ones in circles and behind them.
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
