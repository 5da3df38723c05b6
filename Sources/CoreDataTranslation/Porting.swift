import SwiftTokens

/// Finds what hinders a source on systems without the Objective-C runtime, and makes it portable.
package struct Porting {
  /// Something that does not compile, or does nothing, elsewhere.
  package struct Finding: Equatable {
    /// The line in the source, from 1.
    package let line: Int
    /// The problem, and what to do.
    package let message: String
    /// Whether `text` no longer has it.
    package let isMended: Bool
  }

  private let bytes: [UInt8]
  private let tokens: [Token]
  private var edits: [(range: Range<Int>, text: String)] = []
  /// The hindrances of the source, in its order.
  package private(set) var findings: [Finding] = []

  /// Looks through a source.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // Code within `#if` for Apple's systems already is no hindrance.
    tokens = Conditions.active(Lexer.tokens(of: bytes))
    look()
  }

  /// The source with what can be mended: attributes within `#if`, key paths as texts.
  package var text: String {
    var result: [UInt8] = []
    var place = 0
    for edit in edits.sorted(by: {
      ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
    })
    where edit.range.lowerBound >= place {
      result += bytes[place..<edit.range.lowerBound]
      result += Array(edit.text.utf8)
      place = edit.range.upperBound
    }
    return String(decoding: result + bytes[place...], as: UTF8.self)
  }

  private static let modules: Set<String> = [
    "UIKit", "AppKit", "SwiftUI", "Combine", "os", "OSLog", "CloudKit", "CoreSpotlight", "CoreGraphics",
    "CoreLocation", "MapKit", "WidgetKit",
    "AVFoundation", "Photos", "Intents", "WatchKit", "Cocoa", "ObjectiveC",
  ]
  private static let attributes: Set<String> = [
    "objc", "IBAction", "IBOutlet", "IBInspectable", "IBDesignable", "NSCopying", "GKInspectable",
    "NSApplicationMain", "UIApplicationMain",
  ]

  private mutating func look() {
    let cursor = TokenCursor(tokens)
    var next = 0
    while cursor[next].kind != .end {
      let token = cursor[next]
      if token.is("@"), Self.attributes.contains(cursor[next + 1].text) {
        next = attribute(cursor, next)
        continue
      }
      switch token.text {
      case "import" where token.kind == .word && token.isFirstOnLine:
        if Self.modules.contains(cursor[next + 1].text) {
          let name = cursor[next + 1].text
          find(
            token,
            "\(name) is no module on Linux: move what needs it to a target of its own, or put it into #if canImport(\(name))"
          )
        }
      case "#keyPath" where cursor[next + 1].is("("):
        let end = cursor.end(ofBracketsAt: next + 1)
        let names = cursor.tokens[(next + 2)..<(end - 1)].filter { $0.kind == .word }.map(\.text)
        let path = names.drop { $0.first?.isUppercase ?? false }.filter { $0 != "self" }.joined(
          separator: ".")
        edits.append((token.range.lowerBound..<cursor[end - 1].range.upperBound, "\"\(path)\""))
        find(token, "#keyPath needs the Objective-C runtime: write \"\(path)\"", isMended: true)
        next = end
        continue
      case "#selector":
        find(
          token,
          "#selector needs the Objective-C runtime: observe with a block, or let the plugin CoreDataSources translate the target"
        )
      case "optional" where ["func", "var"].contains(cursor[next + 1].text) && token.kind == .word:
        find(
          token,
          "optional members of protocols need the Objective-C runtime: give the protocol an extension with a default"
        )
      case "responds" where cursor[next + 1].is("(") && cursor[next + 2].is("to"),
        "perform" where cursor[next + 1].is("(") && cursor[next + 2].is("#selector"):
        find(
          token, "nothing finds methods by their names on Linux: call the method, or conform to a protocol")
      case "observe" where cursor[next + 1].is("(") && cursor[next + 2].is("\\"):
        find(
          token,
          "on Linux only managed objects and contexts are observed by key paths: use withObservationTracking for others"
        )
      case "NSPersistentCloudKitContainer", "NSCoreDataCoreSpotlightDelegate":
        find(token, "\(token.text) is tied to Apple's systems: use NSPersistentContainer there")
      default: break
      }
      next += 1
    }
  }

  private mutating func find(_ token: Token, _ message: String, isMended: Bool = false) {
    findings.append(Finding(line: token.line, message: message, isMended: isMended))
  }

  /// Puts an attribute into lines of its own, within `#if`.
  private mutating func attribute(_ cursor: TokenCursor, _ start: Int) -> Int {
    let end = cursor.end(ofAttributeAt: start)
    let from = cursor[start].range.lowerBound
    var upTo = cursor[end - 1].range.upperBound
    let text = String(decoding: bytes[from..<upTo], as: UTF8.self)
    find(
      cursor[start], "\(text) needs the Objective-C runtime: put it into #if canImport(ObjectiveC)",
      isMended: true)
    while upTo < bytes.count, bytes[upTo] == UInt8(ascii: " ") { upTo += 1 }
    let isAlone = upTo < bytes.count && bytes[upTo] == UInt8(ascii: "\n")
    // The tokens before it on its line: other attributes and modifiers of the declaration, or other code.
    var first = start
    while first > 0, !cursor[first].isFirstOnLine { first -= 1 }
    let before = cursor.tokens[first..<start]
    var place = first
    while place < start {
      let token = cursor[place]
      if token.is("@") {
        place = cursor.end(ofAttributeAt: place)
      } else if token.kind == .word, Self.modifiers.contains(token.text) {
        place = cursor[place + 1].is("(") ? cursor.end(ofBracketsAt: place + 1) : place + 1
      } else {
        break
      }
    }
    let isAtStart = place == start
    var lineStart = cursor[first].range.lowerBound
    while lineStart > 0,
      bytes[lineStart - 1] == UInt8(ascii: " ") || bytes[lineStart - 1] == UInt8(ascii: "\t")
    { lineStart -= 1 }
    let indent = String(decoding: bytes[lineStart..<cursor[first].range.lowerBound], as: UTF8.self)
    let lines = "\(indent)#if canImport(ObjectiveC)\n\(indent)\(text)\n\(indent)#endif\n"
    if isAtStart {
      edits.append((lineStart..<lineStart, lines))
      // Nothing of the line stays if the attribute was alone on it.
      edits.append(isAlone && before.isEmpty ? (lineStart..<(upTo + 1), "") : (from..<upTo, ""))
    } else {
      edits.append((from..<upTo, "\n" + lines + indent))
    }
    return end
  }

  private static let modifiers: Set<String> = [
    "public", "package", "open", "internal", "private", "fileprivate", "final", "override", "static", "class",
    "dynamic",
    "weak", "lazy", "nonisolated",
    "available", "NSManaged", "nonobjc", "MainActor", "discardableResult", "objcMembers",
  ]
}
