import Heartwood
import HeartwoodBytes

/// Finds the properties that a key path reads, by evaluating it on a model that notes what is read.
final class PathProbe {
  private(set) var names: [String] = []
  /// The model that was returned last, from which the next step must read.
  private var last: AnyObject?
  private var isBroken = false

  /// The names; nil if the key path reads anything but properties, each of the object that the one before leads to.
  static func names(of keyPath: AnyKeyPath, from model: ModelClass) -> [String]? {
    let probe = PathProbe()
    guard let result = probe.evaluate(keyPath, on: model) else { return nil }
    guard !probe.isBroken, !probe.names.isEmpty else { return nil }
    // The last step may be inside of a composite value.
    let valueType = keyPath.readType
    let wrapped = (valueType as? any OptionalType.Type)?.wrappedType
    if valueType == probe.lastType || wrapped == probe.lastType {
      return isProperty(keyPath, probe, of: model) ? probe.names : nil
    }
    let usual = Reading(result: result, answer: probe.answer)
    guard let structure = probe.lastType,
      let path = field(
        of: valueType, in: structure, usual,
        { field in
          let altering = PathProbe(.altered(field))
          return altering.evaluate(keyPath, on: model).map { Reading(result: $0, answer: altering.answer) }
        })
    else { return nil }
    return probe.names + path
  }

  /// Whether a key path has the value of the property that it reads last, whatever that is: a computed property may have the same type.
  private static func isProperty(
    _ keyPath: AnyKeyPath, _ usual: PathProbe, of model: ModelClass
  ) -> Bool {
    let ways: [Answering] =
      switch usual.lastProperty?.kind {
      case .attribute: usual.lastType.map { PlaceholderValue.various($0).map { .value($0) } } ?? []
      case .toMany: [.models]
      case .toOne(_, isOptional: true): [.nothing(place: usual.names.count)]
      case .toOne, .unknown, nil: []
      }
    // A computed property that is never nil has a value of its own where a model on the way is nil. It is not tried with nil, as a getter may unwrap
    // that by force.
    guard !usual.leadsOverOptionals || keyPath.mayBeNil else { return false }
    return ([.usual] + ways).allSatisfy { way in
      let probe = PathProbe(way)
      let result = probe.evaluate(keyPath, on: model)
      return !probe.isBroken && probe.names == usual.names && isSame(result, probe.answer)
    }
  }

  private static func isSame(_ result: Any?, _ answer: Any?) -> Bool {
    if let models = answer as? any RelationshipCollection {
      return (result as? any RelationshipCollection).map { identities(of: $0) } == identities(of: models)
    }
    if let model = answer as? any PersistentModel {
      let found = (result as? any OptionalType).map(\.wrapped) ?? result
      return (found as? any PersistentModel).map { $0 === model } ?? false
    }
    return text(of: result) == text(of: answer)
  }

  private static func identities(of models: some RelationshipCollection) -> [ObjectIdentifier] {
    models._models.map { ObjectIdentifier($0) }
  }

  /// The result of a key path, and the value of the last property on its way.
  private struct Reading {
    let result: Any
    let answer: Any?
  }

  /// The values that the last property of a path is read as.
  private enum Answering {
    case usual
    case value(Any)
    /// A structure with another value than usual in a field.
    case altered(StructureFields.Field)
    /// Two models, where a relationship leads to several.
    case models
    /// Nil, where the last of as many properties leads to a model.
    case nothing(place: Int)
  }

  private init(_ answering: Answering = .usual) { self.answering = answering }

  private var lastProperty: ModelProperty?
  /// Whether a property before the last leads to a model or to nil.
  private var leadsOverOptionals = false
  private var lastType: (any Any.Type)? { lastProperty?.valueType }
  /// The value that the last property was read as.
  private var answer: Any?
  private let answering: Answering

  private func evaluate(_ keyPath: AnyKeyPath, on model: ModelClass) -> Any? {
    let root = makeModel(model.type)
    last = root
    return (root as Any)[keyPath: keyPath]
  }

  private func makeModel(_ type: any PersistentModel.Type) -> any PersistentModel {
    func open<Model: PersistentModel>(_ type: Model.Type) -> any PersistentModel {
      let model = Model(backingData: _ProbedBackingData<Model.Root>())
      model._$storage.probe = self
      return model
    }
    return open(type)
  }

  /// The field of a structure, or of one in it, that a key path reads last: what it reads is the value of the field, also when that is another
  /// one.
  private static func field(
    of valueType: any Any.Type, in type: any Any.Type, _ usual: Reading,
    _ altering: (StructureFields.Field) -> Reading?
  ) -> [String]? {
    func wrapped(_ type: any Any.Type) -> any Any.Type {
      (type as? any OptionalType.Type)?.wrappedType ?? type
    }
    func shows(_ reading: Reading, _ field: StructureFields.Field) -> Bool {
      let value = reading.answer.flatMap { StructureFields.value(of: field, in: $0) }
      return text(of: reading.result) == text(of: value)
    }
    let fitting = StructureFields.allFields(of: wrapped(type)).filter {
      wrapped($0.type) == wrapped(valueType)
    }
    let found = fitting.first { field in
      guard let altered = altering(field), text(of: altered.result) != text(of: usual.result) else {
        return false
      }
      return shows(usual, field) && shows(altered, field)
    }
    // Of other types than those of attributes no second value is known.
    let isOnly = fitting.count == 1 && !PlaceholderValue.hasOthers(fitting[0].type)
    return found?.path ?? (isOnly ? fitting[0].path : nil)
  }

  private static func text(of value: Any?) -> String {
    guard let value else { return "nil" }
    if let optional = value as? any OptionalType { return text(of: optional.wrapped) }
    return (value as? any OrderedText)?.text ?? "\(value)"
  }

  /// Notes that a property of a model is read, and answers with a value that means nothing.
  func read<Value>(_ model: AnyObject, _ hash: UInt64) -> Value {
    if model !== last { isBroken = true }
    guard let type = Swift.type(of: model) as? any PersistentModel.Type,
      let property = ModelClass.of(type).property(hash)
    else { programError("a property that its class does not have was read") }
    names.append(property.name)
    if case .toOne(_, isOptional: true) = lastProperty?.kind { leadsOverOptionals = true }
    lastProperty = property
    let made: Any?
    switch property.kind {
    case .attribute(let coding):
      last = nil
      let placeholder = coding.placeholder()
      switch answering {
      case .usual, .models, .nothing: made = placeholder
      case .value(let value): made = value
      case .altered(let field): made = placeholder.map { PlaceholderValue.altered($0, field) }
      }
    case .toOne(let destination, _):
      let isNothing = if case .nothing(names.count) = answering { true } else { false }
      let model = isNothing ? nil : makeModel(destination)
      last = model
      made = model
    case .toMany:
      last = nil
      made = (Value.self as? any RelationshipCollection.Type).map { collection($0) }
    case .unknown: made = nil
    }
    guard let value = made as? Value ?? property.defaultValue as? Value else {
      programError(
        "\(property.name) of \(type) is of a type, \(Value.self), of which no value can be made to find out what a key path reads"
      )
    }
    answer = value
    return value
  }

  private func collection<Collection: RelationshipCollection>(_ type: Collection.Type) -> Any {
    guard case .models = answering else { return Collection._collection(of: []) }
    let models = (0..<2).compactMap { _ in
      makeModel(Collection.PersistentElement.self) as? Collection.PersistentElement
    }
    return Collection._collection(of: models)
  }
}

extension AnyKeyPath {
  /// Whether the value is nil where one on the way is; also of a key path that says that none is.
  fileprivate var mayBeNil: Bool {
    readType is any OptionalType.Type || String(reflecting: self).contains("!")
  }
}
