/// What the sources of a target say about their classes, in all files.
package struct ClassIndex {
  package init() {}

  /// The superclasses, or what else is named first after the colon, by class.
  private(set) var superclasses: [String: String] = [:]
  private var withManagedProperties: Set<String> = []
  /// Properties that Objective-C sees and the model does not have, by class.
  private(set) var ownProperties: [String: [OwnProperty]] = [:]

  struct OwnProperty {
    let name: String
    let isSettable: Bool
  }

  mutating func note(class name: String, superclass: String?) {
    if let superclass { superclasses[name] = superclass }
  }
  mutating func noteManaged(_ name: String) { withManagedProperties.insert(name) }
  mutating func note(_ property: OwnProperty, of name: String) {
    ownProperties[name, default: []].append(property)
  }

  /// Whether objects of a class are managed objects.
  func isManaged(_ name: String) -> Bool {
    var next: String? = name
    var seen: Set<String> = []
    while let current = next, seen.insert(current).inserted {
      if current == "NSManagedObject" || withManagedProperties.contains(current) { return true }
      next = superclasses[current]
    }
    return false
  }
}
