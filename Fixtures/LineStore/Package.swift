// swift-tools-version: 6.2

import PackageDescription

// A kind of store of its own, and a program that uses it.
let package = Package(
  name: "LineStore",
  platforms: [.macOS(.v15)],
  products: [.library(name: "LineStore", targets: ["LineStore"])],
  dependencies: [.package(name: "heartwood", path: "../..")],
  targets: [
    .target(name: "LineStore", dependencies: [.product(name: "Heartwood", package: "heartwood")]),
    .executableTarget(
      name: "Notes", dependencies: ["LineStore", .product(name: "Heartwood", package: "heartwood")]),
  ],
  swiftLanguageModes: [.v6]
)
