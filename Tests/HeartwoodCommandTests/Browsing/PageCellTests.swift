import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

/// Values on their way to the page.
struct PageCellTests {
  @Test func `a long text is cut between characters, and its size is told`() {
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}"
    #expect(
      PageCell.json(.text(String(repeating: family, count: 3)), longest: 3)
        == .string(String(repeating: family, count: 3)))
    let cut = PageCell.json(.text(String(repeating: family, count: 4)), longest: 3)
    #expect(
      cut
        == .object(
          JSONObject([("cut", .string(String(repeating: family, count: 3))), ("bytes", .integer(72))])))
  }

  @Test func `a character with a million marks is cut, too`() throws {
    for mark in ["\u{301}", "\u{200D}\u{1F469}"] {
      let text = "e" + String(repeating: mark, count: 1_000_000)
      guard case .object(let value) = PageCell.json(.text(text)), case .string(let cut) = value["cut"] else {
        Issue.record("\(mark) is not cut")
        continue
      }
      #expect(cut.utf8.count <= 140)
      #expect(text.utf8.starts(with: cut.utf8))
      #expect(value["bytes"] == .integer(Int64(text.utf8.count)))
    }
  }

  @Test func `numbers are texts, as a browser would round them`() {
    #expect(PageCell.json(.integer(.max)) == .string("9223372036854775807"))
    #expect(PageCell.json(.double(.nan)) == .string("NaN"))
    #expect(PageCell.json(.null) == .null)
    #expect(PageCell.json(.bool(false)) == .bool(false))
  }

  @Test func `images of a few kinds are known by their first bytes, and SVG and HTML are none`() {
    let kinds: [(ImageKind, [UInt8])] = [
      (.png, [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 1]), (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0]),
      (.gif, Array("GIF89a".utf8)), (.webP, Array("RIFF1234WEBP".utf8)), (.avif, Array("1234ftypavif".utf8)),
      (.bmp, Array("BM".utf8) + [1, 2, 3, 4, 0, 0, 0, 0]),
    ]
    for (kind, bytes) in kinds {
      #expect(ImageKind(Data(bytes)) == kind)
      #expect(ImageKind(Data(bytes.dropLast(bytes.count > 6 ? 3 : 1)).prefix(5)) != kind || kind == .jpeg)
    }
    for text in [
      "", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<html>", "%PDF-1.7", "BM is a text", "RIFF1234WAVE",
    ] {
      #expect(ImageKind(Data(text.utf8)) == nil)
    }
  }

  @Test func `data is shown if it is an image, and saved otherwise, and runs nowhere`() throws {
    let png = Data([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]).base64EncodedString()
    let svg = Data("<svg onload='alert(1)'/>".utf8).base64EncodedString()
    let folder = try TemporaryFolder()
    let document = """
      {"model": {"entities": {"A": {"attributes": {
          "data": {"type": "data", "optional": true}, "text": {"type": "string", "optional": true}}}}},
       "objects": [{"@id": "A/1", "data": "\(png)"}, {"@id": "A/2", "data": "\(svg)"},
         {"@id": "A/3", "text": "<script>alert(1)</script>"}]}
      """
    let path = folder.path("store")
    #expect(CommandRun("import", path, try folder.file("a.json", document)).status == .success)
    let page = BrowsedWorld(path)
    for (id, name, type) in [
      ("A/p1", "data", "image/png"), ("A/p2", "data", "application/octet-stream"),
      ("A/p3", "text", "text/plain; charset=utf-8"),
    ] {
      let (response, _) = try page.answer("value", ["id": id, "name": name])
      #expect(response.type == type)
      #expect(response.fields.contains { $0.value == "default-src 'none'; sandbox" })
      #expect(response.fields.contains { $0.value.hasPrefix("attachment") } == (type != "image/png"))
    }
    #expect(try page.answer("value", ["id": "A/p1", "name": "text"]).0.status == .notFound)
    let rows = try page.json("rows", ["entity": "A"])
    #expect(rows.text("rows.0.cells.0.image") == "image/png")
    #expect(rows.text("rows.1.cells.0.image") == "null")
    #expect(rows.text("rows.2.cells.1") == "<script>alert(1)</script>")
  }
}
