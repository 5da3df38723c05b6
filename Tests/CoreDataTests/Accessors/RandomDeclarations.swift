/// Sources with classes of managed objects, whose properties have types of all forms.
struct RandomDeclarations {
  private var state: UInt64
  private var words = [
    "trip", "Stop", "cities", "City", "name", "Of", "x", "mayor", "Mayor", "URL", "id", "date", "Date2",
    "capital", "_under", "ünter",
    "Word", "word", "Long", "identifier", "A", "b", "zoë", "set", "Set",
  ]

  init(seed: UInt64) { state = seed }

  mutating func next(_ count: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(count))
  }

  mutating func name(_ used: inout Set<String>) -> String {
    while true {
      let count = 1 + next(4)
      let name =
        (0..<count).map { _ in words[next(words.count)] }.joined() + (next(4) == 0 ? "\(next(100))" : "")
      let plain = name.first?.isNumber == true ? "n" + name : name
      let keywords: Set<String> = ["set", "Set", "URL", "Date", "A", "City", "_"]
      if !keywords.contains(plain), used.insert(plain).inserted { return plain }
    }
  }

  mutating func type(_ classes: [String], depth: Int = 0) -> String {
    let plain = [
      "Int", "Int16", "Int32", "Int64", "Bool", "Double", "Float", "String", "Date", "Data", "UUID", "URL",
      "Decimal", "NSNumber", "NSSet",
      "NSOrderedSet", "NSDecimalNumber", "NSObject", "IndexSet", "Any", "AnyObject", "Place", "Place.Inner",
      "Rank", "Names", "TimeInterval",
      "Calendar", "NSDictionary", "UInt8", "Character", "any Error", "any Marked", "any Marked & Other",
    ]
    switch next(depth > 2 ? 12 : 20) {
    case 0..<10: return plain[next(plain.count)]
    case 10, 11: return classes[next(classes.count)]
    case 12: return "Set<\(classes[next(classes.count)])>"
    case 13: return "[\(type(classes, depth: depth + 1))]"
    case 14: return "[String: \(type(classes, depth: depth + 1))]"
    case 15, 16, 17:
      let wrapped = type(classes, depth: depth + 1)
      return wrapped.hasPrefix("any ") || wrapped.contains("->") ? "(\(wrapped))?" : wrapped + "?"
    case 18: return "(\(type(classes, depth: depth + 1)), at: \(type(classes, depth: depth + 1)))"
    default: return depth == 0 ? "((\(type(classes, depth: 2))) -> \(type(classes, depth: 2)))?" : "Int"
    }
  }

  /// A file of classes, each with properties that the last function uses, so that all of them are referred to.
  mutating func file(_ index: Int, classes: Int, properties: Int) -> String {
    var used: Set<String> = []
    let names = (0..<classes).map { _ in "C\(index)" + name(&used) }
    var text = "import CoreData\nimport Foundation\n\n"
    for (place, name) in names.enumerated() {
      let access = ["public ", "", "", "private "][next(4)]
      // A private class cannot be named in public ones.
      let visible = names.enumerated().filter { $0.offset <= place }.map(\.element)
      text += "class \(name): NSManagedObject {\n"
      var members: Set<String> = []
      for _ in 0..<properties {
        text +=
          "  @NSManaged \(access == "public " ? "" : access)var \(self.name(&members)): \(type(visible))\n"
      }
      text +=
        "  func use() {\n" + members.sorted().map { "    let v\($0) = \($0); \($0) = v\($0)\n" }.joined()
        + "  }\n}\n"
    }
    return text
  }

  static let common = """
    import Foundation

    enum Rank: Int { case low }
    struct Place { struct Inner {} }
    protocol Marked {}
    protocol Other {}
    typealias Names = [String: [Int]]

    """
}
