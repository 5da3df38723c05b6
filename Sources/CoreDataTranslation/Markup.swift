/// An element of a model's file: as much of XML as these files have.
package final class Markup {
  let name: String
  let fields: [String: String]
  private(set) var children: [Markup] = []

  private init(_ name: String, _ fields: [String: String]) {
    self.name = name
    self.fields = fields
  }

  func children(_ name: String) -> [Markup] { children.filter { $0.name == name } }

  /// The root of a text; nil if it has none.
  static func root(of text: String) -> Markup? {
    var open: [Markup] = []
    var root: Markup?
    var rest = Substring(text)
    while let start = rest.firstIndex(of: "<") {
      rest = rest[start...]
      if rest.hasPrefix("<!--") {
        rest = rest.ranges(of: "-->").first.map { rest[$0.upperBound...] } ?? ""
        continue
      }
      if rest.hasPrefix("<?") || rest.hasPrefix("<!") {
        rest = rest.firstIndex(of: ">").map { rest[rest.index(after: $0)...] } ?? ""
        continue
      }
      guard let (tag, after) = Self.tag(rest) else { return root }
      rest = after
      if tag.name.hasPrefix("/") {
        _ = open.popLast()
        continue
      }
      let element = Markup(tag.name, tag.fields)
      open.last?.children.append(element)
      if root == nil { root = element }
      if !tag.isEmpty { open.append(element) }
    }
    return root
  }

  private static func tag(_ text: Substring) -> (
    tag: (name: String, fields: [String: String], isEmpty: Bool), rest: Substring
  )? {
    var rest = text.dropFirst()
    let name = rest.prefix { !$0.isWhitespace && $0 != ">" && !($0 == "/" && rest.first != "/") }
    rest = rest.dropFirst(name.count)
    var fields: [String: String] = [:]
    while true {
      rest = rest.drop(while: \.isWhitespace)
      if rest.hasPrefix("/>") { return ((String(name), fields, true), rest.dropFirst(2)) }
      if rest.hasPrefix(">") { return ((String(name), fields, false), rest.dropFirst()) }
      let key = rest.prefix { $0 != "=" && $0 != ">" && !$0.isWhitespace }
      rest = rest.dropFirst(key.count).drop(while: { $0.isWhitespace || $0 == "=" })
      guard !key.isEmpty, let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
      let value = rest.dropFirst().prefix { $0 != quote }
      rest = rest.dropFirst(value.count + 2)
      fields[String(key)] = unescaped(String(value))
    }
  }

  private static func unescaped(_ text: String) -> String {
    guard text.contains("&") else { return text }
    return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
      .replacing("&apos;", with: "'").replacing("&#10;", with: "\n").replacing("&#9;", with: "\t").replacing(
        "&amp;", with: "&")
  }
}
