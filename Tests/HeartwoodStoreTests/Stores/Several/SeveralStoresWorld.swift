import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport

@testable import Heartwood

/// Which of the stores of a world are custom stores that load objects when they are used.
enum StoreMix: CaseIterable {
  case none, first, others, all

  func type(_ configuration: String?) -> PersistentStore.StoreType {
    switch self {
    case .none: .log
    case .first: configuration == "Library" ? DictionaryStore.kind : .log
    case .others: configuration == "Library" ? .log : DictionaryStore.kind
    case .all: DictionaryStore.kind
    }
  }
}

/// Writers with their books, which two configurations have, and notes, which only a third one has.
struct SeveralStoresWorld {
  let folder: TemporaryFolder
  let model: ManagedObjectModel
  let coordinator: PersistentStoreCoordinator
  let mix: StoreMix

  init(_ mix: StoreMix = .none) throws { try self.init(folder: TemporaryFolder(), mix) }

  init(
    folder: TemporaryFolder, _ mix: StoreMix = .none, noteHasDate: Bool = false, bookHasMark: Bool = false
  ) throws {
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
    (self.folder, self.mix) = (folder, mix)
    model = Self.model(noteHasDate: noteHasDate, bookHasMark: bookHasMark)
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
  }

  static func model(noteHasDate: Bool = false, bookHasMark: Bool = false) -> ManagedObjectModel {
    let name = AttributeDescription(name: "name", type: .string)
    let rank = AttributeDescription(name: "rank", type: .integer64)
    let number = AttributeDescription(name: "number", type: .integer64)
    let writer = EntityDescription(name: "Writer", properties: [name, rank, number])
    let pages = AttributeDescription(name: "pages", type: .integer64)
    let book = EntityDescription(
      name: "Book",
      properties: [
        AttributeDescription(name: "title", type: .string), pages,
        AttributeDescription(name: "code", type: .string),
      ] + (bookHasMark ? [AttributeDescription(name: "mark", type: .string)] : []) + [
        AttributeDescription(name: "number", type: .integer64)
      ])
    let books = RelationshipDescription(
      name: "books", destination: book, isToMany: true, deleteRule: .cascade)
    let author = RelationshipDescription(name: "writer", destination: writer, isToMany: false)
    let likes = RelationshipDescription(name: "likes", destination: book, isToMany: true)
    let likedBy = RelationshipDescription(name: "likedBy", destination: writer, isToMany: true)
    (books.inverseRelationship, author.inverseRelationship) = (author, books)
    (likes.inverseRelationship, likedBy.inverseRelationship) = (likedBy, likes)
    writer.properties += [
      books, likes,
      DerivedAttributeDescription(
        name: "bookCount", type: .integer64, derivationExpression: "books.@count"),
    ]
    book.properties += [author, likedBy]
    writer.indexes = [
      FetchIndexDescription(name: "byName", elements: [FetchIndexElementDescription(property: name)]),
      FetchIndexDescription(name: "byRank", elements: [FetchIndexElementDescription(property: rank)]),
    ]
    book.indexes = [
      FetchIndexDescription(name: "byPages", elements: [FetchIndexElementDescription(property: pages)])
    ]
    book.uniquenessConstraints = [["code"]]
    let note = EntityDescription(
      name: "Note",
      properties: [
        AttributeDescription(name: "text", type: .string),
        AttributeDescription(name: "number", type: .integer64),
      ] + (noteHasDate ? [AttributeDescription(name: "date", type: .date)] : []))
    let model = ManagedObjectModel(entities: [writer, book, note])
    model.setEntities([writer, book], forConfigurationName: "Library")
    model.setEntities([writer, book], forConfigurationName: "Archive")
    model.setEntities([note], forConfigurationName: "Local")
    return model
  }

  func url(_ name: String) -> URL { folder.url.appending(path: "\(name).heartwood") }

  /// The place of a custom store.
  func customURL(_ name: String) -> URL {
    URL(string: "dictionaries://several/\(folder.url.lastPathComponent)/\(name)")!
  }

  func database(_ name: String) -> DictionaryStore.Database { DictionaryStore.database(at: customURL(name)) }

  @discardableResult
  func add(
    _ configuration: String?, _ name: String? = nil, type: PersistentStore.StoreType? = nil,
    options: PersistentStore.Options? = nil, fileSystem: (any FileSystem)? = nil
  ) throws -> PersistentStore {
    let type = type ?? mix.type(configuration)
    let name = name ?? configuration ?? "All"
    let place = type == DictionaryStore.kind ? customURL(name) : url(name)
    let description = PersistentStoreDescription(
      type: type, url: type == .inMemory ? URL(fileURLWithPath: "/dev/null") : place, options: options)
    description.configuration = configuration
    description.durability = .deferred
    description.shouldMigrateStoreAutomatically = options == nil
    description.shouldInferMappingModelAutomatically = true
    if let fileSystem { description.fileSystem = fileSystem }
    return try coordinator.addPersistentStore(with: description)
  }

  func context() -> ManagedObjectContext { ManagedObjectContext(.privateQueue, coordinator: coordinator) }

  func make(
    _ entity: String, _ number: Int, in context: ManagedObjectContext, _ values: [String: Any] = [:]
  ) -> ManagedObject {
    guard let entity = model.entitiesByName[entity] else { preconditionFailure("no entity \(entity)") }
    let object = ManagedObject(entity: entity, insertInto: context)
    object.setValue(number, forKey: "number")
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }
}

extension ManagedObjectContext {
  /// The numbers of what a fetch finds.
  func numbers(
    _ entity: String, _ predicate: String? = nil, sort: [String] = [], limit: Int = 0, offset: Int = 0,
    in stores: [PersistentStore]? = nil
  ) throws -> [Int] {
    try fetch(entity, predicate, sort: sort, limit: limit, offset: offset, in: stores).map(\.ownNumber)
  }

  func fetch(
    _ entity: String, _ predicate: String? = nil, sort: [String] = [], limit: Int = 0, offset: Int = 0,
    in stores: [PersistentStore]? = nil
  ) throws -> [ManagedObject] {
    try fetch(request(entity, predicate, sort: sort, limit: limit, offset: offset, in: stores))
  }

  func request(
    _ entity: String, _ predicate: String? = nil, sort: [String] = [], limit: Int = 0, offset: Int = 0,
    in stores: [PersistentStore]? = nil
  ) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = try predicate.map { try FormatPredicate($0) }
    request.sortDescriptors = sort.map { key in
      key.hasPrefix("-") ? NamedSort(String(key.dropFirst()), ascending: false) : NamedSort(key)
    }
    (request.fetchLimit, request.fetchOffset) = (limit, offset)
    request.affectedStores = stores
    return request
  }
}

extension ManagedObject {
  var ownNumber: Int {
    (value(forKey: "number") as? Int64).map(Int.init) ?? (value(forKey: "number") as? Int) ?? -1
  }
}
