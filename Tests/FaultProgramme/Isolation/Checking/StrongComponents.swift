/// Tarjan's algorithm for strongly connected components, without recursion.
struct StrongComponents {
  private let successors: [[Int]]
  private var order: [Int?]
  private var low: [Int]
  private var isOnStack: [Bool]
  private var stack: [Int] = []
  private var calls: [(node: Int, next: Int)] = []
  private var count = 0
  private var found: [[Int]] = []

  /// The components with more than one node.
  static func of(_ successors: [[Int]]) -> [[Int]] {
    var search = StrongComponents(successors)
    for root in successors.indices where search.order[root] == nil { search.run(from: root) }
    return search.found
  }

  private init(_ successors: [[Int]]) {
    self.successors = successors
    order = Array(repeating: nil, count: successors.count)
    low = Array(repeating: 0, count: successors.count)
    isOnStack = Array(repeating: false, count: successors.count)
  }

  private mutating func run(from root: Int) {
    enter(root)
    while let (node, next) = calls.last {
      guard next < successors[node].count else {
        leave(node)
        continue
      }
      calls[calls.count - 1].next += 1
      let successor = successors[node][next]
      if let number = order[successor] {
        if isOnStack[successor] { low[node] = min(low[node], number) }
      } else {
        enter(successor)
      }
    }
  }

  private mutating func enter(_ node: Int) {
    order[node] = count
    low[node] = count
    count += 1
    stack.append(node)
    isOnStack[node] = true
    calls.append((node, 0))
  }

  private mutating func leave(_ node: Int) {
    calls.removeLast()
    if let caller = calls.last?.node { low[caller] = min(low[caller], low[node]) }
    guard low[node] == order[node], let start = stack.lastIndex(of: node) else { return }
    let component = Array(stack[start...])
    stack.removeSubrange(start...)
    for member in component { isOnStack[member] = false }
    if component.count > 1 { found.append(component) }
  }
}
