// swift-tools-version: 6.2

import PackageDescription

// A notebook on the command line: classes, words, relationships, history.
let package = Package(
  name: "Notebook",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "heartwood", path: "../../..")],
  targets: [
    .executableTarget(
      name: "notebook",
      dependencies: [
        .product(name: "Heartwood", package: "heartwood"),
        .product(name: "HeartwoodEngine", package: "heartwood"),
      ]),
    .testTarget(name: "NotebookTests", dependencies: ["notebook"]),
  ],
  swiftLanguageModes: [.v6]
)
