import Foundation
import Heartwood
import HeartwoodBytes

extension EntityMapping {
  /// Which objects of the source the mapping is about: the fetch that Xcode writes. Its predicate becomes that of the
  /// mapping, and its entity the source, where the mapping has none yet. Nil stands for all objects.
  ///
  /// - Precondition: It is such a fetch, of objects of the mapping's source:
  ///   `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Person", "age > 3"),
  ///   $manager.sourceContext, NO)`.
  public var sourceExpression: NSExpression? {
    get {
      sourceEntityName.map { name in
        let condition = (sourcePredicate as? FormatPredicate)?.condition
        let predicate = condition.map { PredicateText.text(of: NSPredicate.made(of: $0)) } ?? "TRUEPREDICATE"
        return NSExpression(mapping: SourceFetch(entity: name, predicate: predicate).text)
      }
    }
    set {
      guard let newValue else { return sourcePredicate = nil }
      guard let fetch = SourceFetch(newValue.mappingText) else {
        programError(
          "sourceExpression of the mapping \(anyName): \(newValue.mappingText) selects objects in another way than "
            + SourceFetch.usual)
      }
      guard sourceEntityName == nil || sourceEntityName == fetch.entity else {
        programError(
          "sourceExpression of the mapping \(anyName): it fetches \(fetch.entity), and the mapping is about "
            + (sourceEntityName ?? ""))
      }
      sourceEntityName = fetch.entity
      do {
        let selectsAll = fetch.predicate.uppercased() == "TRUEPREDICATE"
        sourcePredicate = selectsAll ? nil : try FormatPredicate(fetch.predicate)
      } catch {
        programError("sourceExpression of the mapping \(anyName): \"\(fetch.predicate)\": \(error)")
      }
    }
  }
}

/// The fetch of a mapping, as Xcode writes it.
private struct SourceFetch {
  let entity: String
  let predicate: String

  init(entity: String, predicate: String) { (self.entity, self.predicate) = (entity, predicate) }

  init?(_ text: String) {
    guard let match = text.wholeMatch(of: Self.form) else { return nil }
    entity = String(match.1.replacing(Self.escaped) { $0.1 })
    predicate = String(match.2.replacing(Self.escaped) { $0.1 })
  }

  var text: String {
    "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \(Self.quoted(entity)), "
      + "\(Self.quoted(predicate))), $manager.sourceContext, NO)"
  }

  static var usual: String { SourceFetch(entity: "…", predicate: "…").text }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  private static var form: Regex<(Substring, Substring, Substring)> {
    #/
      (?i) \s* FETCH \s* \( \s* FUNCTION \s* \( \s* \$manager \s* ,
      \s* "fetchRequestForSourceEntityNamed:predicateString:" \s* ,
      \s* "((?:[^"\\]|\\.)*)" \s* , \s* "((?:[^"\\]|\\.)*)" \s* \) \s* ,
      \s* \$manager\.sourceContext \s* , \s* NO \s* \) \s*
    /#
  }
  private static var escaped: Regex<(Substring, Substring)> { #/\\(.)/# }
}
