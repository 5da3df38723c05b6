import Foundation
import HeartwoodArchives
import Testing

@Suite struct `Keyed archives` {
  /// An archive of objects, of which the first is what stands for nil.
  private static func archive(_ objects: [PropertyList], root: UInt64 = 1) throws -> KeyedArchive {
    try KeyedArchive(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary(["root": .uid(root)]), "$objects": .array([.string("$null")] + objects),
      ]))
  }

  private static func classed(_ names: String...) -> PropertyList {
    .dictionary(["$classname": .string(names[0]), "$classes": .array(names.map(PropertyList.string))])
  }

  @Test func `objects of Foundation are plain values`() throws {
    func value(_ name: String, _ fields: [String: PropertyList], _ more: PropertyList...) throws
      -> ArchivedValue
    {
      let object = fields.merging(["$class": .uid(2)]) { first, _ in first }
      return try Self.archive([.dictionary(object), Self.classed(name, "NSObject")] + more).root
    }
    #expect(try value("NSString", ["NS.string": .string("a")]).string == "a")
    #expect(try value("NSDate", ["NS.time": .real(5)]).date == Date(timeIntervalSinceReferenceDate: 5))
    #expect(try value("NSData", ["NS.data": .data(Data([1, 2]))]).data == Data([1, 2]))
    #expect(try value("NSNull", [:]).isNull)
    let uuid = UUID()
    let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
    guard case .uuid(let read) = try value("NSUUID", ["NS.uuidbytes": .data(bytes)]) else {
      Issue.record("no UUID")
      return
    }
    #expect(read == uuid)
    guard
      case .url(let url) = try value(
        "NSURL", ["NS.base": .uid(0), "NS.relative": .uid(3)], .string("https://a.example/b"))
    else {
      Issue.record("no URL")
      return
    }
    #expect(url == "https://a.example/b")
    guard
      case .decimal(let number) = try value(
        "NSDecimalNumber",
        [
          "NS.exponent": .integer(-2), "NS.length": .integer(2), "NS.negative": .bool(true),
          "NS.mantissa.bo": .integer(1),
          "NS.mantissa": .data(Data([0x15, 0xcd, 0x5b, 0x07] + [UInt8](repeating: 0, count: 12))),
        ])
    else {
      Issue.record("no decimal number")
      return
    }
    #expect(number == Decimal(string: "-1234567.89"))
    guard
      case .indexes(let ranges) = try value(
        "NSIndexSet", ["NSRangeCount": .integer(2), "NSRangeData": .data(Data([1, 2, 0x80, 1, 1]))])
    else {
      Issue.record("no indexes")
      return
    }
    #expect(ranges == [1..<3, 128..<129])
    #expect(
      try value("NSAttributedString", ["NSString": .string("styled"), "NSAttributes": .uid(0)]).string
        == "styled")
  }

  @Test func `collections have their elements, also under the names of older versions`() throws {
    let archive = try Self.archive([
      .dictionary(["$class": .uid(2), "NS.keys": .array([.uid(3)]), "NS.objects": .array([.uid(4)])]),
      Self.classed("NSMutableDictionary", "NSDictionary", "NSObject"), .string("list"),
      .dictionary(["$class": .uid(5), "NS.object.0": .uid(6), "NS.object.1": .integer(7)]),
      Self.classed("NSArray", "NSObject"),
      .dictionary(["$class": .uid(7), "NS.string": .string("changeable")]),
      Self.classed("NSMutableString", "NSString", "NSObject"),
    ])
    let entries = try #require(try archive.root.dictionary?.byName())
    #expect(entries.map(\.name) == ["list"])
    let list = try #require(try entries[0].value.list?.values())
    #expect(list.count == 2 && list[0].string == "changeable" && list[1].integer == 7)
  }

  @Test func `a dictionary of Core Data's has the keys of its strategy`() throws {
    let archive = try Self.archive([
      .dictionary([
        "$class": .uid(2), "searchMapping": .uid(3), "values": .uid(5), "emptyToken": .uid(9),
        "version": .integer(1),
      ]),
      Self.classed("NSKnownKeysDictionary1", "NSDictionary", "NSObject"),
      .dictionary(["$class": .uid(4), "keys": .uid(6), "length": .integer(2), "version": .integer(1)]),
      Self.classed("NSKnownKeysMappingStrategy1", "NSObject"),
      .dictionary(["$class": .uid(7), "NS.objects": .array([.uid(8), .uid(9)])]),
      .dictionary(["$class": .uid(7), "NS.objects": .array([.uid(8), .uid(10)])]),
      Self.classed("NSArray", "NSObject"), .string("a"), .string("__empty__"), .string("b"),
    ])
    let entries = try #require(try archive.root.dictionary?.byName())
    // The place of the token for nothing is no entry.
    #expect(entries.map(\.name) == ["a"] && entries[0].value.string == "a")
  }

  @Test func `objects in a circle are found again by their numbers`() throws {
    let archive = try Self.archive([
      .dictionary(["$class": .uid(2), "NSInverse": .uid(3)]), Self.classed("Relationship", "NSObject"),
      .dictionary(["$class": .uid(2), "NSInverse": .uid(1)]),
    ])
    let first = try #require(try archive.root.object)
    let second = try #require(try first.object("NSInverse"))
    #expect(first.className == "Relationship" && first.isKind(of: "NSObject") && first.number == 1)
    #expect(try second.object("NSInverse")?.number == first.number)
    #expect(try first.value("NSOther").isNull)
  }

  @Test func `an object of Foundation that is within itself is an error, or has itself as an element`() throws
  {
    let keys = [
      "NS.string", "NSString", "NS.bytes", "NS.data", "NS.time", "NS.uuidbytes", "NS.base", "NS.relative",
      "NSRangeCount", "NSLocation", "NSLength", "NSRangeData", "NS.exponent", "NS.length", "NS.mantissa",
      "NS.negative", "NS.intval", "searchMapping", "values", "emptyToken", "keys", "NS.objects", "NS.keys",
    ]
    for name in [
      "NSArray", "NSSet", "NSOrderedSet", "NSDictionary", "NSKnownKeysDictionary1", "NSString",
      "NSAttributedString", "NSData", "NSDate", "NSUUID", "NSURL", "NSIndexSet", "NSDecimalNumber",
      "NSNumber",
    ] {
      for isList in [false, true] {
        var fields: [String: PropertyList] = ["$class": .uid(2)]
        for key in keys { fields[key] = isList ? .array([.uid(1)]) : .uid(1) }
        let archive = try Self.archive([
          .dictionary(fields), Self.classed(name, "NSKnownKeysMappingStrategy1", "NSObject"),
        ])
        Self.visit(archive)
      }
    }
  }

  @Test func `archives of random objects that refer to each other in any way have an end`() throws {
    let names = [
      "NSArray", "NSDictionary", "NSKnownKeysDictionary1", "NSKnownKeysMappingStrategy1", "NSString", "NSURL",
      "NSIndexSet", "NSDecimalNumber", "NSData", "NSDate", "Entity",
    ]
    let keys = [
      "NS.string", "NS.relative", "NS.base", "NSRangeCount", "NSRangeData", "keys", "values", "NS.keys",
      "NS.objects", "NS.data", "NS.time", "emptyToken", "other",
    ]
    var generator = SeededGenerator(seed: 46)
    for _ in 0..<500 {
      let count = Int.random(in: 2...12, using: &generator)
      func field() -> PropertyList {
        let reference = PropertyList.uid(
          UInt64.random(in: 0...UInt64(count + names.count), using: &generator))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return .string("x")
        case 1: return .integer(Int64.random(in: -2...5, using: &generator))
        case 2: return .array([reference, reference])
        default: return reference
        }
      }
      let objects = (0..<count).map { _ in
        var fields: [String: PropertyList] = [
          "$class": .uid(UInt64(count + 1 + Int.random(in: 0..<names.count, using: &generator)))
        ]
        for key in keys where Bool.random(using: &generator) { fields[key] = field() }
        return PropertyList.dictionary(fields)
      }
      Self.visit(try Self.archive(objects + names.map { Self.classed($0, "NSObject") }))
    }
  }

  @Test func `references to nothing, and objects that are not what their classes have, are errors`() throws {
    #expect(throws: ArchiveError.self) { try Self.archive([], root: 5).root }
    #expect(throws: ArchiveError.self) { try Self.archive([], root: .max).root }
    #expect(throws: ArchiveError.self) { try Self.archive([.uid(1)]).root }
    #expect(throws: ArchiveError.self) { try Self.archive([.dictionary(["$class": .uid(9)])]).root }
    for name in [
      "NSDate", "NSData", "NSUUID", "NSURL", "NSString", "NSDecimalNumber", "NSKnownKeysDictionary1",
    ] {
      #expect(throws: ArchiveError.self, "\(name)") {
        try Self.archive([.dictionary(["$class": .uid(2)]), Self.classed(name)]).root
      }
    }
    #expect(throws: ArchiveError.self) { try KeyedArchive(.dictionary([:])) }
    #expect(throws: ArchiveError.self) { try KeyedArchive(.array([])) }
  }

  @Test(.enabled(if: Python.path != nil))
  func `a changed byte of an archive is an error, or other values`() throws {
    let program = """
      import base64, datetime, plistlib
      U = plistlib.UID
      c = lambda *n: {'$classname': n[0], '$classes': list(n)}
      o = ['$null', {'NS.keys': [U(2)], 'NS.objects': [U(3)], '$class': U(7)}, 'a',
        {'NS.objects': [U(4), U(5)], '$class': U(6)}, 1, {'NS.time': 1.5, '$class': U(8)}, c('NSArray', 'NSObject'),
        c('NSDictionary', 'NSObject'), c('NSDate', 'NSObject')]
      a = {'$archiver': 'NSKeyedArchiver', '$version': 100000, '$top': {'root': U(1)}, '$objects': o}
      print(base64.b64encode(plistlib.dumps(a, fmt=plistlib.FMT_BINARY)).decode())
      print(base64.b64encode(plistlib.dumps({**a, '$top': {'root': {'CF$UID': 1}}, '$objects': [
        '$null', {'NS.string': 'x', '$class': {'CF$UID': 2}}, c('NSString')]}, fmt=plistlib.FMT_XML)).decode())
      """
    let lines = try Python.lines(program)
    let binary = try #require(Data(base64Encoded: String(lines[0])))
    let entries = try #require(try KeyedArchive(binary).root.dictionary?.byName())
    #expect(entries.count == 1)
    #expect(try entries[0].value.list?.value(at: 1).date == Date(timeIntervalSinceReferenceDate: 1.5))
    #expect(KeyedArchive.isLikely(binary))
    let markup = try #require(Data(base64Encoded: String(lines[1])))
    #expect(try KeyedArchive(markup).root.string == "x")
    for data in [binary, markup] {
      damaged([UInt8](data)) { bytes in
        guard let archive = try? KeyedArchive(Data(bytes)) else { return }
        Self.visit(archive)
      }
    }
  }

  /// Asks for everything that an archive has, one level from each object.
  private static func visit(_ archive: KeyedArchive) {
    _ = try? archive.root
    for number in 0..<archive.count {
      guard let value = try? archive.value(ofObject: number) else { continue }
      _ = value.kind
      _ = try? value.list?.values()
      _ = try? value.dictionary?.byName()
      guard let object = value.object else { continue }
      for key in object.keys { _ = try? object.value(key) }
    }
  }
}
