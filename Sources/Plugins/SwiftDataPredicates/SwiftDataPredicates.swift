import Foundation
import PackagePlugin

/// Makes predicates of a target compile quickly: writes one file that declares the macros `#Predicate` and `#Expression` in the target itself.
///
/// A file that imports Foundation and SwiftData has two macros of each name. The compiler checks the closure with both, and with Foundation's, whose
/// inputs are variadic, it does not know the type of `$0`, so that time grows exponentially with the number of comparisons of literals. A declaration of
/// the module itself takes the place of all that are imported.
@main
struct SwiftDataPredicates: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    #if os(macOS)
      // Apple's framework has no macros of its own.
      return []
    #else
      let generated = context.pluginWorkDirectoryURL.appending(path: "\(target.name).predicates.swift")
      return [
        .buildCommand(
          displayName: "Declaring the macros of predicates in \(target.name)",
          executable: URL(filePath: "/bin/sh"),
          arguments: ["-c", "printf %s \"$1\" > \"$2\"", "sh", Self.declarations, generated.path],
          outputFiles: [generated])
      ]
    #endif
  }

  private static let declarations = """
    // Written by the plugin SwiftDataPredicates.
    import Foundation

    @freestanding(expression)
    macro Predicate<Input>(_ body: (Input) -> Bool) -> Foundation.Predicate<Input> =
      #externalMacro(module: "SwiftDataMacros", type: "Predicate")

    @freestanding(expression)
    macro Predicate<First, Second>(_ body: (First, Second) -> Bool) -> Foundation.Predicate<First, Second> =
      #externalMacro(module: "SwiftDataMacros", type: "Predicate")

    @freestanding(expression)
    macro Expression<Input, Output>(_ body: (Input) -> Output) -> Foundation.Expression<Input, Output> =
      #externalMacro(module: "SwiftDataMacros", type: "Expression")

    @freestanding(expression)
    macro Expression<First, Second, Output>(
      _ body: (First, Second) -> Output
    ) -> Foundation.Expression<First, Second, Output> =
      #externalMacro(module: "SwiftDataMacros", type: "Expression")

    """
}
