import Foundation
import HeartwoodBytes

/// Reading properties of prototypes: returns sentinels by which the property is recognised.
extension ManagedObject {
  @usableFromInline
  final func _recordedAttribute<Wrapped: AttributeValue>(_ offset: Int) -> Wrapped {
    let round = PropertyRecorder.current?.round ?? 0
    let value: Wrapped = sentinel(at: offset, round: round)
    PropertyRecorder.current?.note(RecordedAccess(object: self, offset: offset, answer: .value(value._value)))
    return value
  }

  final func recordedRelationship<Wrapped: RelationshipValue>(_ offset: Int) -> Wrapped {
    let destination = CheckedCast.object(
      ObjectMaking.make(Wrapped.Destination.self, PropertyRecorder.entity), of: Wrapped.Destination.self)
    PropertyRecorder.current?.note(
      RecordedAccess(object: self, offset: offset, answer: .destination(destination)))
    return ._leading(to: destination)
  }

  /// A sentinel that differs from round to round, so that only this property can have returned it: a value of the
  /// attribute's type, otherwise a case of the enum, otherwise the declared default.
  private final func sentinel<Wrapped: AttributeValue>(at offset: Int, round: Int) -> Wrapped {
    if let composite = Wrapped.withoutOptional as? any CompositeValue.Type {
      var count = 0
      if let value = Wrapped(Sentinels.value(of: composite, round: round, &count)) { return value }
    }
    if !Wrapped._isOptional || Wrapped.attributeType != .composite,
      let value = Wrapped(Sentinels.value(of: Wrapped.attributeType, round: round))
    {
      return value
    }
    let cases = Sentinels.cases(of: Wrapped.self)
    if !cases.isEmpty { return cases[round % cases.count] }
    let declared = try? ClassRecord.of(type(of: self)).property(at: offset)?.attribute?.defaultValue
    guard let value = Wrapped(declared ?? .null) else {
      programError("\(Wrapped.self) has no value by which a property can be recognised")
    }
    return value
  }
}

private enum Sentinels {
  static func value(of type: AttributeType, round: Int) -> Value {
    switch type {
    case .undefined, .transformable, .composite: .null
    case .integer16, .integer32, .integer64: .int(Int64(12_007 + 31 * round))
    // Functions that keep what is positive, lower case or trimmed are seen, too.
    case .decimal: .decimal(Decimal(120_071 + 31 * round) / (round % 2 == 0 ? 10 : -10))
    case .double, .float: .double((12_007.5 + Double(31 * round)) * (round % 2 == 0 ? 1 : -1))
    case .string: .string(" \u{10FFFD} Stands for a property \(round) ")
    case .boolean: .bool(round % 2 == 0)
    case .date: .date(Double(-1_200_700_000 - 31 * round))
    case .binaryData: .data(Data("stands for a property \(round)".utf8))
    case .uuid: .uuid(uuid(round))
    case .uri: .url("heartwood:stands-for-a-property-\(round)")
    }
  }

  /// A list of values for the elements of a composite type, which differ from one another where their types allow it.
  static func value<Composite: CompositeValue>(
    of type: Composite.Type, round: Int, _ count: inout Int
  ) -> Value {
    var value = Composite()
    for element in Composite.orderedElements {
      count += 1
      if let nested = element.valueType.withoutOptional as? any CompositeValue.Type {
        _ = element.set(&value, Self.value(of: nested, round: round, &count))
      } else {
        _ = element.set(&value, Self.value(of: element.valueType.attributeType, round: round + 7 * count))
      }
    }
    return value._value
  }

  static func cases<Wrapped>(of type: Wrapped.Type) -> [Wrapped] {
    guard let type = type as? any CaseIterable.Type else { return [] }
    func all<Cases: CaseIterable>(_ type: Cases.Type) -> [Wrapped] {
      type.allCases.compactMap { $0 as? Wrapped }
    }
    return all(type)
  }

  private static func uuid(_ round: Int) -> UUID {
    let byte = UInt8(truncatingIfNeeded: round)
    return UUID(uuid: (0x68, 0x77, 0, 0, 0, 0, 0x4F, 0, 0x8F, 0, 0, 0, 0, 0, 1, byte))
  }
}
