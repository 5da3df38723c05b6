// swift-tools-version: 6.2

import PackageDescription

// The core of an application as one has it for iOS: models in two versions, an importer, a consumer of the history, and tests. Only this
// manifest says where SwiftData comes from.
let package = Package(
  name: "PortedModels",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "PantryKit", targets: ["PantryKit"])],
  dependencies: [.package(name: "heartwood", path: "../..")],
  targets: [
    .target(
      name: "PantryKit", dependencies: [.product(name: "SwiftData", package: "heartwood")],
      // Predicates are checked faster: left out, everything compiles, too.
      plugins: [.plugin(name: "SwiftDataPredicates", package: "heartwood")]),
    .testTarget(name: "PantryKitTests", dependencies: ["PantryKit"]),
  ]
)
