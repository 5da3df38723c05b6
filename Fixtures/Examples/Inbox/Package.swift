// swift-tools-version: 6.2

import PackageDescription

// An application and its extension: two processes with one store.
let heartwood = Target.Dependency.product(name: "Heartwood", package: "heartwood")
let package = Package(
  name: "Inbox",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "heartwood", path: "../../..")],
  targets: [
    .target(name: "InboxModel", dependencies: [heartwood]),
    .executableTarget(name: "inbox-app", dependencies: ["InboxModel", heartwood]),
    .executableTarget(name: "inbox-extension", dependencies: ["InboxModel", heartwood]),
    .testTarget(name: "InboxTests", dependencies: ["InboxModel", "inbox-app", "inbox-extension", heartwood]),
  ],
  swiftLanguageModes: [.v6]
)
