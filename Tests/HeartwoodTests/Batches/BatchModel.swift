import Foundation
import GraphTestSupport
import Heartwood
import Synchronization

/// The model that the tests of batches need: one-to-one, ordered and self relationships, constraints of one and two attributes, rules,
/// subentities, and every kind of value.
final class Shop: ManagedObject {
  @Attribute(.unique) var code = ""
  @Attribute var city: String?
  @Attribute var rank: Int32 = 7
  @Relationship(inverse: { $0.shop }, deleteRule: .cascade) var wares: Set<Ware>
  @Relationship(inverse: { $0.shop }, deleteRule: .cascade) var keeper: Keeper?
  @Relationship(inverse: { $0.shelf }) var shelf: [Ware]
}

final class Keeper: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.keeper }) var shop: Shop?
}

class Ware: ManagedObject {
  @Attribute([.unique, .preservesValueInHistoryOnDeletion]) var number: Int64 = 0
  @Attribute(.indexed) var name = "nameless"
  @Attribute(validated: .condition("price >= 0")) var price: Double = 1
  @Attribute var exact: Decimal?
  @Attribute(validated: .range(0...1000)) var stock: Int16 = 0
  @Attribute var made: Date?
  @Attribute(.allowsExternalStorage) var image: Data?
  @Attribute var id = UUID()
  @Relationship(inverse: { $0.wares }) var shop: Shop?
  @Relationship(inverse: { $0.shelf }) var shelf: Shop?
  @Relationship(inverse: { $0.wares }, count: .range(0...3)) var tags: Set<Tag>
  @Relationship(inverse: { $0.parts }) var whole: Ware?
  @Relationship(inverse: { $0.whole }, deleteRule: .deny) var parts: Set<Ware>
}

final class Novel: Ware {
  @Attribute var pages: Int?
}

final class Tag: ManagedObject {
  @Attribute(.unique) var word = ""
  @Relationship(inverse: { $0.tags }) var wares: Set<Ware>
}

/// Unique by two attributes.
final class Seat: ManagedObject {
  @Attribute var row: Int = 0
  @Attribute var place: Int = 0
  @Attribute var guest: String?
  override class var uniquenessConstraints: [[String]] { [["row", "place"]] }
}

/// Counts its life-cycle calls.
final class Witness: ManagedObject {
  @Attribute var note = ""
  static let calls = Mutex(0)
  private func count() { Self.calls.withLock { $0 += 1 } }
  override func awakeFromInsert() { count() }
  override func willSave() { count() }
  override func didSave() { count() }
  override func prepareForDeletion() { count() }
  override func validateForInsert() throws { count() }
}

let batchTypes: [ManagedObject.Type] = [
  Shop.self, Keeper.self, Ware.self, Novel.self, Tag.self, Seat.self, Witness.self,
]

func batchContainer(at url: URL = URL(fileURLWithPath: "/dev/null")) throws -> PersistentContainer {
  try PersistentContainer(name: "Shops", types: batchTypes, at: url)
}

extension ManagedObjectContext {
  func ware(_ number: Int64) throws -> Ware? { try fetch(Ware.self, where: { $0.number == number }).first }
  func shop(_ code: String) throws -> Shop? { try fetch(Shop.self, where: { $0.code == code }).first }

  @discardableResult
  func insertBatch(_ type: ManagedObject.Type, _ rows: [[String: Any]]) throws -> BatchInsertResult {
    let request = BatchInsertRequest(type, objects: rows)
    request.resultType = .objectIDs
    return try execute(request)
  }
}
