import Foundation
import HeartwoodBytes

extension FetchedPropertyDescription {
  /// A new fetched property.
  ///
  /// - Parameters:
  ///   - name: The name, unique in the entity.
  ///   - fetchRequest: The request, with the name of an entity. Its predicate may have variables.
  public convenience init<Object: FetchRequestResult>(name: String, fetchRequest: FetchRequest<Object>) {
    self.init()
    self.name = name
    setFetchRequest(fetchRequest)
  }

  /// The request; nil if none was set.
  @_disfavoredOverload public var fetchRequest: FetchRequest<ManagedObject>? {
    get { template.map { FetchRequest($0) } }
    set {
      (template, problem) = (nil, nil)
      if let newValue { setFetchRequest(newValue) }
    }
  }

  private func setFetchRequest<Object: FetchRequestResult>(_ request: FetchRequest<Object>) {
    do throws(HeartwoodError) {
      guard let entity = request.entityName else {
        throw HeartwoodError(.coreData, "its request names no entity")
      }
      template = try FetchRequestTemplate(request, for: EntityDescription(name: entity))
    } catch {
      (template, problem) = (nil, error.message)
    }
  }
}

/// Fetched properties.
extension ManagedObject {
  /// The objects that a fetched property finds: those of the first use since the object was last a fault, or was refreshed.
  ///
  /// - Parameters:
  ///   - key: The name of the property.
  ///   - type: The class of the objects; others are left out.
  /// - Returns: The objects in the order of the request. None if the object has no context, or if the fetch fails; the next fetch or
  ///   save of the context throws the error then.
  /// - Precondition: The entity has such a fetched property.
  @_disfavoredOverload
  public final func fetchedObjects<Object: ManagedObject>(
    forKey key: String, as type: Object.Type = Object.self
  ) -> [Object] {
    let objects = fetchedValue(forKey: key)
    return objects as? [Object] ?? objects.compactMap { $0 as? Object }
  }

  final func fetchedValue(forKey key: String) -> [ManagedObject] {
    guard let property = entity.compiled.fetchedProperties[key] else {
      programError(HeartwoodError.unknownProperty(key, entity).message)
    }
    let use = beginUse("reading", nil)
    defer { use?.leave() }
    willRead()
    guard let context = managedObjectContext, let template = property.template else { return [] }
    if let known = pending?.header.fetched[key] { return known.map { context.object(with: $0) } }
    do {
      let objects = try context.fetch(property.request(template, for: self))
      if !objects.contains(where: \.objectID.isTemporaryID) {
        makePendingValues().header.fetched[key] = objects.map(\.objectID)
      }
      return objects
    } catch {
      context.noteUnreadable(error, self)
      return []
    }
  }
}

extension FetchedPropertyDescription {
  /// The request with its variables.
  fileprivate func request(
    _ template: FetchRequestTemplate, for object: ManagedObject
  ) -> FetchRequest<ManagedObject> {
    FetchRequest(
      template, [Variable.source: object, Variable.property: FetchedPropertyValue(property: self)])
  }
}

/// The value of `$FETCHED_PROPERTY`: the property's name, and by paths that and its user info.
private struct FetchedPropertyValue: PredicateArgument, VariableSource {
  let property: FetchedPropertyDescription

  var predicateConstant: PredicateConstant { property.name.predicateConstant }

  func predicateConstant(at path: [String]) -> ConditionExpression? {
    guard FetchedPropertyDescription.Variable.isOfProperty(path) else { return nil }
    guard let key = path.last, path.count == 2 else { return property.name.predicateConstant.expression }
    return property.userInfo[key]?.predicateConstant.expression ?? .value(.null)
  }
}

extension ManagedObject: VariableSource {
  package func predicateConstant(at path: [String]) -> ConditionExpression? {
    var value: Any? = self
    for (place, name) in path.enumerated() {
      guard let object = value as? ManagedObject else { return value == nil ? .value(.null) : nil }
      if name == "objectID" || name == "self" { continue }
      guard let slot = object.entity.slot(named: name) else { return nil }
      switch object.entity.layout.columns[slot].kind {
      case .toOne, .toMany, .composite, .transient, .data: value = object.value(forKey: name)
      default:
        // As it is stored: a class may return other types by name.
        return place == path.count - 1 ? .value(object.value(at: slot)) : nil
      }
    }
    guard let value else { return .value(.null) }
    return (value as? any PredicateArgument)?.predicateConstant.expression
  }
}
