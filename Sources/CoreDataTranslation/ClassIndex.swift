/// The facts that the sources of a target state about their classes, in all files.
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

  /// Validators that Core Data finds by their names, by class.
  private var validators: [String: [Validator]] = [:]
  /// The classes whose bodies are written in this target, by its sources or from its models.
  private var withBodies: Set<String> = []

  mutating func note(_ validator: Validator, of name: String) {
    validators[name, default: []].append(validator)
  }

  /// Methods that Objective-C sees and that return something, by class.
  private(set) var functions: [String: [PolicyFunction]] = [:]
  mutating func note(_ function: PolicyFunction, of name: String) {
    functions[name, default: []].append(function)
  }

  /// Notes a class whose body is in a source of this target.
  mutating func noteBody(of name: String) { withBodies.insert(name) }

  /// Notes a class of managed objects that is made from a model.
  package mutating func note(generated name: String) {
    withBodies.insert(name)
    withManagedProperties.insert(name)
  }

  func hasBody(_ name: String) -> Bool { withBodies.contains(name) }

  /// Other names for classes whose casts are translated.
  private var recast: Set<String> = []
  mutating func noteRecast(_ alias: String) { recast.insert(alias) }
  func isRecast(_ alias: String) -> Bool { recast.contains(alias) }

  /// The types of the variables of classes, by their names.
  private var variableTypes: [String: Set<String>] = [:]
  mutating func noteVariable(_ name: String, type: String) { variableTypes[name, default: []].insert(type) }

  /// Whether a variable of the name is one of Foundation's sets.
  func isSet(_ name: String) -> Bool {
    variableTypes[name].map { !$0.isDisjoint(with: ["NSSet", "NSMutableSet"]) } ?? false
  }

  /// The labels of the optional functions of protocols, by name. First those of `NSFetchedResultsControllerDelegate`.
  private var optionals: [String: Set<[String]>] = [
    "controllerWillChangeContent": [["_"]], "controllerDidChangeContent": [["_"]],
    "controller": [
      ["_", "didChange", "at", "for", "newIndexPath"], ["_", "didChange", "atSectionIndex", "for"],
      ["_", "sectionIndexTitleForSectionName"], ["_", "didChangeContentWith"],
    ],
  ]
  mutating func noteOptional(_ name: String, labels: [String]) { optionals[name, default: []].insert(labels) }

  /// Whether a protocol has an optional function that is called so.
  ///
  /// - Parameter hasClosure: Whether the last argument may be a closure after the call.
  func isOptional(_ name: String, labels: [String], hasClosure: Bool) -> Bool {
    guard let known = optionals[name] else { return false }
    return known.contains(labels) || hasClosure && known.contains { $0.dropLast() == labels[...] }
  }

  /// Members of extensions, by class.
  private var extensionMembers: [String: [ExtensionMember]] = [:]
  /// The names of members that the bodies of classes override, by class.
  private var overridden: [String: Set<String>] = [:]

  mutating func note(_ member: ExtensionMember, of name: String) {
    extensionMembers[name, default: []].append(member)
  }
  mutating func noteOverride(of key: String, in name: String) { overridden[name, default: []].insert(key) }

  func isOverridden(_ key: String, in name: String) -> Bool { overridden[name]?.contains(key) == true }

  /// Whether objects of a class are migration policies.
  func isPolicy(_ name: String) -> Bool {
    superclasses[name] == "NSEntityMigrationPolicy"
      || ancestors(of: name).contains { superclasses[$0] == "NSEntityMigrationPolicy" }
  }

  /// Whether a member of an extension has to be in the body of its class, as it overrides another one or is overridden.
  func isMoved(_ member: ExtensionMember, of name: String) -> Bool {
    guard hasBody(name), !member.isOverride else { return hasBody(name) }
    return overridden.contains { other, keys in
      keys.contains(member.key) && other != name && ancestors(of: other).contains(name)
    }
  }

  /// The names of the superclasses of a class, as far as they are in this target.
  private func ancestors(of name: String) -> Set<String> {
    var seen: Set<String> = []
    var next = superclasses[name]
    while let current = next, seen.insert(current).inserted { next = superclasses[current] }
    return seen
  }

  /// The members of extensions that the body of a class declares in their place.
  func movedMembers(of name: String) -> [String] {
    (extensionMembers[name] ?? []).filter { isMoved($0, of: name) }.map(\.declaration)
  }

  /// The members that the body of a class needs so that its properties are found by their names.
  func members(of name: String) -> [String] {
    var members: [String] = []
    if let own = ownProperties[name], !own.isEmpty {
      let read = own.map { "case \"\($0.name)\": return .some(self.\($0.name))" }.joined(separator: "; ")
      members.append(
        "public override func _ownValue(forKey key: String) -> Any?? { switch key { \(read); default: return super._ownValue(forKey: key) } }"
      )
      let written = own.filter(\.isSettable).map {
        "case \"\($0.name)\": return Self._assign(value, to: \\\(name).\($0.name), of: self)"
      }
      if !written.isEmpty {
        members.append(
          "public override func _setOwnValue(_ value: Any?, forKey key: String) -> Bool { switch key { \(written.joined(separator: "; ")); default: return super._setOwnValue(value, forKey: key) } }"
        )
      }
    }
    if let own = validators[name], !own.isEmpty {
      let calls = own.map { validator in
        "case \(validator.keys.map { "\"\($0)\"" }.joined(separator: ", ")): try self.\(validator.name)(value)"
      }
      members.append(
        "public override func _validateOwn(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws { switch key { \(calls.joined(separator: "; ")); default: try super._validateOwn(value, forKey: key) } }"
      )
    }
    return members + movedMembers(of: name)
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
