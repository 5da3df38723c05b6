/// The lists of constants of a condition, for `IN` with many objects: from the second look on, a list is a set.
final class ConstantLists {
  private struct Members {
    /// Kept, so that its address is no other list's.
    let list: [Value]
    /// The values that equal only such of their own kind.
    private let hashed: Set<Value>
    private let others: [Value]

    init(_ list: [Value]) {
      self.list = list
      hashed = Set(list.lazy.filter(Self.isPlain))
      others = list.filter { !Self.isPlain($0) }
    }

    func contains(_ value: Value) -> Bool {
      guard Self.isPlain(value) else { return ConstantLists.contains(value, in: list, []) }
      return hashed.contains(value) || ConstantLists.contains(value, in: others, [])
    }

    private static func isPlain(_ value: Value) -> Bool {
      switch value {
      case .string, .int, .uuid, .data, .object: true
      default: false
      }
    }
  }

  /// By the address of the first value; nil after the first look.
  private var known: [UnsafeRawPointer: Members?] = [:]

  /// - Complexity: Constant for texts without options, whole numbers, and what is equal as a whole; otherwise linear in the list.
  func contains(_ value: Value, in list: [Value], _ options: ComparisonOptions) -> Bool {
    guard options.isEmpty, list.count > 8,
      let address = list.withUnsafeBytes({ $0.baseAddress })
    else { return Self.contains(value, in: list, options) }
    switch known[address] {
    case nil:
      known[address] = .some(nil)
      return Self.contains(value, in: list, options)
    case .some(nil):
      let members = Members(list)
      known[address] = members
      return members.contains(value)
    case .some(let members?): return members.contains(value)
    }
  }

  private static func contains(_ value: Value, in list: [Value], _ options: ComparisonOptions) -> Bool {
    list.contains { InMemoryEvaluation.holds(value, .equal, $0, options) }
  }
}
