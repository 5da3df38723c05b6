import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Derived attributes of a store whose migration changes what they are computed from.
@Suite struct `Derived attributes after migrations` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The form that a version gives to shops with wares, some of which are foods.
  struct Form {
    /// Whether foods are no wares any more, or gone.
    var foods = Foods.areWares
    /// Whether names are mandatory, with the default "none".
    var hasNames = false
    var isKeyUnique = false
    var hasDate = false

    enum Foods { case areWares, areAlone, areGone }
  }

  private static func model(_ form: Form) -> ManagedObjectModel {
    func name() -> AttributeDescription {
      let name = AttributeDescription(name: "name", type: .string, isOptional: !form.hasNames)
      if form.hasNames { name.defaultValue = "none" }
      return name
    }
    func derived(_ name: String, _ type: AttributeType, _ text: String) -> AttributeDescription {
      let attribute = DerivedAttributeDescription(name: name, type: type, derivationExpression: text)
      attribute.isOptional = true
      return attribute
    }
    let price = AttributeDescription(name: "price", type: .integer64)
    let shop = EntityDescription(
      name: "Shop",
      properties: [
        name(), derived("key", .string, "uppercase:(name)"), derived("wareCount", .integer64, "wares.@count"),
        derived("highest", .integer64, "wares.@max.price"), derived("bestName", .string, "best.name"),
      ])
    if form.hasDate { shop.ownProperties.append(derived("saved", .date, "now()")) }
    if form.isKeyUnique { shop.uniquenessConstraints = [["key"]] }
    let ware = EntityDescription(
      name: "Ware", properties: [name(), price, derived("shopKey", .string, "lowercase:(shop.name)")])
    let wares = RelationshipDescription(name: "wares", destination: ware, isToMany: true)
    let of = RelationshipDescription(name: "shop", destination: shop, isToMany: false)
    let best = RelationshipDescription(name: "best", destination: ware, isToMany: false)
    let bestOf = RelationshipDescription(name: "bestOf", destination: shop, isToMany: true)
    (wares.inverseRelationship, of.inverseRelationship) = (of, wares)
    (best.inverseRelationship, bestOf.inverseRelationship) = (bestOf, best)
    shop.ownProperties += [wares, best]
    ware.ownProperties += [of, bestOf]
    guard form.foods != .areGone else { return ManagedObjectModel(entities: [shop, ware]) }
    let food = EntityDescription(
      name: "Food",
      properties: form.foods == .areWares ? [] : [AttributeDescription(name: "price", type: .integer64)])
    if form.foods == .areWares { ware.subentities = [food] }
    return ManagedObjectModel(entities: [shop, ware, food])
  }

  private func open(
    _ form: Form, _ kind: PersistentStore.StoreType = .log
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(form))
    let description = PersistentStoreDescription(url: folder.store)
    description.type = kind
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func close(_ context: ManagedObjectContext) throws {
    try context.persistentStoreCoordinator?.close()
  }

  private func insert(
    _ entity: String, _ values: [String: Any?], in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try ManagedObject(entity: context.entity(entity), insertInto: context)
    for (name, value) in values { object.setValue(value, forKey: name) }
    return object
  }

  /// A shop without a name that has a ware for 1 and a food for 9, the best.
  private func fill(_ form: Form, _ kind: PersistentStore.StoreType = .log) throws {
    let context = try open(form, kind)
    let shop = try insert("Shop", [:], in: context)
    _ = try insert("Ware", ["price": 1, "shop": shop], in: context)
    let food = try insert("Food", ["price": 9, "shop": shop, "name": "Bread"], in: context)
    shop.setValue(food, forKey: "best")
    try context.save()
    try close(context)
  }

  private func text(_ context: ManagedObjectContext, _ entity: String, _ names: [String]) throws -> String {
    let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
    return objects.map { object in
      names.map { name in
        let value = object.value(forKey: name)
        if let date = value as? Date { return "\(date.timeIntervalSinceReferenceDate)" }
        return value.map { "\($0)" } ?? "nil"
      }.joined(separator: " ")
    }.sorted().joined(separator: ", ")
  }

  static let kinds: [PersistentStore.StoreType] = [.log, .binary, .json, .xml]

  @Test(arguments: kinds, [Form.Foods.areAlone, .areGone])
  func `objects that lose destinations have the derived values of those that stay`(
    kind: PersistentStore.StoreType, foods: Form.Foods
  ) throws {
    try fill(Form(), kind)
    var form = Form()
    form.foods = foods
    let context = try open(form, kind)
    #expect(try text(context, "Shop", ["wareCount", "highest", "bestName"]) == "1 1 nil")
    let request = FetchRequest<ManagedObject>(entityName: "Shop")
    request.predicate = try FormatPredicate("wareCount == 1 AND highest == 1")
    #expect(try context.count(for: request) == 1)
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
  }

  @Test(arguments: kinds)
  func `a default that replaces a missing value is in all that is derived from it`(
    kind: PersistentStore.StoreType
  ) throws {
    try fill(Form(), kind)
    var form = Form()
    form.hasNames = true
    let context = try open(form, kind)
    #expect(try text(context, "Shop", ["name", "key"]) == "none NONE")
    #expect(try text(context, "Ware", ["name", "shopKey"]) == "Bread none, none none")
    let ware = try #require(
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Ware")).first {
        $0.value(forKey: "name") as? String == "none"
      })
    let shop = try #require(ware.value(forKey: "shop") as? ManagedObject)
    shop.setValue(ware, forKey: "best")
    try context.save()
    #expect(try text(context, "Shop", ["bestName"]) == "none")
  }

  @Test func `derived values that must be unique are those that the migration makes`() throws {
    try fill(Form())
    let context = try open(Form())
    _ = try insert("Shop", [:], in: context)
    try context.save()
    try close(context)
    var form = Form()
    (form.hasNames, form.isKeyUnique) = (true, true)
    let report = try PersistentStoreCoordinator.rehearseMigration(
      ofStoreAt: folder.store, to: Self.model(form))
    #expect(report?.violations.contains { $0.property == "key" && $0.count == 2 } == true)
    let error = #expect(throws: HeartwoodError.self) { try open(form) }
    #expect(error?.code == .migrationConstraintViolation)
  }

  @Test func `the time of the last save is kept when other derived values are computed`() throws {
    var form = Form()
    form.hasDate = true
    try fill(form)
    let before = try open(form)
    let time = try text(before, "Shop", ["saved"])
    try close(before)
    form.hasNames = true
    let after = try open(form)
    #expect(try text(after, "Shop", ["saved", "key"]) == "\(time) NONE")
  }

  @Test func `an object that loses a link and gets other derived values is counted once`() throws {
    try fill(Form())
    var form = Form()
    form.foods = .areGone
    let report = try PersistentStoreCoordinator.migrateStore(at: folder.store, to: Self.model(form))
    #expect(report?.rewrittenObjects == ["Shop": 1] && report?.lostLinks["Shop.best"] == 1)
  }

  @Test func `no row is written again if the migration changes nothing that is read`() throws {
    try fill(Form())
    let model = Self.model(Form())
    let shop = try #require(model.entitiesByName["Shop"])
    shop.ownProperties.append(AttributeDescription(name: "place", type: .string, isOptional: true))
    let report = try PersistentStoreCoordinator.migrateStore(at: folder.store, to: model)
    #expect(report?.rewrittenObjects == [:])
  }
}
