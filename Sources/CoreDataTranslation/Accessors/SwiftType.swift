/// A type as a source writes it, with what its names stand for.
indirect enum SwiftType: Hashable {
  /// A class, structure or enumeration, with the types around it.
  case nominal(NominalType, [SwiftType])
  case optional(SwiftType)
  case tuple([(label: String?, type: SwiftType)])
  case function([SwiftType], SwiftType, FunctionTraits)
  /// Protocols, of which a value has all; none for `Any`.
  case existential([NominalType], isClass: Bool)
  case metatype(SwiftType)

  static func == (left: SwiftType, right: SwiftType) -> Bool { left.key == right.key }
  func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// A text that only equal types have.
  var key: String {
    switch self {
    case .nominal(let type, let arguments): "\(type.key)<\(arguments.map(\.key).joined(separator: ","))>"
    case .optional(let type): "\(type.key)?"
    case .tuple(let parts): "(\(parts.map { ($0.label ?? "_") + ":" + $0.type.key }.joined(separator: ",")))"
    case .function(let parameters, let result, let traits):
      "(\(parameters.map(\.key).joined(separator: ",")))\(traits)->\(result.key)"
    case .existential(let types, let isClass): "any \(types.map(\.key).joined(separator: "&")) \(isClass)"
    case .metatype(let type): "\(type.key).Type"
    }
  }
}

extension SwiftType {
  /// The type as a source writes it, with the types around each name.
  var source: String {
    switch self {
    case .nominal(let type, let arguments):
      let name = type.path.map(\.name).joined(separator: ".")
      return arguments.isEmpty ? name : "\(name)<\(arguments.map(\.source).joined(separator: ", "))>"
    case .optional(let type): return "Optional<\(type.source)>"
    case .tuple(let parts):
      return "(\(parts.map { ($0.label.map { $0 + ": " } ?? "") + $0.type.source }.joined(separator: ", ")))"
    case .function(let parameters, let result, let traits):
      return (traits.isSendable ? "@Sendable " : "") + "(\(parameters.map(\.source).joined(separator: ", ")))"
        + (traits.isAsync ? " async" : "") + (traits.throwsErrors ? " throws" : "") + " -> \(result.source)"
    case .existential(let types, let isClass):
      guard !types.isEmpty else { return isClass ? "AnyObject" : "Any" }
      return "any " + types.map { $0.path.map(\.name).joined(separator: ".") }.joined(separator: " & ")
    case .metatype(let type): return "\(type.source).Type"
    }
  }
}

struct FunctionTraits: Hashable {
  var isAsync = false
  var throwsErrors = false
  var isSendable = false
}

/// A named type.
struct NominalType: Hashable {
  enum Kind: String {
    case `class` = "C"
    case structure = "V"
    case enumeration = "O"
    case `protocol` = "P"
  }

  let module: String
  /// The names of the types around it, and its own.
  let path: [(name: String, kind: Kind)]

  static func == (left: NominalType, right: NominalType) -> Bool { left.key == right.key }
  func hash(into hasher: inout Hasher) { hasher.combine(key) }
  var key: String { module + "." + path.map { $0.name + $0.kind.rawValue }.joined(separator: ".") }
}

extension Mangler {
  private static let letters: [String: Character] = [
    "Int": "i", "String": "S", "Bool": "b", "Double": "d", "Float": "f", "Array": "a", "Dictionary": "D",
    "Set": "h", "UInt": "u",
    "Character": "J", "Substring": "s", "Range": "n", "ClosedRange": "N", "Optional": "q",
  ]

  private mutating func module(_ name: String) {
    if name == "Swift" { return append("s") }
    identifier(name)
  }

  /// A named type without its arguments.
  mutating func nominal(_ type: NominalType) {
    if type.module == "Swift", type.path.count == 1, let letter = Self.letters[type.path[0].name] {
      return standard(letter.asciiValue ?? 0)
    }
    let key = "n:" + type.key
    if substitute(key) { return }
    scope(of: type)
    if let last = type.path.last {
      identifier(last.name)
      append(last.kind.rawValue)
    }
    remember(key)
  }

  mutating func type(_ type: SwiftType) {
    switch type {
    case .nominal(let nominal, let arguments):
      guard !arguments.isEmpty else { return self.nominal(nominal) }
      let key = "t:" + type.key
      if substitute(key) { return }
      self.nominal(nominal)
      append("y")
      for argument in arguments { self.type(argument) }
      append("G")
      remember(key)
    case .optional(let wrapped):
      let key = "t:" + type.key
      if substitute(key) { return }
      self.type(wrapped)
      append("Sg")
      remember(key)
    case .tuple(let parts):
      guard !parts.isEmpty else { return append("yt") }
      list(parts.map { (label: $0.label, type: $0.type) })
      append("t")
    case .function(let parameters, let result, let traits):
      function(parameters, result, traits)
      append("c")
    case .existential(let protocols, let isClass):
      guard !protocols.isEmpty || isClass else { return append("yp") }
      if protocols.isEmpty { return append("yXl") }
      for (index, type) in protocols.enumerated() {
        protocolName(type)
        if index == 0 { append("_") }
      }
      append(isClass ? "Xl" : "p")
    case .metatype(let instance):
      self.type(instance)
      if case .existential = instance { append("Xp") } else { append("m") }
    }
  }

  /// The type or the module in which a type is declared.
  private mutating func scope(of type: NominalType) {
    if type.path.count > 1 {
      nominal(NominalType(module: type.module, path: Array(type.path.dropLast())))
    } else {
      module(type.module)
    }
  }

  /// A protocol in an existential, which is not remembered itself.
  private mutating func protocolName(_ type: NominalType) {
    let key = "n:" + type.key
    if substitute(key) { return }
    scope(of: type)
    if let last = type.path.last { identifier(last.name) }
  }

  private mutating func list(_ parts: [(label: String?, type: SwiftType)]) {
    for (index, part) in parts.enumerated() {
      type(part.type)
      if let label = part.label { identifier(label) }
      if index == 0 { append("_") }
    }
  }

  /// Result, then parameters.
  ///
  /// - Parameter hasLabels: Whether parameters have labels, which are written elsewhere; a single one is then a list as well.
  mutating func function(
    _ parameters: [SwiftType], _ result: SwiftType, _ traits: FunctionTraits, hasLabels: Bool = false
  ) {
    if case .tuple(let parts) = result, parts.isEmpty { append("y") } else { type(result) }
    self.parameters(parameters, hasLabels)
    if traits.isAsync { append("Ya") }
    if traits.isSendable { append("Yb") }
    if traits.throwsErrors { append("K") }
  }

  private mutating func parameters(_ types: [SwiftType], _ hasLabels: Bool) {
    if types.isEmpty { return append("y") }
    if types.count == 1, !hasLabels, case let single = types[0] {
      if case .tuple = single {} else { return type(single) }
    }
    list(types.map { (label: nil, type: $0) })
    append("t")
  }
}
