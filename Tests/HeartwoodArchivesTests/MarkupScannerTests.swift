import Testing

@testable import HeartwoodArchives

@Suite struct `Scanning of XML` {
  private func parts(
    _ text: String, deepest: Int = 8, _ documentTypes: MarkupScanner.DocumentTypes = .refused
  ) throws(ArchiveError) -> [MarkupScanner.Part] {
    var scanner = MarkupScanner(Array(text.utf8), deepest: deepest, documentTypes: documentTypes)
    var parts: [MarkupScanner.Part] = []
    while let part = try scanner.next() { parts.append(part) }
    return parts
  }

  private func message(
    _ text: String, deepest: Int = 8, _ documentTypes: MarkupScanner.DocumentTypes = .refused
  ) -> String? {
    do throws(ArchiveError) {
      _ = try parts(text, deepest: deepest, documentTypes)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func `elements, attributes and texts come in the document's order`() throws {
    let text =
      "\u{FEFF}<?xml version='1.0'?><a x='1 &amp; 2' y=\"\t\"><!-- <b> -->1&#x32;<b/>\r\n<![CDATA[<&]]></a>"
    #expect(
      try parts(text) == [
        .start("a", ["x": "1 & 2", "y": " "]), .text("12"), .start("b", [:]), .end("b"), .text("\n<&"),
        .end("a"),
      ])
  }

  @Test func `what is not well-formed is an error with its place`() throws {
    #expect(message("<a><b></a>") == "</a> ends no open element")
    #expect(message("<a>") == "it ends inside of <a>")
    #expect(message("<a x=1/>") == "the value of an attribute is not in quotes")
    #expect(message("<a x='1' x='2'/>") == "the attribute x occurs twice")
    #expect(message("<a>&b;</a>") == "there is no entity \"b\"")
    #expect(message("<a><a><a/></a></a>", deepest: 2) == "more than 2 elements are inside of each other")
    #expect(message("<a><!-- </a>") == "--> is missing")
    var scanner = MarkupScanner(Array("<a>\n\n<b></c>".utf8), deepest: 8, documentTypes: .refused)
    #expect(throws: ArchiveError("</c> ends no open element", at: 12)) { while try scanner.next() != nil {} }
    #expect(scanner.line() == 3)
  }

  @Test func `a declared entity stands for its text, and only where it is plain and short`() throws {
    let head = "<!DOCTYPE a [<!-- ]> --><!ENTITY % p 'q'><!ENTITY e 'x'><!ENTITY m '<b/>'>]>"
    #expect(
      try parts("\(head)<a y='&e;'>&e;</a>", .declaring) == [.start("a", ["y": "x"]), .text("x"), .end("a")])
    #expect(message("\(head)<a>&m;</a>", .declaring) == "there is no entity \"m\"")
    #expect(message("\(head)<a/>", .named)?.contains("declares entities of its own") == true)
    #expect(message("<!DOCTYPE a SYSTEM 'a>b'><a/>", .named) == nil)
    #expect(message("<!DOCTYPE a><a/>") == "document types are not read")
    #expect(
      message("<!DOCTYPE a [<!ENTITY e 'x'><!ENTITY f '&e;&e;'>]><a>&f;</a>", .declaring)?.contains(
        "references in its text") == true)
    let long = String(repeating: "x", count: 1 << 16)
    let many = String(repeating: "&e;", count: 17)
    #expect(
      message("<!DOCTYPE a [<!ENTITY e '\(long)'>]><a>\(many)</a>", .declaring)
        == "its entities stand for too much text")
  }
}
