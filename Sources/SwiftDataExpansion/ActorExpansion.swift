/// The members and the conformance that `@ModelActor` adds to an actor.
struct ActorExpansion {
  let type: TypeDeclaration

  /// - Throws: `ExpansionError` if it is no actor.
  init(_ syntax: PluginRequest.Syntax) throws(ExpansionError) {
    guard let type = TypeDeclaration(SourceText(syntax.source)) else {
      throw ExpansionError("'@ModelActor' can only be applied to an actor", at: 0..<0)
    }
    guard type.kind.is("actor") else {
      let fix =
        type.kind.is("class")
        ? ExpansionError.Fix(message: "replace 'class' with 'actor'", range: type.kind.range, text: "actor")
        : nil
      throw ExpansionError(
        "'@ModelActor' can only be applied to an actor, and '\(type.name.text)' is declared with '\(type.kind.text)'",
        at: type.kind.range, fix: fix)
    }
    self.type = type
  }

  var members: String {
    let access = type.memberAccess
    return """
      \(access)nonisolated let modelExecutor: any SwiftData.ModelExecutor
      \(access)nonisolated let modelContainer: SwiftData.ModelContainer
      \(access)init(modelContainer: SwiftData.ModelContainer) {
        self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: SwiftData.ModelContext(modelContainer))
        self.modelContainer = modelContainer
      }
      """
  }

  static func conformance(of type: String, _ missing: String) -> String {
    missing.contains("ModelActor") ? "extension \(type): SwiftData.ModelActor {}" : ""
  }
}
