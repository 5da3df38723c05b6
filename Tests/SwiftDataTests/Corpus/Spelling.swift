import Foundation
import SwiftData

// Models that are written in unusual ways. What they store is tested in `SpellingTests`.

// swift-format-ignore
@Model final class Binder { var name = ""; var colour = 2; var note: String?
  var title: String { name }; @Relationship(deleteRule: .cascade, inverse: \Sheet.folder) var sheets: [Sheet]?
  init(name: String) { self.name = name } }

// swift-format-ignore
@Model final class Sheet { var text: String; var folder: Binder?; init(_ text: String) { self.text = text } }

// swift-format-ignore
@Model
final class Defaults {
  static let author = "Ada"
  var greeting: String = """
    Hi \("}") \(1 + 1),
    \([1, 2].map { "\($0)" }
      .joined(separator: "; "))
    """
  var text = "\(1, two: 2)"
  var table = Dictionary<String, Int>()
  var counted: Int = made
  { 3 }
  var chosen: Int = if Defaults.author.isEmpty { 1 } else { 2 }
  var forced: Int! = 4
  var ternary =
    Defaults.author.isEmpty ?
    1 : 2

  init() {}
}

private func made(_ value: () -> Int) -> Int { value() }

extension DefaultStringInterpolation {
  mutating func appendInterpolation(_ one: Int, two: Int) { appendInterpolation(one + two) }
}

@Model
final class Compared {
  var number: Int
  var other = 0
  init(_ number: Int) { self.number = number }

  static func == (left: Compared, right: Compared) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

@Model
final class Outdated {
  #Index<Outdated>([\.new])
  @available(*, deprecated) var old: Int = 1
  var new = 2
  init() {}
}
