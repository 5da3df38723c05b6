import Foundation
import Heartwood

/// One part of a composite value.
struct CompositeElementCoding: @unchecked Sendable {
  let name: String
  let valueType: any Any.Type
  let isOptional: Bool
  let coding: AnyValueCoding

  /// The parts of a `Codable` structure in the order of their names, as its own decoding asks for them; nil if it is not encoded by names, or
  /// has no parts, or if a part has a name that a store cannot have, such as `first-name`.
  static func elements<Value: Codable>(of type: Value.Type) -> [CompositeElementCoding]? {
    guard Mirror.isStructure(type), !isOpaque(type), let found = StructureDecoder.elements(of: type),
      !found.isEmpty,
      found.allSatisfy({ CompositeAttributeDescription.mayHaveElement(named: $0.name) })
    else { return nil }
    return found.sorted { $0.name < $1.name }
  }

  /// Whether a structure is one of Foundation's, such as `Locale`, whose parts are not what it encodes. It is not decoded to learn its parts
  /// either: a `CharacterSet` of no value ends the process.
  private static func isOpaque(_ type: any Any.Type) -> Bool {
    let module = String(reflecting: type).prefix { $0 != "." }
    guard ["Foundation", "FoundationEssentials", "FoundationInternationalization"].contains(module) else {
      return false
    }
    return StructureFields.fields(of: type)?.allSatisfy { $0.type is any AttributeValue.Type } != true
  }
}

extension Mirror {
  /// Whether a type is a structure of its own, not one of those of the standard library that are lists.
  static func isStructure(_ type: any Any.Type) -> Bool {
    !(type is any Sequence.Type) && StructureFields.fields(of: type) != nil
  }
}

/// `Codable` structures whose parts are stored one by one.
final class CompositeCoding<Value: Codable>: ValueCoding<Value>, @unchecked Sendable {
  private let parts: [CompositeElementCoding]
  override var elements: [CompositeElementCoding]? { parts }
  override var keepsOrder: Bool { false }

  init(_ parts: [CompositeElementCoding]) {
    self.parts = parts
    super.init(.composite, isOptional: false)
  }

  override func stored(_ value: Value) -> _Value {
    do {
      let values = try StructureEncoder.values(of: value, parts)
      return .list(parts.map { values[$0.name] ?? .null })
    } catch {
      return .refused("it cannot be encoded: \(error)")
    }
  }

  override func value(_ stored: _Value) -> Value? {
    guard case .list(let values) = stored, values.count == parts.count else { return nil }
    return try? StructureDecoder.value(Value.self, parts, values)
  }
}
