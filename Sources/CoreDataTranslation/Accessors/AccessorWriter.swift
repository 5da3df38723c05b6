import SwiftTokens

/// Writes the functions that `@NSManaged` leaves to the Objective-C runtime, under the names by which the compiler calls them: for sources that
/// have no other attributes of Objective-C, or these within `#if`.
package struct AccessorWriter {
  private let module: String
  private var names = TypeNames()
  private var imports: Set<String> = ["import CoreData", "import Foundation"]
  private var lines: [String] = []
  private var count = 0
  package private(set) var errors: [TranslationError] = []

  package init(module: String) { self.module = module }

  /// Notes a class of the module itself.
  package mutating func declare(class name: String) {
    names.declare(NominalType(module: module, path: [(name, .class)]), privateFile: nil, isGeneric: false)
  }

  /// Notes the types that a source declares.
  package mutating func collect(_ bytes: [UInt8], file: String, module: String) {
    var scanner = DeclarationScanner(bytes: bytes, file: file)
    scanner.scan()
    for type in scanner.types {
      names.declare(
        NominalType(module: module, path: type.path), privateFile: type.isPrivate ? type.file : nil,
        isGeneric: type.isGeneric)
    }
    for alias in scanner.aliases { names.alias(alias.path.joined(separator: "."), alias.tokens) }
  }

  /// Writes the accessors of a source.
  package mutating func write(_ bytes: [UInt8], file: String) {
    var scanner = DeclarationScanner(bytes: bytes, file: file)
    scanner.scan()
    noteNamesOfClasses(bytes, file)
    for validator in scanner.validators {
      errors.append(
        TranslationError(
          file: file, line: validator.line,
          message:
            "\(validator.name)(_:) is not called here, as nothing finds methods by their names: override validateValue(_:forKey:), or use the translation for this target"
        ))
    }
    guard !scanner.members.isEmpty else { return }
    imports.formUnion(scanner.imports.map { "import \($0)" })
    for member in scanner.members {
      do {
        try write(member, file)
      } catch let error as TypeReader.Unknown {
        errors.append(
          TranslationError(
            file: file, line: member.line,
            message:
              "the type of the @NSManaged member \(member.name) cannot be resolved: \(error.name). Use the translation for this target"
          ))
      } catch {
        errors.append(TranslationError(file: file, line: member.line, message: "\(error)"))
      }
    }
  }

  /// Notes under which names models know classes: `@objc(Name)`, also where `#if` leaves it out here.
  private mutating func noteNamesOfClasses(_ bytes: [UInt8], _ file: String) {
    let cursor = TokenCursor(Lexer.tokens(of: bytes))
    var (depth, next, isPrivate) = (0, 0, false)
    var given: String?
    while cursor[next].kind != .end {
      let token = cursor[next]
      switch token.text {
      case "{": depth += 1
      case "}": depth -= 1
      case "@" where cursor[next + 1].is("objc") && cursor[next + 2].is("("):
        let end = cursor.end(ofAttributeAt: next)
        given = cursor.tokens[(next + 3)..<(end - 1)].map(\.text).joined()
        next = end
        continue
      case "private", "fileprivate": isPrivate = true
      case "class" where cursor[next + 1].kind == .word:
        let name = cursor[next + 1].text
        if depth == 0, let given, given != name || !isPrivate {
          note(name, as: given, isPrivate, token.line, file)
        }
        (given, isPrivate) = (nil, false)
      case "func", "var", "let", "enum", "protocol", "struct", "extension", "init":
        (given, isPrivate) = (nil, false)
      default: break
      }
      next += 1
    }
  }

  private mutating func note(
    _ name: String, as given: String, _ isPrivate: Bool, _ line: Int, _ file: String
  ) {
    guard !isPrivate else {
      errors.append(
        TranslationError(
          file: file, line: line,
          message:
            "models call the class \(name) \(given), and do not find it, as it is private: make it internal"))
      return
    }
    lines.append(ModelClasses.note(of: name, as: given))
  }

  package var text: String { (imports.sorted() + [""] + lines).joined(separator: "\n") + "\n" }

  private mutating func write(_ member: DeclarationScanner.Member, _ file: String) throws {
    guard case .type(let owner)? = names.find(member.owner, within: []) else {
      throw TypeReader.Unknown(name: member.owner.joined(separator: "."))
    }
    guard !owner.isGeneric else {
      throw TypeReader.Unknown(name: "\(member.owner.joined(separator: ".")) is generic")
    }
    var mangler = Mangler()
    let shortFile = String(file.split(separator: "/").last ?? "")
    context(owner, &mangler)
    mangler.identifier(member.name)
    let isPrivate = member.access == .private
    if isPrivate { discriminator(shortFile, &mangler) }
    // A class that is private to a file cannot be named here; its accessors are those of all objects.
    let extended = owner.privateFile == nil ? member.owner.joined(separator: ".") : "NSManagedObject"
    let access = member.access == .public && owner.privateFile == nil ? "public " : ""
    switch member.kind {
    case .property(let tokens):
      let type = try TypeReader.read(tokens, names: names, context: member.owner)
      if case .function(let parameters, _, _) = type, !parameters.isEmpty { mangler.append("y") }
      mangler.type(type)
      let written = type.source
      var taken = written
      if case .function = type { taken = "@escaping " + written }
      let named = PropertyHash.arguments(member.name)
      lines += [
        "extension \(extended) {",
        "  @_silgen_name(\"\(mangler.name)vg\") \(access)dynamic func _get_\(count)() -> \(written) { _managedGet(\(named)) }",
        "  @_silgen_name(\"\(mangler.name)vs\") \(access)dynamic func _set_\(count)(_ value: __owned \(taken)) { _managedSet(\(named), value) }",
        "}",
      ]
    case .method(let parameters, let selector):
      let types = try parameters.map { try TypeReader.read($0.type, names: names, context: member.owner) }
      if parameters.allSatisfy({ $0.label == "_" }) {
        if !parameters.isEmpty { mangler.append("y") }
      } else {
        for parameter in parameters {
          if parameter.label == "_" { mangler.append("_") } else { mangler.identifier(parameter.label) }
        }
      }
      mangler.function(
        types, .tuple([]), FunctionTraits(), hasLabels: !parameters.allSatisfy { $0.label == "_" })
      mangler.append("F")
      let given = parameters.indices.map { "value\($0)" }
      guard
        let body = ManagedMethod.body(
          name: member.name, labels: parameters.map(\.label), selector: selector, parameters: given)
      else { throw TypeReader.Unknown(name: "a method that Core Data does not make") }
      let list = zip(given, types).map { "_ \($0): \($1.source)" }.joined(separator: ", ")
      lines += [
        "extension \(extended) {",
        "  @_silgen_name(\"\(mangler.name)\") \(access)dynamic func _call_\(count)(\(list)) { \(body) }", "}",
      ]
    }
    count += 1
  }

  private func context(_ owner: TypeNames.Declared, _ mangler: inout Mangler) {
    guard let file = owner.privateFile, owner.type.path.count == 1 else { return mangler.nominal(owner.type) }
    mangler.identifier(owner.type.module)
    mangler.identifier(owner.type.path[0].name)
    discriminator(file, &mangler)
    mangler.append(owner.type.path[0].kind.rawValue)
    mangler.remember("n:" + owner.type.key)
  }

  private func discriminator(_ file: String, _ mangler: inout Mangler) {
    mangler.identifier("_" + MessageDigest.hex(module + file))
    mangler.append("LL")
  }
}
