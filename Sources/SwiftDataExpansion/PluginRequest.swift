/// A message of the compiler to a program of macros: one of these, as JSON. Fields that are not named here are ignored.
///
/// The protocol is that of `PluginMessages.swift` in swift-syntax, versions 7 and 8.
package struct PluginRequest: Decodable {
  package struct Capability: Decodable {
    package struct Version: Decodable { package var protocolVersion: Int }
    package var capability: Version?
  }

  /// The macro's name as it is declared.
  package struct MacroReference: Decodable {
    package var moduleName: String
    package var typeName: String
    package var name: String
  }

  package struct Location: Decodable {
    package var fileName: String
    /// Bytes from the beginning of the file.
    package var offset: Int
  }

  /// A piece of source.
  package struct Syntax: Decodable {
    package var source: String
    package var location: Location
  }

  package struct Attached: Decodable {
    package var macro: MacroReference
    package var macroRole: String
    package var attributeSyntax: Syntax
    package var declSyntax: Syntax
    package var parentDeclSyntax: Syntax?
    package var extendedTypeSyntax: Syntax?
    /// The protocols to which the type does not conform yet.
    package var conformanceListSyntax: Syntax?
    /// How the file is compiled, as JSON; nil from compilers that do not say.
    package var staticBuildConfiguration: String?

    /// Whether the file is compiled as Swift 5, where the accessors of macros are allowed for constants.
    var isSwift5: Bool {
      guard let text = staticBuildConfiguration, let place = text.firstRange(of: "\"languageMode\"") else {
        return false
      }
      return text[place.upperBound...].prefix { $0 != "}" }.first(where: \.isNumber) == "5"
    }

    /// The names of conditions that the compiler is given, such as `DEBUG`.
    var conditions: Set<String> {
      guard let text = staticBuildConfiguration,
        let place = text.firstRange(of: "\"customConditions\":[")
      else { return [] }
      let names = text[place.upperBound...].prefix { $0 != "]" }.split(separator: ",")
      return Set(names.map { String($0.filter { $0 != "\"" && !$0.isWhitespace }) })
    }
  }

  package struct Freestanding: Decodable {
    package var macro: MacroReference
    package var syntax: Syntax
  }

  package var getCapability: Capability?
  package var expandAttachedMacro: Attached?
  package var expandFreestandingMacro: Freestanding?
}
