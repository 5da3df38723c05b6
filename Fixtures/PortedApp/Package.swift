// swift-tools-version: 6.2

import PackageDescription

// An application's core as one has it for Apple's systems, with its tests. Only this manifest knows of other systems: its targets get the
// module CoreData and a plugin, and the compiler the overlay that the plugin writes.
func overlay(_ target: String) -> [SwiftSetting] {
  let build = Context.environment["HEARTWOOD_FIXTURE_BUILD"] ?? Context.packageDirectory + "/.build"
  let folder = build + "/plugins/outputs/portedapp/\(target)/destination/CoreDataSources"
  return [.unsafeFlags(["-vfsoverlay", folder + "/overlay.yaml"], .when(platforms: [.linux]))]
}

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]
let coreData = Target.Dependency.product(name: "CoreData", package: "heartwood")
let sources = Target.PluginUsage.plugin(name: "CoreDataSources", package: "heartwood")

let package = Package(
  name: "PortedApp",
  platforms: [.macOS(.v15)],
  products: [.library(name: "TripKit", targets: ["TripKit"])],
  dependencies: [.package(name: "heartwood", path: "../..")],
  targets: [
    // Sources with attributes of Objective-C, which the compiler reads through the overlay.
    .target(name: "TripKit", dependencies: [coreData], swiftSettings: overlay("TripKit"), plugins: [sources]),
    .testTarget(
      name: "TripKitTests", dependencies: ["TripKit"], swiftSettings: overlay("TripKitTests"),
      plugins: [sources]),
    // Sources of the same kind, of which translated copies are compiled.
    .target(name: "AtlasKit", dependencies: [coreData], sources: ["Exports.swift"], plugins: [sources]),
    // Sources without these attributes, which are compiled as they are, with accessors.
    .target(
      name: "JournalKit", dependencies: [coreData],
      plugins: [.plugin(name: "CoreDataAccessors", package: "heartwood")]),
    .testTarget(name: "KitTests", dependencies: ["AtlasKit", "JournalKit"]),
    // A library in the style of public ones, of which its clients inline functions, in Swift 6 with the strictest rules for imports.
    .target(
      name: "StackKit", dependencies: [coreData], swiftSettings: strict,
      plugins: [.plugin(name: "CoreDataAccessors", package: "heartwood")]),
    .testTarget(
      name: "StackKitTests", dependencies: ["StackKit", "JournalKit"],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ],
  swiftLanguageModes: [.v5]
)
