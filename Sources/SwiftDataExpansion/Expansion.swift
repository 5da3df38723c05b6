/// The expansions of all macros, by their names and roles.
package enum Expansion {
  /// The version of the protocol that is spoken. The compiler says which it speaks, and both use the older one.
  package static let protocolVersion = 7

  /// The answer to a message.
  package static func answer(_ request: PluginRequest) -> PluginResponse {
    if let asked = request.getCapability {
      return .capability(version: min(protocolVersion, asked.capability?.protocolVersion ?? protocolVersion))
    }
    if let attached = request.expandAttachedMacro { return answer(attached) }
    if let freestanding = request.expandFreestandingMacro { return answer(freestanding) }
    return .unknown
  }

  private static func answer(_ request: PluginRequest.Attached) -> PluginResponse {
    let declaration = request.declSyntax
    do throws(ExpansionError) {
      switch (request.macro.typeName, request.macroRole) {
      case ("Model", "member"):
        let model = try ModelExpansion(
          declaration, isSwift5: request.isSwift5, conditions: request.conditions)
        let missing = request.conformanceListSyntax?.source ?? ""
        return .expansion(
          model.members(isRoot: missing.contains("PersistentModel")),
          model.problems.map { $0.diagnostic(in: declaration) })
      case ("Model", "memberAttribute"):
        guard TypeDeclaration.mayBeClass(request.parentDeclSyntax) else { return .expansion("", []) }
        return .expansion(
          ModelExpansion.memberAttribute(declaration, isSwift5: request.isSwift5) ?? "", [])
      case ("Model", "extension"):
        guard TypeDeclaration.mayBeClass(declaration) else { return .expansion("", []) }
        return .expansion(
          ModelExpansion.conformances(
            of: request.extendedTypeSyntax?.source ?? "", request.conformanceListSyntax?.source ?? ""), [])
      case ("PersistedProperty", "accessor"), ("TransformablePersistedProperty", "accessor"):
        return .expansion(try property(request).accessors, [])
      case ("PersistedProperty", "peer"), ("TransformablePersistedProperty", "peer"):
        return .expansion((try? property(request))?.peer ?? "", [])
      case ("ModelActor", "member"):
        return .expansion(try ActorExpansion(declaration).members, [])
      case ("ModelActor", "extension"):
        return .expansion(
          ActorExpansion.conformance(
            of: request.extendedTypeSyntax?.source ?? "", request.conformanceListSyntax?.source ?? ""), [])
      // The macros that `@Model` reads: `@Attribute`, `@Relationship`, `@Transient`.
      default: return .expansion("", [])
      }
    } catch {
      return .expansion(nil, [error.diagnostic(in: declaration)])
    }
  }

  private static func property(_ request: PluginRequest.Attached) throws(ExpansionError) -> PropertyExpansion
  {
    try PropertyExpansion(
      request.declSyntax, isTransformable: request.macro.typeName == "TransformablePersistedProperty")
  }

  private static func answer(_ request: PluginRequest.Freestanding) -> PluginResponse {
    do throws(ExpansionError) {
      switch request.macro.typeName {
      case "Predicate": return .expansion(try PredicateExpansion(request.syntax).predicate, [])
      case "Expression": return .expansion(try PredicateExpansion(request.syntax).expression, [])
      // The macros that `@Model` reads: `#Unique`, `#Index`.
      default: return .expansion("", [])
      }
    } catch {
      return .expansion(nil, [error.diagnostic(in: request.syntax)])
    }
  }
}
