// swift-tools-version: 6.2

import PackageDescription

// An application whose classes are made of its model of Xcode when it is built.
let package = Package(
  name: "Orchard",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "heartwood", path: "../..")],
  targets: [
    .executableTarget(
      name: "Orchard", dependencies: [.product(name: "Heartwood", package: "heartwood")],
      resources: [.copy("Orchard.xcdatamodeld")],
      plugins: [.plugin(name: "HeartwoodClasses", package: "heartwood")])
  ],
  swiftLanguageModes: [.v6]
)
