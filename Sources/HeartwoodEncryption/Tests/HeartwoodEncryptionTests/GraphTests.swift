import Foundation
import Heartwood
import HeartwoodEncryption
import HeartwoodFaults
import HeartwoodFiles
import Testing

final class MarkedAuthor: ManagedObject {
  @Attribute(.unique) var markedCode = ""
  @Attribute(.indexed) var markedName = ""
  @Relationship(inverse: { $0.markedAuthor }, deleteRule: .cascade) var markedLetters: Set<MarkedLetter>
}

final class MarkedLetter: ManagedObject {
  @Attribute var markedTitle: String?
  @Attribute(.allowsExternalStorage) var markedText: Data?
  @Relationship(inverse: { $0.markedLetters }) var markedAuthor: MarkedAuthor?
}

@Suite(.serialized) struct GraphTests {
  private let folder: TemporaryFolder
  private let files = EncryptedFileSystem(key: .test)
  private let model: ManagedObjectModel

  init() throws {
    folder = try TemporaryFolder()
    model = try ManagedObjectModel(types: [MarkedAuthor.self, MarkedLetter.self])
  }

  /// A place in the folder, or one of another file system if it begins with a slash.
  private func url(_ name: String) -> URL {
    URL(fileURLWithPath: name.hasPrefix("/") ? name : folder.path + "/" + name)
  }

  private func open(
    _ name: String, _ type: PersistentStore.StoreType = .log, _ files: any FileSystem
  ) throws -> PersistentContainer {
    let description = PersistentStoreDescription(url: url(name))
    description.type = type
    description.fileSystem = files
    description.tracksHistory = type == .log
    let container = PersistentContainer(name: "Marked", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  /// - Parameter repetitions: How much longer the texts of each author are than those of the one before.
  private func fill(_ container: PersistentContainer, repetitions: Int = 2000) throws {
    let context = container.viewContext
    for number in 0..<40 {
      let author = MarkedAuthor(context: context)
      author.markedCode = "MARKED-CODE-\(number)"
      author.markedName = "MARKED-NAME-\(number)"
      for letter in 0..<3 {
        let object = MarkedLetter(context: context)
        object.markedTitle = "MARKED-TITLE-\(letter)"
        object.markedText = Data(String(repeating: "MARKED-TEXT ", count: number * repetitions).utf8)
        object.markedAuthor = author
      }
      try context.save()
    }
    context.delete(try #require(try context.fetch(MarkedAuthor.self).first))
    try context.save()
  }

  private func check(_ container: PersistentContainer) throws {
    let context = container.viewContext
    let authors = try context.fetch(MarkedAuthor.self)
    #expect(authors.count == 39)
    #expect(authors.allSatisfy { $0.markedLetters.count == 3 })
    #expect(try context.fetch(MarkedLetter.self).count == 117)
  }

  private static let parts = ["MARKED", "Marked", "marked", "Author", "Title"]

  private func checkSecrecy() throws {
    for (name, bytes) in try folder.files() {
      for part in Self.parts { #expect(!contains(bytes, Array(part.utf8)), "\(part) in \(name)") }
    }
  }

  @Test func `nothing of a graph is in its files, nor in its backup and its copies`() throws {
    let container = try open("Marked.heartwood", .log, files)
    try fill(container)
    try checkSecrecy()
    let coordinator = container.persistentStoreCoordinator
    try coordinator.backup(to: url("backup"))
    _ = try coordinator.reclaim()
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.migratePersistentStore(store, to: url("copy"))
    try checkSecrecy()
    try check(container)
    try container.close()
    for name in ["Marked.heartwood", "backup", "copy"] {
      let container = try open(name, .log, files)
      try check(container)
      try container.close()
    }
    try checkSecrecy()
  }

  @Test(arguments: [PersistentStore.StoreType.binary, .json, .xml])
  func `nothing of a graph is in a store of one file`(type: PersistentStore.StoreType) throws {
    let container = try open("marked", type, files)
    // Each of the 41 saves writes the whole file.
    try fill(container, repetitions: 20)
    try container.close()
    try checkSecrecy()
    let again = try open("marked", type, files)
    try check(again)
    again.viewContext.delete(try #require(try again.viewContext.fetch(MarkedLetter.self).first))
    try again.viewContext.save()
    try again.close()
    try checkSecrecy()
    #expect(try folder.files().count == 1)
    let error = #expect(throws: HeartwoodError.self) {
      _ = try open("marked", type, EncryptedFileSystem(key: Keys.wrong))
    }
    #expect(String(describing: error).contains("wrong key"), "\(String(describing: error))")
    // A store that is encrypted is not written over as a plain one.
    #expect(throws: HeartwoodError.self) { _ = try open("marked", type, PosixFileSystem()) }
  }

  @Test func `a wrong key is a wrong key of a graph, and the folders above a store are made`() throws {
    let container = try open("a/b/Marked.heartwood", .log, files)
    try fill(container)
    try container.close()
    let error = #expect(throws: HeartwoodError.self) {
      _ = try open("a/b/Marked.heartwood", .log, EncryptedFileSystem(key: Keys.wrong))
    }
    #expect(String(describing: error).contains("the key"), "\(String(describing: error))")
    #expect(error?.code != .persistentStoreDamaged)
  }

  @Test func `a plain store is encrypted by copying it, and an encrypted one is destroyed with its key`()
    throws
  {
    let plain = try open("plain", .log, PosixFileSystem())
    try fill(plain)
    try plain.persistentStoreCoordinator.backup(to: url("sealed"), fileSystem: files)
    try plain.persistentStoreCoordinator.destroyPersistentStore(at: url("plain"))
    let sealed = try open("sealed", .log, files)
    try check(sealed)
    try sealed.close()
    try sealed.persistentStoreCoordinator.destroyPersistentStore(at: url("sealed"), fileSystem: files)
    #expect(try !folder.files().keys.contains("sealed/keys"))
    // Another key is used for the next store in its place.
    let next = try open("sealed", .log, EncryptedFileSystem(key: Keys.wrong))
    try fill(next)
    try next.close()
    try checkSecrecy()
  }

  @Test func `a context of another program reads what is saved`() throws {
    let disk = SimulatedFileSystem()
    let containers = try ["first", "second"].map {
      try open("/marked", .log, EncryptedFileSystem(over: disk.process(named: $0), key: .test))
    }
    for number in 0..<40 {
      let (writer, reader) = (containers[number % 2].viewContext, containers[(number + 1) % 2].viewContext)
      let author = MarkedAuthor(context: writer)
      author.markedCode = "\(number)"
      try writer.save()
      #expect(try reader.fetch(MarkedAuthor.self).count == number + 1)
    }
    for container in containers { try container.close() }
  }
}
