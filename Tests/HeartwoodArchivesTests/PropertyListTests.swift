import Foundation
import HeartwoodArchives
import Testing

@Suite struct `Property lists` {
  /// Random lists in both forms, and in words that say each value exactly.
  private static let program = """
    import base64, datetime, plistlib, random, struct, sys
    r = random.Random(int(sys.argv[1]))
    words = ['', 'a', 'name', 'NS.objects', 'Grüße', '日本語', '🙂 x', 'a"b<&>\\'c', 'line\\nline', 'x' * 20]
    def value(depth):
        k = r.randrange(10 if depth < 4 else 8)
        if k == 0: return r.random() < 0.5
        if k == 1: return r.choice([0, 1, 255, 256, 65535, 65536, 2**31, 2**32, 2**63 - 1, -1, -2**63, 2**63, 2**64 - 1, r.randrange(-2**40, 2**40)])
        if k == 2: return r.choice([0.0, -0.5, 1e300, 0.1, r.random() * 1000])
        if k in (3, 4): return r.choice(words) + r.choice(['', str(r.randrange(1000))])
        if k == 5: return bytes(r.randrange(256) for _ in range(r.choice([0, 1, 14, 15, 16, 300])))
        if k == 6: return datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=r.randrange(-10**9, 10**9))
        if k == 7: return plistlib.UID(r.choice([0, 1, 255, 256, 65536, 2**32])) if binary else 'uid'
        if k == 8: return [value(depth + 1) for _ in range(r.choice([0, 1, 3, 14, 15, 20]))]
        return {r.choice(words) + str(i): value(depth + 1) for i in range(r.choice([0, 1, 3, 15]))}
    def text(v):
        if isinstance(v, bool): return 'b' + str(int(v))
        if isinstance(v, int): return 'i' + str(v)
        if isinstance(v, float): return 'r' + struct.pack('>d', v).hex()
        if isinstance(v, str): return 's' + v.encode().hex()
        if isinstance(v, bytes): return 'd' + v.hex()
        if isinstance(v, datetime.datetime): return 't' + str(int((v - datetime.datetime(2001, 1, 1)).total_seconds()))
        if isinstance(v, plistlib.UID): return 'u' + str(v.data)
        if isinstance(v, list): return '[' + ','.join(text(x) for x in v) + ']'
        return '{' + ','.join(k + ':' + t for k, t in sorted((k.encode().hex(), text(x)) for k, x in v.items())) + '}'
    for i in range(80):
        binary = i % 2 == 0
        v = value(0)
        data = plistlib.dumps(v, fmt=plistlib.FMT_BINARY if binary else plistlib.FMT_XML)
        print(base64.b64encode(data).decode(), text(v))
    """

  @Test(.enabled(if: Python.path != nil), arguments: [1, 2, 3, 4])
  func `what Python's plistlib writes is read as it was, in both forms`(seed: Int) throws {
    for line in try Python.lines(Self.program, "\(seed)") {
      let parts = line.split(separator: " ")
      let data = try #require(Data(base64Encoded: String(parts[0])))
      #expect(try Self.text(PropertyList(data)) == parts[1])
    }
  }

  private static func text(_ list: PropertyList) -> String {
    func hex(_ bytes: some Sequence<UInt8>) -> String {
      bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
    }
    switch list {
    case .null: return "n"
    case .bool(let flag): return flag ? "b1" : "b0"
    case .integer(let number): return "i\(number)"
    case .unsignedInteger(let number): return "i\(number)"
    case .real(let number):
      return "r" + hex((0..<8).reversed().map { UInt8(truncatingIfNeeded: number.bitPattern >> ($0 * 8)) })
    case .string(let text): return "s" + hex(text.utf8)
    case .data(let data): return "d" + hex(data)
    case .date(let date): return "t\(Int(date.timeIntervalSinceReferenceDate))"
    case .uid(let number): return "u\(number)"
    case .array(let list), .set(let list): return "[\(list.map(text).joined(separator: ","))]"
    case .dictionary(let fields):
      return
        "{\(fields.map { (hex($0.utf8), text($1)) }.sorted { $0 < $1 }.map { "\($0):\($1)" }.joined(separator: ","))}"
    }
  }

  // MARK: Hostile lists

  /// `bplist00` of objects, their table, and the trailer; references are of one byte.
  static func binary(_ objects: [[UInt8]], top: Int = 0) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for offset in offsets { bytes += [UInt8(offset >> 8), UInt8(offset & 255)] }
    bytes += [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, top, table] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    return Data(bytes)
  }

  private func message(_ data: Data) -> String? {
    do throws(ArchiveError) {
      _ = try PropertyList(data)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func `a list that is in itself is an error`() {
    #expect(message(Self.binary([[0xa1, 0]])) == "object 0 is within itself")
    #expect(message(Self.binary([[0xa1, 1], [0xd1, 2, 0], [0x51, 0x61]])) == "object 0 is within itself")
  }

  @Test func `lists that are within each other too deep are an error`() {
    let objects = (0..<200).map { [0xa1, UInt8($0 + 1)] } + [[0x08]]
    #expect(message(Self.binary(objects))?.hasSuffix("are within each other") == true)
    #expect(
      message(Self.binary(Array(objects[100...]).map { $0.count == 2 ? [0xa1, $0[1] - 100] : $0 })) == nil)
    let markup = String(repeating: "<array>", count: 100_000)
    #expect(message(Data("<plist>\(markup)".utf8))?.hasSuffix("are within each other") == true)
  }

  @Test func `a short list that stands for a huge one is an error`() {
    // Each of sixty lists has the next one fifteen times.
    let objects = (0..<60).map { [0xae] + [UInt8](repeating: UInt8($0 + 1), count: 14) } + [[0x51, 0x61]]
    #expect(message(Self.binary(objects))?.contains("has no bounds") == true)
  }

  @Test func `lengths and numbers that go beyond the file are errors`() {
    for object: [UInt8] in [
      [0x5f, 0x13, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0xaf, 0x13, 0, 0, 0, 0, 0xff, 0, 0, 0],
      [0xdf, 0x12, 0x7f, 0xff, 0xff, 0xff], [0x4f, 0x14], [0x6e, 0x61], [0x23, 0], [0x14, 0], [0x87], [0x8f],
      [0x70], [0xef], [0x33], [0x15, 1], [0xa1, 9], [0xd1, 0, 0],
    ] {
      #expect(object == [0x70] || message(Self.binary([object])) != nil, "\(object)")
    }
    var trailer = [UInt8](Self.binary([[0x08]]))
    trailer[trailer.count - 9] = 0xff
    #expect(message(Data(trailer)) != nil)
  }

  @Test func `a changed byte of a list is an error, or another list`() throws {
    let list = Self.binary([
      [0xd2, 1, 2, 3, 4], [0x52, 0x61, 0x62], [0x62, 0, 0x61, 0x26, 0x3a], [0xa3, 5, 6, 7], [0xc1, 5],
      [0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x23, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0],
      [0x33, 0x41, 0xc0, 0, 0, 0, 0, 0, 0],
    ])
    #expect(message(list) == nil)
    damaged([UInt8](list)) { _ = message(Data($0)) }
    let markup =
      "<?xml version=\"1.0\"?><!DOCTYPE plist PUBLIC \"-//Apple//DTD\" \"a>b\"><plist version='1.0'><!-- - -->"
      + "<dict><key>a&amp;&#x41;</key><array><integer>-0x1F</integer><real>1.5</real><true/><date>2001-01-01T00:00:00Z</date>"
      + "<data>aGk=</data><string>x<![CDATA[<y>]]></string></array></dict></plist>"
    let expected = PropertyList.dictionary([
      "a&A": .array([
        .integer(-31), .real(1.5), .bool(true), .date(Date(timeIntervalSinceReferenceDate: 0)),
        .data(Data("hi".utf8)), .string("x<y>"),
      ])
    ])
    #expect(try PropertyList(Data(markup.utf8)) == expected)
    damaged([UInt8](markup.utf8)) { _ = message(Data($0)) }
  }

  @Test func `entities of a document's own are refused`() {
    let bomb = "<!DOCTYPE plist [<!ENTITY a \"xxxx\">]><plist><string>&a;</string></plist>"
    #expect(message(Data(bomb.utf8))?.contains("declares entities") == true)
    #expect(message(Data("<plist><string>&a;</string></plist>".utf8)) == "there is no entity \"a\"")
  }
}
