import Foundation
import GraphTestSupport
import HeartwoodEngine
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Data outside of rows` {
  private let folder: TemporaryFolder
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let picture: Picture
  private let image = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
  private let other = Data(repeating: 9, count: 50_000)

  init() throws {
    folder = try TemporaryFolder()
    container = try Self.open(folder)
    context = container.newBackgroundContext()
    picture = Picture(context: context)
    picture.title = "A"
    picture.image = image
    try context.save()
  }

  private static func open(_ folder: TemporaryFolder) throws -> PersistentContainer {
    try PersistentContainer(name: "Pictures", types: [Picture.self], at: folder.url.appending(path: "store"))
  }

  private func engine() throws -> Engine {
    try #require(container.persistentStoreCoordinator.objectStore as? LogStore).engine
  }

  /// The keys of data outside of rows.
  private func keys() throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try engine().snapshot().scan(.prefix([KeySpace.external])) { key, _ in
      keys.append(Array(key))
      return true
    }
    return keys
  }

  private func findings() throws -> [String] {
    try container.persistentStoreCoordinator.verify().findings
  }

  /// Objects do not retain their context.
  private final class Contexts {
    var all: [ManagedObjectContext] = []
  }

  private let contexts = Contexts()

  private func elsewhere() throws -> (ManagedObjectContext, Picture) {
    let other = container.newBackgroundContext()
    contexts.all.append(other)
    return (other, try #require(other.object(with: picture.objectID) as? Picture))
  }

  // MOD-41
  @Test func `large data is stored outside the row, read when it is used, and read after reopening`() throws {
    #expect(picture.image == image)
    #expect(try keys().count == 1)
    let row = try engine().get(KeySpace.rowKey(picture.entity.number, 1))
    #expect(try #require(row).count < 100)
    let (_, again) = try elsewhere()
    #expect(again.image == image)
    #expect(again.value(forKey: "image") as? Data == image)
    try container.close()
    let reopened = try Self.open(folder)
    let found = try reopened.viewContext.fetch(Picture.self)
    #expect(found.map(\.image) == [image])
    #expect(try reopened.persistentStoreCoordinator.verify().findings == [])
  }

  @Test func `data of up to 32 KiB stays in the row`() throws {
    for (count, isOutside) in [(32_768, false), (32_769, true)] {
      picture.image = Data(repeating: 1, count: count)
      try context.save()
      #expect(try keys().isEmpty != isOutside)
      #expect(try elsewhere().1.image?.count == count)
    }
  }

  @Test func `changing another property does not write large data again`() throws {
    let before = try keys()
    picture.title = "B"
    try context.save()
    let (second, again) = try elsewhere()
    again.title = "C"
    try second.save()
    #expect(try keys() == before)
    #expect(try elsewhere().1.image == image)
  }

  @Test func `replaced and deleted data leaves nothing in the store`() throws {
    picture.image = other
    picture.preview = image
    try context.save()
    #expect(try keys().count == 2)
    #expect(picture.image == other)
    picture.image = Data([1])
    try context.save()
    #expect(try keys().count == 1)
    picture.preview = nil
    try context.save()
    #expect(try keys().isEmpty)
    picture.image = image
    try context.save()
    context.delete(picture)
    try context.save()
    #expect(try keys().isEmpty)
    #expect(try findings() == [])
  }

  @Test func `data set to what it is leaves nothing behind where only a relationship is written`() throws {
    final class Sheet: ManagedObject {
      @Attribute(.allowsExternalStorage) var scan: Data?
      @Relationship(inverse: { $0.related }) var related: Set<Sheet>
    }
    let container = try PersistentContainer(
      name: "Sheets", types: [Sheet.self], at: folder.url.appending(path: "sheets"))
    let context = container.newBackgroundContext()
    let sheet = Sheet(context: context)
    sheet.scan = image
    try context.save()
    sheet.scan = image
    sheet.related = [sheet]
    try context.save()
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
    #expect(sheet.scan == image)
  }

  @Test func `unsaved data is read before the save, and dropped by a rollback`() throws {
    picture.image = other
    #expect(picture.image == other)
    #expect(try picture.dataCount(forKey: "image") == 50_000)
    #expect(picture.committedValues(forKeys: ["image"])["image"] as? Data == image)
    context.rollback()
    #expect(picture.image == image)
    #expect(!context.hasChanges)
  }

  @Test func `data can be read in pieces, and its size without reading it`() throws {
    let (_, again) = try elsewhere()
    var sizes: [Int] = []
    var read = Data()
    let isThere = try again.readData(forKey: "image", pieceBytes: 30_000) { piece in
      sizes.append(piece.count)
      read.append(contentsOf: piece)
      return true
    }
    #expect(isThere)
    #expect(sizes == [30_000, 30_000, 30_000, 10_000])
    #expect(read == image)
    #expect(try again.dataCount(forKey: "image") == 100_000)
    #expect(try !again.readData(forKey: "preview") { _ in true })
    #expect(throws: HeartwoodError.self) { try again.readData(forKey: "title") { _ in true } }
    #expect(throws: HeartwoodError.self) { try again.dataCount(forKey: "nothing") }
  }

  @Test(arguments: [0, -5, Int.min])
  func `pieces of less than one byte have one byte, also of data within the row`(size: Int) throws {
    picture.preview = Data([1, 2, 3])
    var read: [[UInt8]] = []
    try picture.readData(forKey: "preview", pieceBytes: size) { piece in
      read.append(Array(piece))
      return true
    }
    #expect(read == [[1], [2], [3]])
  }

  @Test func `conditions can compare such an attribute with nil only`() throws {
    #expect(try context.fetch(Picture.self, where: { $0.image != nil }).count == 1)
    #expect(try context.fetch(Picture.self, where: { $0.preview == nil }).count == 1)
    let wanted = image
    #expect(throws: HeartwoodError.self) { try context.fetch(Picture.self, where: { $0.image == wanted }) }
    let request = FetchRequest<Picture>()
    request.sortDescriptors = [NamedSort("image")]
    #expect(throws: HeartwoodError.self) { try context.fetch(request) }
  }

  @Test func `an index or a uniqueness constraint over such an attribute is refused`() throws {
    for isUnique in [true, false] {
      let entity = EntityDescription()
      entity.name = "Thing"
      let data = AttributeDescription(name: "data", type: .binaryData)
      data.allowsExternalBinaryDataStorage = true
      entity.properties = [data]
      if isUnique {
        entity.uniquenessConstraints = [["data"]]
      } else {
        entity.indexes = [
          FetchIndexDescription(name: "byData", elements: [FetchIndexElementDescription(property: data)])
        ]
      }
      let model = ManagedObjectModel()
      model.entities = [entity]
      #expect(throws: HeartwoodError.self) { try PersistentStoreCoordinator(checking: model) }
    }
  }

  @Test func `data that was replaced elsewhere is read as the newer value, and the save meets the conflict`()
    throws
  {
    let (second, again) = try elsewhere()
    #expect(again.title == "A")
    picture.image = other
    try context.save()
    #expect(again.image == other)
    again.title = "C"
    let error = #expect(throws: HeartwoodError.self) { try second.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.mergeConflicts.first?.persistedSnapshot?["title"] as? String == "A")
    second.mergePolicy = .mergeByPropertyObjectTrump
    try second.save()
    #expect(again.image == other)
    #expect(try findings() == [])
  }

  @Test func `data that both have replaced is that of the policy's choice`() throws {
    for (policy, expected) in [(MergePolicy.mergeByPropertyStoreTrump, 1), (.mergeByPropertyObjectTrump, 2)] {
      let (second, again) = try elsewhere()
      second.mergePolicy = policy
      again.image = Data(repeating: 2, count: 40_000)
      picture.image = Data(repeating: 1, count: 60_000)
      try context.save()
      try second.save()
      #expect(again.image?.first == UInt8(expected))
      #expect(try keys().count == 1)
      context.refreshAllObjects()
      #expect(picture.image?.first == UInt8(expected))
    }
  }

  @Test func `undoing a saved delete brings large data back`() throws {
    context.undoManager = UndoStack()
    context.delete(picture)
    try context.save()
    context.undo()
    try context.save()
    #expect(try elsewhere().1.image == image)
    #expect(try findings() == [])
  }

  @Test func `a child context reads and changes large data through its parent`() throws {
    let child = ManagedObjectContext(.privateQueue, parent: context)
    let mine = try #require(child.object(with: picture.objectID) as? Picture)
    #expect(mine.image == image)
    picture.title = "B"
    child.refreshAllObjects()
    #expect(mine.title == "B")
    #expect(mine.image == image)
    mine.image = other
    try child.save()
    #expect(picture.image == other)
    #expect(try keys().count == 1)
    try context.save()
    #expect(try elsewhere().1.image == other)
    #expect(try keys().count == 1)
  }

  @Test func `a tombstone keeps large data that the model preserves`() throws {
    picture.preview = other
    try context.save()
    context.delete(picture)
    try context.save()
    let last = try #require(container.history(after: nil).last)
    let kept = try #require(last.changes?.first?.tombstone)
    #expect(kept["preview"] as? Data == other)
    #expect(kept["image"] == nil)
  }

  @Test func `a save that fails leaves large data as it was`() throws {
    let (second, again) = try elsewhere()
    again.title = "B"
    try second.save()
    picture.image = other
    #expect(throws: HeartwoodError.self) { try context.save() }
    #expect(picture.image == other)
    #expect(try elsewhere().1.image == image)
    #expect(try keys().count == 1)
    #expect(try findings() == [])
  }

  @Test func `the verification finds missing, cut and stray data`() throws {
    let key = try #require(try keys().first)
    let whole = try #require(try engine().get(key))
    _ = try engine().write { try $0.delete(key) }
    #expect(try findings().joined().contains("image is stored outside the row, and missing"))
    try engine().write { try $0.put(key, Array(whole.dropLast())) }
    #expect(try findings().joined().contains("has 99999 bytes outside the row, which says 100000"))
    let stray = KeySpace.externalKey(picture.entity.number, 1, 2, 77)
    try engine().write { transaction in
      try transaction.put(key, whole)
      try transaction.put(stray, [1])
    }
    #expect(try findings() == ["Picture 1 does not refer to data that is stored for it outside its row"])
  }

  @Test func `data that is missing makes the object unreadable`() throws {
    let key = try #require(try keys().first)
    _ = try engine().write { try $0.delete(key) }
    let (second, again) = try elsewhere()
    #expect(again.image == nil)
    #expect(throws: HeartwoodError.self) { try second.save() }
  }

  @Test func `a mark of outside data in the cell of a text is refused as damage`() throws {
    let layout = picture.entity.layout
    let title = try #require(picture.entity.slot(named: "title"))
    var row = picture.encodedRow(version: 1) { $0 }
    row[Int(layout.columns[title].offset) + 3] |= 0x80
    _ = row.withUnsafeBytes { bytes in
      #expect(throws: HeartwoodError.self) { try RowView(validating: bytes, layout: layout) }
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `random changes match a dictionary, and leave nothing behind`(seed: UInt64) throws {
    var random = Randomness(seed: 0xDA7A_0000 + seed)
    var expected: [ManagedObjectID: Data?] = [picture.objectID: image]
    for _ in 0..<60 {
      let worker = container.newBackgroundContext()
      for id in expected.keys.sorted(by: { $0.key < $1.key }) where random.chance(2) {
        let object = try #require(worker.object(with: id) as? Picture)
        #expect(object.image == expected[id] ?? nil)
        if random.chance(4) {
          worker.delete(object)
          expected[id] = nil
        } else if random.chance(2) {
          let size = random.chance(2) ? 40_000 : 10
          let data = random.chance(5) ? nil : Data(repeating: UInt8(truncatingIfNeeded: size), count: size)
          object.image = data
          expected[id] = .some(data)
        } else {
          object.title += "x"
        }
      }
      let new = Picture(context: worker)
      new.image = other
      try worker.save()
      expected[new.objectID] = .some(other)
    }
    #expect(try keys().count == expected.values.filter { ($0?.count ?? 0) > 32_768 }.count)
    #expect(try findings() == [])
  }
}
