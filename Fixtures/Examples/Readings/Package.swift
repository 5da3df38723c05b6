// swift-tools-version: 6.2

import PackageDescription

// The engine with nothing else: keys and values of one's own.
let engine = Target.Dependency.product(name: "HeartwoodEngine", package: "heartwood")
let package = Package(
  name: "Readings",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "heartwood", path: "../../..")],
  targets: [
    .target(name: "ReadingStore", dependencies: [engine]),
    .executableTarget(name: "readings", dependencies: ["ReadingStore"]),
    .testTarget(
      name: "ReadingsTests",
      dependencies: [
        "ReadingStore", "readings", engine, .product(name: "HeartwoodFiles", package: "heartwood"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
