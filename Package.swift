// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

// The path of a `heartwood` or `HeartwoodGenerator` that is built already, which the plugin runs: nothing is compiled for it.
let command = Context.environment["HEARTWOOD_COMMAND"]

let package = Package(
  name: "Heartwood",
  // Linux is where everything is compiled and tested. The sources are written for Apple's systems, and have not been compiled there, nor on
  // Android or Windows; for WebAssembly only HeartwoodBytes has been.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Heartwood", targets: ["Heartwood"]),
    .library(name: "HeartwoodEngine", targets: ["HeartwoodEngine"]),
    .library(name: "HeartwoodFiles", targets: ["HeartwoodFiles"]),
    .library(name: "HeartwoodFaults", targets: ["HeartwoodFaults"]),
    .library(name: "HeartwoodSQLite", targets: ["HeartwoodSQLite"]),
    .library(name: "HeartwoodAppleStores", targets: ["HeartwoodAppleStores"]),
    .executable(name: "heartwood", targets: ["HeartwoodCommand"]),
    .plugin(name: "HeartwoodClasses", targets: ["HeartwoodClasses"]),
    .plugin(name: "CoreDataSources", targets: ["CoreDataSources"]),
    .plugin(name: "CoreDataAccessors", targets: ["CoreDataAccessors"]),
    .plugin(name: "SwiftDataPredicates", targets: ["SwiftDataPredicates"]),
  ],
  targets: [
    // From the bytes upward: a target imports only what stands above it in this list.
    .target(name: "HeartwoodBytes"),
    .target(name: "CLibrary"),
    .target(name: "HeartwoodFiles", dependencies: ["CLibrary", "HeartwoodBytes"]),
    .target(name: "HeartwoodFaults", dependencies: ["HeartwoodBytes", "HeartwoodFiles"]),
    .target(
      name: "HeartwoodEngine", dependencies: ["HeartwoodBytes", "HeartwoodFiles"],
      // For `Prefetch.swift` alone.
      swiftSettings: [.enableExperimentalFeature("BuiltinModule")]),
    // Property lists and archives as Apple's frameworks write them, as plain data.
    .target(name: "HeartwoodArchives"),
    // Values, models, rows and conditions, without stores and objects. `Heartwood` exports its names.
    .target(name: "HeartwoodModel", dependencies: ["HeartwoodBytes", "HeartwoodFiles", "HeartwoodArchives"]),
    .target(
      name: "Heartwood",
      dependencies: [
        "HeartwoodBytes", "HeartwoodFiles", "HeartwoodEngine", "HeartwoodArchives", "HeartwoodModel",
      ]),
    // SQLite's file format, and the stores that Core Data and SwiftData make of it on Apple's systems.
    .target(name: "HeartwoodSQLite", dependencies: ["CLibrary"]),
    .target(
      name: "HeartwoodAppleStores", dependencies: ["HeartwoodSQLite", "HeartwoodArchives", "Heartwood"]),
    // A small HTTP server at the loopback address and the page that it serves, without knowledge of stores.
    .target(name: "HeartwoodBrowser", dependencies: ["CLibrary", "HeartwoodFiles"]),
    .executableTarget(
      name: "HeartwoodCommand",
      dependencies: [
        "Heartwood", "HeartwoodAppleStores", "HeartwoodSQLite", "HeartwoodArchives", "HeartwoodEngine",
        "HeartwoodFiles", "HeartwoodBrowser", "HeartwoodGenerating", "CoreDataTranslation",
      ]),
    // Swift classes of models, for `heartwood generate` and for the plugin, whose tool has nothing but that.
    .target(name: "HeartwoodGenerating", dependencies: ["HeartwoodModel", "SwiftTokens"]),
    .executableTarget(name: "HeartwoodGenerator", dependencies: ["HeartwoodGenerating", "HeartwoodModel"]),
    // Writes classes for the models of Xcode in a target.
    .plugin(
      name: "HeartwoodClasses", capability: .buildTool(),
      dependencies: command == nil ? ["HeartwoodGenerator"] : [],
      path: "Sources/Plugins/HeartwoodClasses"),
    // Makes sources for Apple's Core Data compile on other systems; alone, so that the plugin is built quickly.
    .target(name: "SwiftTokens"),
    .target(name: "CoreDataTranslation", dependencies: ["SwiftTokens"]),
    .executableTarget(name: "CoreDataTranslator", dependencies: ["CoreDataTranslation"]),
    .plugin(
      name: "CoreDataSources", capability: .buildTool(), dependencies: ["CoreDataTranslator"],
      path: "Sources/Plugins/CoreDataSources"),
    .plugin(
      name: "CoreDataAccessors", capability: .buildTool(), dependencies: ["CoreDataTranslator"],
      path: "Sources/Plugins/CoreDataAccessors"),
    // Makes predicates for Apple's SwiftData compile quickly on other systems.
    .plugin(
      name: "SwiftDataPredicates", capability: .buildTool(), path: "Sources/Plugins/SwiftDataPredicates"),

    // A program's own kind of store, which the tests of the graph run over too; see its README.
    .target(name: "LineStore", dependencies: ["Heartwood"], path: "Fixtures/LineStore/Sources/LineStore"),
    // What tests of several targets share.
    .target(name: "TestSupport", dependencies: ["HeartwoodFiles", "SwiftTokens"], path: "Tests/TestSupport"),
    .testTarget(name: "HeartwoodBytesTests", dependencies: ["HeartwoodBytes", "HeartwoodFaults"]),
    .testTarget(
      name: "HeartwoodFilesTests", dependencies: ["TestSupport", "HeartwoodFiles", "HeartwoodFaults"]),
    .testTarget(
      name: "HeartwoodFaultsTests", dependencies: ["TestSupport", "HeartwoodFaults", "HeartwoodFiles"]),
    .testTarget(
      name: "HeartwoodEngineTests",
      dependencies: ["TestSupport", "HeartwoodBytes", "HeartwoodFiles", "HeartwoodFaults", "HeartwoodEngine"]),
    // What tests of the graph share, also: small models, stores and errors.
    .target(
      name: "GraphTestSupport",
      dependencies: ["TestSupport", "HeartwoodFaults", "Heartwood"], path: "Tests/GraphTestSupport"),
    // Objects, contexts and fetches.
    .testTarget(
      name: "HeartwoodTests",
      dependencies: [
        "TestSupport", "GraphTestSupport", "HeartwoodFiles", "HeartwoodFaults", "HeartwoodEngine",
        "HeartwoodModel", "Heartwood", "LineStore",
      ]),
    // Models, stores and migrations.
    .testTarget(
      name: "HeartwoodStoreTests",
      dependencies: [
        "TestSupport", "GraphTestSupport", "HeartwoodFiles", "HeartwoodFaults", "HeartwoodEngine",
        "HeartwoodModel", "Heartwood", "LineStore",
      ]),
    // Everything that can go wrong, at every place where it can: `Tests/FaultProgramme/run`.
    .executableTarget(
      name: "FaultProgramme",
      dependencies: [
        "TestSupport", "HeartwoodBytes", "HeartwoodFiles", "HeartwoodFaults", "HeartwoodEngine", "Heartwood",
      ],
      path: "Tests/FaultProgramme", exclude: ["run"]),
    // What the hot rows of the graph cost in instructions: `Tests/Costs/run`.
    .executableTarget(
      name: "Costs", dependencies: ["Heartwood"], path: "Tests/Costs", exclude: ["limits", "run"]),
    // Processes that are killed; the programme itself is the victim.
    .testTarget(name: "KillTests", dependencies: ["FaultProgramme", "HeartwoodCommand"]),
    .testTarget(
      name: "CrashTests",
      dependencies: [
        "TestSupport", "HeartwoodFiles", "HeartwoodFaults", "HeartwoodEngine", "Heartwood", "FaultProgramme",
      ]),
    // The documents of the formats, held against the code.
    .testTarget(
      name: "FormatTests",
      dependencies: [
        "TestSupport", "HeartwoodBytes", "HeartwoodFiles", "HeartwoodEngine", "HeartwoodModel", "Heartwood",
      ]),
    .testTarget(name: "HeartwoodArchivesTests", dependencies: ["TestSupport", "HeartwoodArchives"]),
    .testTarget(name: "HeartwoodSQLiteTests", dependencies: ["TestSupport", "HeartwoodSQLite"]),
    .testTarget(
      name: "HeartwoodAppleStoresTests",
      dependencies: [
        "TestSupport", "HeartwoodSQLite", "HeartwoodArchives", "HeartwoodAppleStores", "Heartwood",
      ]),
    .testTarget(
      name: "HeartwoodCommandTests",
      dependencies: [
        "TestSupport", "HeartwoodBytes", "HeartwoodFiles", "HeartwoodEngine", "Heartwood", "HeartwoodBrowser",
        "HeartwoodCommand",
      ]),
    .testTarget(
      name: "HeartwoodBrowserTests",
      dependencies: ["TestSupport", "HeartwoodFiles", "HeartwoodFaults", "HeartwoodBrowser"]),
  ],
  swiftLanguageModes: [.v6]
)

// The same files are a normal test, and what libFuzzer drives: `Tests/Fuzzing/run` asks for the latter.
let fuzzed: [Target.Dependency] = [
  "HeartwoodBytes", "HeartwoodFiles", "HeartwoodEngine", "HeartwoodModel", "Heartwood", "HeartwoodSQLite",
  "HeartwoodAppleStores",
  "HeartwoodCommand",
]
package.targets.append(
  Context.environment["HEARTWOOD_FUZZING"] == nil
    ? .testTarget(
      name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzzing", exclude: ["Fuzzer.swift", "run"])
    : .executableTarget(
      name: "Fuzzing", dependencies: fuzzed, path: "Tests/Fuzzing", exclude: ["KeptInputTests.swift", "run"])
)

// The tools of the plugins compile a part of the library once more: left out where tests alone are wanted.
if Context.environment["HEARTWOOD_WITHOUT_PLUGINS"] != nil {
  let plugins = Set(package.targets.filter { $0.type == .plugin }.map(\.name))
  package.targets.removeAll { $0.type == .plugin }
  package.products.removeAll { plugins.contains($0.name) }
}

// Apple's systems have a framework of this name: there the product is that framework.
#if canImport(ObjectiveC)
  package.targets.append(.target(name: "AppleCoreData", path: "Sources/AppleCoreData"))
  package.products.append(.library(name: "CoreData", targets: ["AppleCoreData"]))
#else
  package.targets += [
    .target(name: "CoreData", dependencies: ["Heartwood", "HeartwoodAppleStores", "HeartwoodBytes"]),
    .testTarget(
      name: "CoreDataTests",
      dependencies: ["TestSupport", "HeartwoodFaults", "CoreData", "CoreDataTranslation", "SwiftTokens"]),
    // The macros of SwiftData, as a program that speaks the compiler's own protocol.
    .target(name: "SwiftDataExpansion", dependencies: ["SwiftTokens"]),
    .macro(name: "SwiftDataMacros", dependencies: ["SwiftDataExpansion"]),
    .target(
      name: "SwiftData",
      dependencies: ["CoreData", "Heartwood", "HeartwoodBytes", "HeartwoodFiles", "SwiftDataMacros"]),
    .testTarget(
      name: "SwiftDataTests",
      dependencies: ["TestSupport", "CoreData", "Heartwood", "SwiftData", "SwiftDataExpansion"],
      exclude: ["Expansion/Recorded"]),
    // Models of a module whose declarations are of the main actor, as new applications of Xcode are.
    .testTarget(
      name: "SwiftDataIsolationTests", dependencies: ["SwiftData"],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
  ]
  package.products.append(.library(name: "CoreData", targets: ["CoreData"]))
  package.products.append(.library(name: "SwiftData", targets: ["SwiftData"]))
#endif

// As `Tests/run` builds: crashes and kills spend their time in the engine. CI optimises the graph, too, whose costs it counts; that takes the
// compiler minutes. They keep all assertions.
let optimized: [(variable: String, targets: [String])] = [
  ("HEARTWOOD_OPTIMIZED_ENGINE", ["HeartwoodBytes", "HeartwoodFiles", "HeartwoodFaults", "HeartwoodEngine"]),
  ("HEARTWOOD_OPTIMIZED_GRAPH", ["HeartwoodModel", "Heartwood", "CoreData", "SwiftData", "Costs"]),
]
for (variable, targets) in optimized where Context.environment[variable] != nil {
  for target in package.targets where targets.contains(target.name) {
    let flags: SwiftSetting = .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
    target.swiftSettings = (target.swiftSettings ?? []) + [flags]
  }
}

// As CI builds.
if Context.environment["HEARTWOOD_WARNINGS_AS_ERRORS"] != nil {
  for target in package.targets where target.type != .plugin {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}
