import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Where stores of one file are, what their files may be read by, and what is said of files that people have edited.
@Suite struct `Files of stores` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func titles(_ kind: StoreKind, _ url: URL) throws -> [String] {
    let container = try kind.open(libraryTypes, at: url)
    defer { try? container.close() }
    return try container.newBackgroundContext().fetch(Book.self).map(\.title).sorted()
  }

  // PSC-06
  @Test(arguments: StoreKind.files)
  func `a store of one file is saved to its new location, and the former file stays`(kind: StoreKind) throws {
    let container = try kind.open(libraryTypes, at: folder.store)
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let context = container.newBackgroundContext()
    context.makeBook("1", "first")
    try context.save()
    let there = folder.url.appending(path: "there")
    #expect(coordinator.setURL(there, for: store))
    #expect(coordinator.url(for: store) == there && coordinator.persistentStore(for: there) === store)
    #expect(!FileManager.default.fileExists(atPath: there.path))
    context.makeBook("2", "second")
    try context.save()
    context.makeBook("3", "third")
    try context.save()
    #expect(!coordinator.setURL(folder.store, for: store), "there is a file")
    #expect(!coordinator.setURL(folder.url.appending(path: "none/there"), for: store), "there is no folder")
    #expect(!coordinator.setURL(URL(string: "https://example.org/store") ?? there, for: store))
    #expect(coordinator.url(for: store) == there)
    try container.close()
    #expect(try titles(kind, there) == ["first", "second", "third"])
    #expect(try titles(kind, folder.store) == ["first"])
  }

  // PSC-06
  @Test func `a store in a folder or in memory keeps its location`() throws {
    for container in [try StoreKind.log.open(libraryTypes, at: folder.store), try makeLibrary()] {
      let coordinator = container.persistentStoreCoordinator
      let store = try #require(coordinator.persistentStores.first)
      let before = store.url
      #expect(!coordinator.setURL(folder.url.appending(path: "there"), for: store))
      #expect(store.url == before)
      try container.close()
    }
  }

  /// The folder `real`, and `link`, which leads to it.
  private func linkedFolders() throws -> (real: URL, link: URL) {
    let (real, link) = (folder.url.appending(path: "real"), folder.url.appending(path: "link"))
    try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
    return (real, link)
  }

  private func opened(at url: URL, of type: PersistentStore.StoreType) throws -> (
    PersistentStoreCoordinator, PersistentStore
  ) {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    return (coordinator, try coordinator.addPersistentStore(type: type, at: url))
  }

  @Test(arguments: [PersistentStore.StoreType.log, .json])
  func `a store is found by each path that leads to it`(type: PersistentStore.StoreType) throws {
    let (real, link) = try linkedFolders()
    let (coordinator, store) = try opened(at: link.appending(path: "a"), of: type)
    for path in ["real/a", "link/a", "none/../link/./a"] {
      #expect(coordinator.persistentStore(for: folder.url.appending(path: path)) === store, "\(path)")
    }
    #expect(coordinator.persistentStore(for: real.appending(path: "b")) == nil)
    try coordinator.close()
  }

  @Test func `a store is not moved to where another one is, by whatever path`() throws {
    let (real, link) = try linkedFolders()
    let (coordinator, first) = try opened(at: real.appending(path: "a"), of: .json)
    let second = try coordinator.addPersistentStore(type: .json, at: real.appending(path: "b"))
    #expect(coordinator.setURL(link.appending(path: "c"), for: first))
    // No save has written the file yet.
    for path in ["real/c", "link/c", "real/../link/c"] {
      #expect(!coordinator.setURL(folder.url.appending(path: path), for: second), "\(path)")
    }
    #expect(!coordinator.setURL(URL(fileURLWithPath: "/dev/null"), for: second))
    #expect(coordinator.setURL(real.appending(path: "d"), for: second))
    try coordinator.close()
  }

  @Test func `no store is moved to, or opened at, a place where one is being opened`() throws {
    let (real, link) = try linkedFolders()
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
    let (coordinator, store) = try opened(at: folder.store, of: .json)
    let place = link.appending(path: "new")
    var answers: [String] = []
    DictionaryStore.database(at: place).beforeMetadata = {
      let isMoved = coordinator.setURL(real.appending(path: "new"), for: store)
      let error = heartwoodError {
        _ = try coordinator.addPersistentStore(type: .json, at: real.appending(path: "new"))
      }
      answers = ["\(isMoved)", error?.message ?? "none"]
    }
    try coordinator.addPersistentStore(type: DictionaryStore.kind, at: place)
    #expect(answers.first == "false" && answers.last?.contains("is being opened") == true, "\(answers)")
    #expect(coordinator.url(for: store) == folder.store)
    try coordinator.close()
  }

  private func permissions(_ url: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
  }

  @Test(arguments: StoreKind.files)
  func `a file keeps its permissions when it is replaced, and a new one is read by all that the process lets`(
    kind: StoreKind
  ) throws {
    let plain = folder.url.appending(path: "plain")
    try Data().write(to: plain)
    let usual = try permissions(plain)
    let container = try kind.open(libraryTypes, at: folder.store)
    let context = container.newBackgroundContext()
    context.makeBook("1", "a")
    try context.save()
    #expect(try permissions(folder.store) == usual)
    for number in [0o600, 0o640, 0o666] {
      try FileManager.default.setAttributes([.posixPermissions: number], ofItemAtPath: folder.store.path)
      context.makeBook("\(number)", "b")
      try context.save()
      #expect(try permissions(folder.store) == number)
    }
    try container.close()
  }

  // MARK: Edited files

  private func text(_ kind: StoreKind) throws -> String {
    let container = try kind.open(libraryTypes, at: folder.store)
    let context = container.newBackgroundContext()
    let author = context.makeAuthor("Ada", "CH")
    context.makeBook("11", "a", by: author)
    context.makeBook("22", "b", by: author)
    try context.save()
    try container.close()
    return try String(contentsOf: folder.store, encoding: .utf8)
  }

  private func message(_ kind: StoreKind, _ text: String) throws -> String {
    let url = folder.url.appending(path: "edited")
    try Data(text.utf8).write(to: url)
    return heartwoodError { try kind.open(libraryTypes, at: url).close() }?.message ?? "none"
  }

  @Test(arguments: [StoreKind.json, .xml])
  func `an error in an edited file names the file, the objects and the property`(kind: StoreKind) throws {
    let whole = try text(kind)
    let keyed = kind == .json ? ["\"key\": 2", "\"key\":2"] : ["key=\"2\""]
    let key = try #require(keyed.first { whole.contains($0) }, "\(whole)")
    func expect(_ changed: String, _ parts: String..., line: Int = #line) throws {
      #expect(changed != whole, "line \(line)")
      let message = try message(kind, changed)
      for part in parts + ["edited"] { #expect(message.contains(part), "line \(line): \(message)") }
    }
    let same = kind == .json ? "\"22\"" : ">22<"
    try expect(
      whole.replacing(same, with: same.replacing("22", with: "11")), "Book 1 and Book 2 have the same isbn",
      "11",
      "must be unique")
    let large = key.replacing("2", with: "99999999999999999999")
    try expect(whole.replacing(key, with: large), "of Book", "needs a key, a positive number up to")
    try expect(whole.replacing(key, with: key.replacing("2", with: "0")), "Book 0", "positive number up to")
  }

  @Test func `two values of one property are refused`() throws {
    let whole = try text(.xml)
    let title = try #require(whole.firstRange(of: /<attribute name="title">b<\/attribute>/), "\(whole)")
    var doubled = whole
    doubled.insert(contentsOf: whole[title], at: title.upperBound)
    #expect(try message(.xml, doubled).contains("Book 2 has two values of title"))
  }
}
