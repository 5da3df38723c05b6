import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Damaged stores in one file` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func bytes(_ kind: StoreKind) throws -> [UInt8] {
    let container = try kind.open(libraryTypes, at: folder.store)
    let context = container.newBackgroundContext()
    let author = context.makeAuthor("Author", "CH")
    for number in 0..<5 { context.makeBook("\(number)", "Title \(number)", year: 1990, by: author) }
    try context.save()
    try container.close()
    return Array(try Data(contentsOf: folder.store))
  }

  /// Opens and reads everything.
  private func read(_ kind: StoreKind, _ bytes: [UInt8]) throws {
    let url = folder.url.appending(path: "damaged")
    try Data(bytes).write(to: url)
    let store = try LogStore.open(
      at: url, model: try ManagedObjectModel(types: libraryTypes), options: kind.quick)
    defer { try? store.close() }
    _ = try store.verify()
  }

  private func isKnown(_ error: any Error) -> Bool {
    guard let error = error as? HeartwoodError else { return false }
    return [
      .persistentStoreDamaged, .persistentStoreOpen, .persistentStoreIncompatibleVersionHash, .coreData,
    ].contains(error.code)
  }

  @Test func `a changed byte and a missing end of a binary store are found`() throws {
    let whole = try bytes(.binary)
    for place in stride(from: 0, to: whole.count, by: 41) {
      var changed = whole
      changed[place] ^= 0x10
      for damaged in [changed, Array(whole[..<place])] where !damaged.isEmpty {
        do {
          try read(.binary, damaged)
          Issue.record("byte \(place)")
        } catch {
          #expect(isKnown(error), "byte \(place): \(error)")
        }
      }
    }
    do {
      try read(.binary, whole + [0])
      Issue.record("a byte more")
    } catch {
      #expect(isKnown(error))
    }
  }

  @Test(arguments: [StoreKind.json, .xml], [1, 2, 3] as [UInt64])
  func `a readable file that was changed at random is a store or refused with a reason`(
    kind: StoreKind, seed: UInt64
  ) throws {
    let whole = try bytes(kind)
    var random = SplitMix64(seed: seed)
    let objects = try #require(whole.lastIndex(of: UInt8(ascii: kind == .json ? "[" : "?")))
    for _ in 0..<150 {
      var changed = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        // The objects more often than the model, which is much longer.
        let start = Bool.random(using: &random) ? min(objects, changed.count - 2) : 0
        let place = Int.random(in: start..<changed.count - 1, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: changed[place] = UInt8.random(in: 0...255, using: &random)
        case 1: changed.remove(at: place)
        case 2: changed.insert(UInt8(ascii: "\""), at: place)
        default: changed[place] = UInt8(ascii: "9")
        }
      }
      do {
        try read(kind, changed)
      } catch {
        #expect(isKnown(error), "seed \(seed): \(error)")
      }
    }
  }

  /// Each is a change of the file, and part of the message.
  @Test(arguments: [
    ("\"key\": 1,", "\"key\": 0,", "positive"),
    ("\"Book\", \"key\": 1", "\"Bock\", \"key\": 1", "no such entity"),
    ("\"key\": 2", "\"key\": 1", "twice"), ("\"isbn\": \"1\"", "\"isbn\": \"0\"", "unique"),
    ("\"year\": 1990", "\"year\": \"x\"", "year"), ("\"author\": 1", "\"author\": 77", "fit together"),
    ("\"author\": 1", "\"auther\": 1", "no stored property"), ("\"objects\": [", "\"objects\": ]", "line"),
    ("\"JSON store 1\"", "\"JSON store 9\"", "newer"),
  ])
  func `a mistake of who edits a file is named`(from: String, to: String, reason: String) throws {
    let text = String(decoding: try bytes(.json), as: UTF8.self)
    let place = try #require(text.range(of: from, options: .backwards))
    let error = heartwoodError { try read(.json, Array(text.replacingCharacters(in: place, with: to).utf8)) }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "no error")")
  }
}
